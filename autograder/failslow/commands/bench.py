"""`kit bench`: runs benchmarks, prints their figures, and writes a page of results."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from failslow import console
from failslow.bench import core, figures, kv, raft, rpc, sim
from failslow.bench.figures import Section
from failslow.errors import CannotDo
from failslow.kit import Kit

QUICK: dict[str, Callable[[Kit], Section]] = {"sim": sim.run, "core": core.run, "rpc": rpc.run}

COMPARED: dict[str, Callable[[Kit, Sequence[str]], Section]] = {"raft": raft.run, "kv": kv.run}
PEERS = {"raft": raft.PEERS, "kv": kv.PEERS}


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which", nargs="?", choices=(*QUICK, *COMPARED, "calibrate"), help="(all but calibrate)"
    )
    parser.add_argument(
        "--versus",
        metavar="PEER,...",
        help="peers in the same run: etcd with raft; redis, etcd or both with kv",
    )
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no tables")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="(out/bench)")


def run(kit: Kit, which: str | None, versus: str | None, as_json: bool, out: Path) -> int:
    """0 when every figure meets its bar, 1 otherwise."""
    peers = _peers(which, versus)
    # These need libraries that no other command needs: `kit` installs them for this command.
    from failslow import calibration
    from failslow.bench import page

    if which == "calibrate":
        return calibration.run(kit, out, as_json)

    sections = []
    for key in (which,) if which else (*QUICK, *COMPARED):
        section = COMPARED[key](kit, peers) if key in COMPARED else QUICK[key](kit)
        sections.append(section)
        if not as_json:
            console.stdout().print(figures.table(section))
        where = page.write(out, section)
    if as_json:
        print(json.dumps([figure for section in sections for figure in _figures(section)]))
    else:
        console.stdout().print(f"All results so far, with plots: {where}", soft_wrap=True)
    return 0 if all(section.passed for section in sections) else 1


def _peers(which: str | None, versus: str | None) -> list[str]:
    """The peers that --versus names, each once. CannotDo when the benchmark has no such peer."""
    if versus is None:
        return []
    if which not in PEERS:
        raise CannotDo("--versus goes with raft or kv: ./kit bench kv --versus redis,etcd")
    names = list(dict.fromkeys(versus.split(",")))
    for name in names:
        if name not in PEERS[which]:
            has = " and ".join(PEERS[which])
            raise CannotDo(f"--versus: {which} has no peer '{name}', only {has}")
    return names


def _figures(section: Section) -> list[dict[str, object]]:
    return [asdict(figure) | {"passed": figure.passed} for figure in section.figures]
