"""`kit bench`: runs benchmarks, prints their figures, and writes a page of results."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from failslow import console
from failslow.bench import core, figures, raft, rpc, sim
from failslow.bench.figures import Section
from failslow.errors import CannotDo
from failslow.kit import Kit

QUICK: dict[str, Callable[[Kit], Section]] = {"sim": sim.run, "core": core.run, "rpc": rpc.run}


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which", nargs="?", choices=(*QUICK, "raft", "calibrate"), help="(all but calibrate)"
    )
    parser.add_argument("--versus", choices=("etcd",), help="with raft: a peer in the same run")
    parser.add_argument("--json", action="store_true", help="print JSON, no tables")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="(out/bench)")


def run(kit: Kit, given: argparse.Namespace) -> int:
    """0 when every figure meets its bar, 1 otherwise."""
    if given.versus and given.which != "raft":
        raise CannotDo("--versus goes with raft: ./kit bench raft --versus etcd")
    # These need libraries that no other command does: `kit` has installed them just for us.
    from failslow import calibration
    from failslow.bench import page

    if given.which == "calibrate":
        return calibration.run(kit, calibration.Options(given.out, given.json))

    sections = []
    for key in (given.which,) if given.which else (*QUICK, "raft"):
        section = raft.run(kit, given.versus) if key == "raft" else QUICK[key](kit)
        sections.append(section)
        if not given.json:
            console.stdout().print(figures.table(section))
        where = page.write(given.out, section)
    if given.json:
        print(json.dumps([figure for section in sections for figure in _figures(section)]))
    else:
        console.stdout().print(f"All results so far, with plots: {where}", soft_wrap=True)
    return 0 if all(section.passed for section in sections) else 1


def _figures(section: Section) -> list[dict[str, object]]:
    return [asdict(figure) | {"passed": figure.passed} for figure in section.figures]
