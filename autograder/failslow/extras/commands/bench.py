"""`kit bench`: runs benchmarks, prints their figures, and keeps all results in a file."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras import lab_kits
from failslow.extras.bench import core, figures, kv, raft, results, rpc, sim, slow
from failslow.extras.bench.figures import Section
from failslow.extras.commands import parsers

ON_ITS_OWN: dict[str, Callable[[Kit], Section]] = {
    "sim": sim.run,
    "core": core.run,
    "rpc": rpc.run,
}

COMPARED: dict[str, Callable[[Kit, bool], Section]] = {"raft": raft.run, "kv": kv.run}
PEERS = {"raft": "etcd", "kv": "redis"}

SEEDS_MAX = 1000

SLOW = "slow"
"""It takes minutes: it runs only if it is named."""


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which",
        nargs="?",
        metavar="WHICH",
        help=f"{', '.join((*ON_ITS_OWN, *COMPARED, SLOW))}, or one of a lab"
        f" (all but {SLOW}, and long ones of labs)",
    )
    text = "a peer in the same run: etcd with raft, redis with kv"
    parser.add_argument("--versus", metavar="PEER", help=text)
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no tables")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="(out/bench)")
    _add_slow(parser.add_argument_group("slow: what each slow fault costs a solution"))


def _add_slow(group: "argparse._ArgumentGroup") -> None:
    default = slow.Options()
    group.add_argument("--lab", metavar="LAB", help=f"lab2 or lab5 ({default.lab})")
    group.add_argument(
        "--solution",
        type=_words,
        metavar="NAME,...",
        help="reference, LAB/NAME of an alternative or mutant, or a directory (reference)",
    )
    group.add_argument(
        "--seeds",
        type=parsers.whole(1, SEEDS_MAX),
        metavar="N",
        help=f"of each run ({default.seeds})",
    )
    group.add_argument(
        "--replicas", type=_sizes, metavar="N,...", help="numbers of replicas (3,5,7)"
    )
    group.add_argument("--faults", type=_words, metavar="NAME,...", help="of the catalogue (all)")
    group.add_argument(
        "--victim",
        metavar="ROLE",
        help="whom the fault strikes: the largest minority of followers, one-follower, or a"
        " proposer: leader, in lab 5 pilot or copilot; pilot+follower and the like: the largest"
        " minority with that proposer (follower)",
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


def _sizes(text: str) -> tuple[int, ...]:
    if not all(word in ("3", "5", "7", "9") for word in text.split(",")):
        raise argparse.ArgumentTypeError(f"'{text}' names other sizes than 3, 5, 7 and 9")
    return tuple(int(word) for word in _words(text))


def run(
    kit: Kit,
    which: str | None,
    versus: str | None,
    as_json: bool,
    out: Path,
    **of_slow: Any,  # noqa: ANN401
) -> int:
    """0 when every figure meets its bar, 1 otherwise."""
    of_labs, long = lab_kits.benchmarks(kit), lab_kits.benchmarks(kit, "LONG_BENCHMARKS")
    known = (*ON_ITS_OWN, *of_labs, *COMPARED, SLOW, *long)
    if which is not None and which not in known:
        raise CannotDo(f"there is no benchmark '{which}', but {', '.join(known)}")
    if versus is not None and PEERS.get(which or "") != versus:
        raise CannotDo("--versus: ./kit bench raft has the peer etcd, and ./kit bench kv has redis")
    given = {name: value for name, value in of_slow.items() if value is not None}
    if given and which != SLOW:
        raise CannotDo(f"--{min(given)} goes with slow: ./kit bench slow --{min(given)} ...")
    if which == SLOW:
        return slow.run(kit, slow.Options(**given), as_json)
    sections = []
    on_its_own = ON_ITS_OWN | of_labs | long
    for key in (which,) if which else (*ON_ITS_OWN, *of_labs, *COMPARED):
        section = (
            COMPARED[key](kit, versus is not None) if key in COMPARED else on_its_own[key](kit)
        )
        sections.append(section)
        if not as_json:
            console.stdout().print(figures.table(section))
        where = results.write(out, section)
    if as_json:
        print(json.dumps([figure for section in sections for figure in _figures(section)]))
    else:
        console.stdout().print(f"All results so far: {where}", soft_wrap=True)
    return 0 if all(section.passed for section in sections) else 1


def _figures(section: Section) -> list[dict[str, object]]:
    return [asdict(figure) | {"passed": figure.passed} for figure in section.figures]
