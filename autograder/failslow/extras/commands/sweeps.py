"""`kit faults sweep`: experiments over strengths, roles and workloads, and a map of the costs."""

import argparse
import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from rich import box
from rich.table import Table

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands import experiments
from failslow.extras.commands.solution import check_out
from failslow.extras.faults import (
    catalogue,
    etcd,
    experiment,
    findings,
    injection,
    slow_syncs,
    sweep,
    sweep_page,
)
from failslow.extras.faults.bench import Bench
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.experiment import HEALTHY, SLOW
from failslow.extras.faults.injectors import INJECTORS
from failslow.extras.faults.sweep import WORKLOADS, Cell, Row
from failslow.lab.labs import load_labs

ORDER = (HEALTHY, SLOW, SLOW, HEALTHY)
QUICK_KINDS = ("cpu-slow", "net-slow")
CELLS, PAGE = "sweep.jsonl", "sweep.html"

Point = tuple[str, str, tuple[FaultKind, int]]
"""Target, workload, fault."""

Subject = tuple[str, AbstractContextManager[Bench], Sequence[str]]
"""Its name, its cluster, and the roles that are slow in turn."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """The options of `kit faults sweep`."""
    parser.add_argument(
        "directory",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="a solution (the reference; without one, labs)",
    )
    text = "faults, or presets of them (all strengths of all that slow)"
    parser.add_argument("--fault", metavar="NAME[,NAME...]", help=text)
    text = "follower, leader; in lab 5 follower, pilot, copilot (all)"
    parser.add_argument("--target", metavar="ROLE", action="append", dest="targets", help=text)
    parser.add_argument(
        "--workload", choices=WORKLOADS, action="append", dest="workloads", help="(both)"
    )
    parser.add_argument("--lab", default=experiments.LAB, help="whose cluster is loaded (lab2)")
    parser.add_argument("--replicas", type=int, choices=(3, 5), default=3, help="(3)")
    text = f"{' and '.join(QUICK_KINDS)} alone, small values alone, and each holds for 2 s, not 3 s"
    parser.add_argument("--quick", action="store_true", help=text)
    text = "the same on etcd, with the faults that it can get"
    parser.add_argument("--versus", choices=(etcd.NAME,), help=text)
    parser.add_argument("--out", type=Path, default=Path("out/faults"), help="(out/faults)")


@dataclass(frozen=True)
class Options:
    """None stands for all."""

    directory: Path | None
    fault: str | None
    targets: Sequence[str] | None
    workloads: Sequence[str] | None
    lab: str
    replicas: int
    quick: bool
    versus: str | None
    out: Path


def run(kit: Kit, options: Options) -> int:
    """Returns 0. Measurements of an earlier run, interrupted or not, are not made again.

    CannotDo when an experiment cannot be made; the others are kept.
    """
    check_out(options.out)
    roles = _targets(kit, options.lab, options.targets)
    definitions = ["FAILSLOW_ETCD=ON"] if options.versus else []
    programs = ["put_load", catalogue.PROGRAM] + ([slow_syncs.PROGRAM] if options.versus else [])
    cmake.build(kit, targets=programs, definitions=definitions)
    known = catalogue.load(kit)
    loads = options.workloads or (("small",) if options.quick else tuple(WORKLOADS))
    faults = _faults(known, options.fault, options.quick)
    hold_s = experiments.QUICK_HOLD_S if options.quick else experiments.HOLD_S
    name = str(options.directory) if options.directory else "the reference"
    cluster = experiments.cluster_of(
        kit, known, options.directory, options.lab, options.replicas, options.out
    )
    subjects: list[Subject] = [(name, cluster, roles)]
    if options.versus:
        subjects.append(
            (
                options.versus,
                etcd.running(kit, known, options.replicas, options.out),
                _of_etcd(options.targets),
            )
        )
    maps, missing = [], []
    for name, cluster, where in subjects:
        with cluster as bench:
            possible = [each for each in faults if bench.can_have(each[0])]
            points = list(product(where, loads, possible))
            cells, failed = _measure(bench, points, options.out / CELLS, hold_s)
        maps.append((name, sweep.rows_of(cells, known)))
        missing += failed
    atomic.write_text(options.out / PAGE, sweep_page.render(maps))
    _print(maps)
    console.note(f"Wrote {options.out / PAGE}")
    if missing:
        raise CannotDo(
            f"{len(missing)} experiments could not be made; the same command goes on with them",
            "\n".join(missing),
        )
    return 0


def _targets(kit: Kit, lab_id: str, wanted: Sequence[str] | None) -> Sequence[str]:
    """Followers and each proposer of the lab, or those that are wanted."""
    view = load_labs(kit).get(lab_id).cluster
    if view is None:
        raise CannotDo(f"--lab: {lab_id} has no cluster")
    roles = (experiments.FOLLOWER, *view.proposers)
    for target in wanted or ():
        if target not in roles:
            raise CannotDo(f"--target: {lab_id} has no {target}, but {', '.join(roles)}")
    return wanted or roles


def _of_etcd(wanted: Sequence[str] | None) -> Sequence[str]:
    """Its roles, or those that are wanted."""
    found = [role for role in etcd.ROLES if role in (wanted or etcd.ROLES)]
    if not found:
        raise CannotDo(f"--versus: etcd has no {wanted[0]}, but {', '.join(etcd.ROLES)}")
    return found


def _faults(known: Catalogue, names: str | None, quick: bool) -> list[tuple[FaultKind, int]]:
    """A kind stands for all its strengths."""
    if names is None:
        slow = [kind.name for kind in known.kinds.values() if kind.slows]
        names = ",".join(QUICK_KINDS if quick else slow)
    found: list[tuple[FaultKind, int]] = []
    for name in names.split(","):
        if name in known.kinds:
            found += _strengths(known, name)
        else:
            found.append(injection.strength_of(known, name, None))
    return list(dict.fromkeys(found))


def _strengths(known: Catalogue, name: str) -> list[tuple[FaultKind, int]]:
    """All presets of a kind, if it works here."""
    presets = [each for each in known.presets.values() if each.kind == name]
    if presets and (missing := INJECTORS[name].missing()):
        console.note(f"{name}: not on this machine ({missing})")
        return []
    return [(known.kinds[name], each.amount) for each in presets]


def _subject(bench: Bench, hold_s: float) -> str:
    """All else that the figures depend on: the program, the cluster, and the length of a fault."""
    program = bench.layout.program(bench.program).read_bytes()
    digest = hashlib.sha256(program).hexdigest()[:16]
    return f"{bench.program} {digest}, {len(bench.place.replicas)} replicas, {hold_s:g} s"


def _measure(
    bench: Bench, points: Sequence[Point], path: Path, hold_s: float
) -> tuple[list[Cell], list[str]]:
    """Writes each cell as soon as it is known. Returns all cells, and why others are missing."""
    subject = _subject(bench, hold_s)
    keys = [(target, workload, kind.name, amount) for target, workload, (kind, amount) in points]
    done = {each.key for each in sweep.read(path, subject)}
    left = [point for point, key in zip(points, keys, strict=True) if key not in done]
    if len(left) < len(points):
        console.note(f"{len(points) - len(left)} of {len(points)} experiments are in {path}")
    missing = []
    for number, (target, workload, (kind, amount)) in enumerate(left, start=1):
        words = f"{bench.program}, {injection.in_words(kind, amount)}, {target}, {workload} values"
        loaded = replace(bench, value_bytes=WORKLOADS[workload])
        try:
            made = experiment.run(loaded, kind, amount, target, hold_s, _silent, ORDER)
        except CannotDo as error:
            missing.append(f"{words}: {error}")
            continue
        except KeyboardInterrupt:
            raise KeyboardInterrupt("interrupted; the same command goes on where it was") from None
        cell = sweep.cell_of(made, workload, kind, amount)
        sweep.append(path, subject, cell)
        console.note(f"{number} of {len(left)}: {words}: {_loss(cell)}")
    return [each for each in sweep.read(path, subject) if each.key in keys], missing


def _silent(_: str) -> None:
    """A line for each run would be too many."""


def _loss(cell: Cell) -> str:
    loss = cell.loss
    value, low, high = (round(100 * each) for each in (loss.value, loss.low, loss.high))
    return f"{value} % ({low} to {high})"


def _print(maps: Sequence[tuple[str, Sequence[Row]]]) -> None:
    for name, rows in maps:
        table = Table(title=name, box=box.SIMPLE_HEAD, pad_edge=False)
        for head in ("target", "values", "fault", "costs, weakest first", "danger zone"):
            table.add_column(head)
        for row in rows:
            zone = row.danger_zone
            table.add_row(
                row.target,
                row.workload,
                row.kind,
                ", ".join(f"{round(100 * cell.loss.value)}" for cell in row.cells) + " %",
                f"{zone[0].fault} to {zone[1].fault}" if zone else "-",
            )
        console.stdout().print(table)
        for each in findings.of(rows):
            found = f"Finding {each.number} of document 004 {each.verdict}: {each.seen}"
            console.stdout().print(found)
