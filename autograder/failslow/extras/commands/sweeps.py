"""`kit faults sweep`: runs over strengths, roles, workloads and more, and a map of the costs."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from rich import box
from rich.table import Table

from failslow.base import atomic, console, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands import experiments
from failslow.extras.commands.solution import check_out
from failslow.extras.faults import (
    catalogue,
    experiment,
    findings,
    injection,
    simulated,
    slow_syncs,
    strength,
    sweep,
    sweep_page,
)
from failslow.extras.faults.bench import Bench
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.injectors import INJECTORS
from failslow.extras.faults.sweep import MIXES, OPEN, PLACES, Cell, Point, Row
from failslow.extras.systems import description, running
from failslow.extras.systems.description import ANY, System
from failslow.lab.labs import load_labs

QUICK_KINDS = ("cpu-slow", "net-slow")
CELLS, PAGE, RESULTS = "sweep.jsonl", "sweep.html", "sweep.json"
SECONDS_MAX = 60.0
RUNS = 2
"""On real processes, of each cell."""
CELLS_PER_PAGE = 10
"""Simulated ones, before the page is drawn again."""

Axis = TypeVar("Axis", int, float, str)
Faults = Sequence[tuple[FaultKind, int]]

Subject = tuple[str, AbstractContextManager[Bench], Sequence[str], "Options"]
"""Its name, its cluster, the roles that are slow in turn, and its axes."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """The options of `kit faults sweep`."""
    parser.add_argument(
        "directory",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="a solution (the reference; without one, labs)",
    )
    text = "in virtual time: exact, and on all cores at once. Without axes: those of the handbook"
    parser.add_argument("--simulated", action="store_true", help=text)
    text = "faults, or presets of them (all strengths of all that slow)"
    parser.add_argument("--fault", metavar="NAME[,NAME...]", help=text)
    text = "strengths of one fault, such as 1ms,3ms,10ms (its presets)"
    parser.add_argument("--strength", metavar="AMOUNT[,...]", help=text)
    text = "follower, leader; in lab 5 follower, pilot, copilot (all)"
    parser.add_argument("--target", metavar="ROLE", action="append", dest="targets", help=text)
    text = "seconds for which a fault holds (3)"
    parser.add_argument("--duration", type=_list(_seconds), dest="durations", help=text)
    text = "bytes of the values that are put (256)"
    parser.add_argument("--value-bytes", type=_list(_number), dest="value_bytes", help=text)
    text = "clients that each wait for an answer, or 'open' (8)"
    parser.add_argument("--load", type=_list(_load), dest="loads", help=text)
    text = f"{', '.join(MIXES)} (write); simulated, or of --system"
    parser.add_argument("--workload", type=_list(_one_of(MIXES)), dest="mixes", help=text)
    text = f"where clients send commands: {', '.join(PLACES)} (leader); simulated, or of --system"
    parser.add_argument("--clients", type=_list(_one_of(PLACES)), dest="places", help=text)
    text = "of a processor's work in per cent: 50 is twice as fast (100); simulated"
    parser.add_argument("--costs", type=_list(_number), help=text)
    parser.add_argument("--lab", default=None, help="whose system is slow (lab2; simulated: lab3)")
    parser.add_argument("--replicas", type=int, choices=(3, 5, 7), default=3, help="(3)")
    parser.add_argument("--seeds", type=_number, default=1, help="simulated runs of a cell (1)")
    text = f"{' and '.join(QUICK_KINDS)} alone, and each holds for 2 s: under ten minutes"
    parser.add_argument("--quick", action="store_true", help=text)
    text = "a system of your own, in place of DIR or beside it; again for more of them"
    parser.add_argument("--system", type=Path, action="append", metavar="FILE.yaml", help=text)
    parser.add_argument("--out", type=Path, default=Path("out/faults"), help="(out/faults)")


def _list(of: Callable[[str], Axis]) -> Callable[[str], tuple[Axis, ...]]:
    def parse(text: str) -> tuple[Axis, ...]:
        return tuple(of(each.strip()) for each in text.split(","))

    return parse


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 1,000,000")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no time from 0.5 to {SECONDS_MAX:g} s")
    return seconds


def _load(text: str) -> str:
    return text if text == OPEN else str(_number(text))


def _one_of(words: Sequence[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(words)}")
        return text

    return parse


@dataclass(frozen=True)
class Options:
    """None stands for the usual, and for all faults and targets."""

    directory: Path | None = None
    simulated: bool = False
    fault: str | None = None
    strength: str | None = None
    targets: Sequence[str] | None = None
    durations: Sequence[float] | None = None
    value_bytes: Sequence[int] | None = None
    loads: Sequence[str] | None = None
    mixes: Sequence[str] | None = None
    places: Sequence[str] | None = None
    costs: Sequence[int] | None = None
    lab: str | None = None
    replicas: int = 3
    seeds: int = 1
    quick: bool = False
    system: Sequence[Path] | None = None
    out: Path = Path("out/faults")

    @property
    def with_ours(self) -> bool:
        """Whether a cluster of ours is slow, too."""
        return self.directory is not None or not self.system

    @property
    def has_axes(self) -> bool:
        axes = (self.fault, self.targets, self.durations, self.value_bytes, self.loads)
        more = (self.mixes, self.places, self.costs, self.strength, self.lab, self.quick)
        return any((*axes, *more))

    def points(self, system: str, roles: Sequence[str], faults: Faults) -> list[Point]:
        """All combinations of the axes."""
        usual = experiments.QUICK_HOLD_S if self.quick else experiments.HOLD_S
        return [
            Point(system, role, kind.name, amount, seconds, mix, size, load, at, costs)
            for role, seconds, mix, size, load, at, costs, (kind, amount) in product(
                roles,
                self.durations or (usual,),
                self.mixes or ("write",),
                self.value_bytes or (256,),
                self.loads or ("8",),
                self.places or ("leader",),
                self.costs or (100,),
                faults,
            )
        ]


def run(kit: Kit, options: Options) -> int:
    """Returns 0. Measurements of an earlier run, interrupted or not, are not made again.

    CannotDo when a cell cannot be made; the others are kept.
    """
    check_out(options.out)
    if options.simulated and options.system:
        raise CannotDo("--system: no foreign system is in the simulator")
    if not options.simulated:
        if options.costs:
            raise CannotDo("--costs needs --simulated")
        if options.with_ours and (options.mixes or options.places):
            raise CannotDo("--workload and --clients need --simulated, or --system without DIR")
    sweeping = _Sweeping(options.out)
    try:
        (_simulate if options.simulated else _measure)(kit, options, sweeping)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on here") from None
    sweeping.show()
    if sweeping.missing:
        raise CannotDo(
            f"{len(sweeping.missing)} cells could not be made; the same command goes on with them",
            "\n".join(sweeping.missing),
        )
    return 0


class _Sweeping:
    """The maps so far, and the reasons why cells are missing. The page is drawn again after each
    cell on real processes, so the first picture is soon there."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.maps: dict[str, list[Row]] = {}
        self.missing: list[str] = []

    def write(self) -> None:
        found = [(name, rows) for name, rows in self.maps.items() if rows]
        atomic.write_text(self.out / PAGE, sweep_page.render(found))
        cells = [
            sweep.as_json(each) for _, rows in found for each in sweep_page.with_few_series(rows)
        ]
        atomic.write_text(self.out / RESULTS, records.text({"cells": cells}))

    def show(self) -> None:
        self.write()
        for name, rows in self.maps.items():
            others = [row for other in self.maps.values() if other is not rows for row in other]
            _print(name, rows, others)
        console.note(f"Wrote {self.out / PAGE}")


# ---- in virtual time ----


def _simulate(kit: Kit, options: Options, sweeping: _Sweeping) -> None:
    plans = [options] if options.has_axes else handbook()
    for lab in dict.fromkeys(plan.lab or "lab3" for plan in plans):
        system = simulated.system(kit, lab, options.directory, options.replicas, options.seeds)
        known = catalogue.load(kit)
        points: list[Point] = []
        for plan in plans:
            if (plan.lab or "lab3") == lab:
                points += _points(system, plan, known)
        _simulate_all(system, points, known, sweeping)


def _simulate_all(
    system: simulated.System, points: Sequence[Point], known: Catalogue, sweeping: _Sweeping
) -> None:
    path, subject = sweeping.out / CELLS, system.subject
    done = sweep.read(path, subject)

    def ended(point: Point, cell: Cell) -> None:
        sweep.append(path, subject, cell)
        done[point] = cell
        if len(done) % CELLS_PER_PAGE == 0:
            sweeping.maps[system.name] = sweep.rows_of([*done.values()], known)
            sweeping.write()

    def make(left: Sequence[Point]) -> None:
        simulated.make(system, known, left, ended)

    cells = sweep.complete(points, done, make, known)
    sweeping.maps[system.name] = sweep.rows_of(cells, known)


def _points(system: simulated.System, plan: Options, known: Catalogue) -> list[Point]:
    for target in plan.targets or ():
        if target not in system.roles:
            raise CannotDo(
                f"--target: {system.name} has no {target}, but {', '.join(system.roles)}"
            )
    if (plan.mixes or plan.places) and not system.has_mixes:
        raise CannotDo(f"--workload and --clients are for a store (lab3), not for {system.name}")
    return plan.points(system.name, plan.targets or system.roles, _faults(known, plan, here=False))


def handbook() -> list[Options]:
    """The sweep of the handbook's page: each axis for itself, around the usual point."""
    network, leader = "net-slow,packet-loss", ("leader",)
    return [
        Options(),
        Options(fault=f"{network},fs-delay,cpu-slow", places=("one", "all")),
        Options(fault="crash", places=PLACES),
        Options(fault=network, mixes=("read", "mixed"), targets=leader),
        Options(fault=network, mixes=("read", "mixed"), targets=("follower",), places=("all",)),
        Options(fault=network, value_bytes=(16 * 1024,), targets=leader),
        Options(fault=network, loads=("64", OPEN), targets=leader),
        Options(fault=network, costs=(50, 200), targets=leader),
        Options(fault="net-slow", durations=(1.0, 10.0), targets=leader),
        Options(fault=network, lab="lab5"),
        Options(fault=network, lab="lab6"),
    ]


# ---- on real processes ----


def _measure(kit: Kit, options: Options, sweeping: _Sweeping) -> None:
    lab = options.lab or experiments.LAB
    systems = [each for path in options.system or () for each in description.load(path)]
    for system in systems:
        _check_axes(system, options)
    roles = _targets(kit, lab, options.targets) if options.with_ours else ()
    programs = ["put_load"] * options.with_ours + [slow_syncs.PROGRAM] * bool(systems)
    cmake.build(kit, targets=[*programs, catalogue.PROGRAM])
    known = catalogue.load(kit)
    faults = _faults(known, options, here=True)
    subjects: list[Subject] = []
    if options.with_ours:
        name = str(options.directory) if options.directory else "the reference"
        cluster = experiments.cluster_of(
            kit, known, options.directory, lab, options.replicas, options.out
        )
        subjects.append((name, cluster, roles, options))
    for system in systems:
        foreign = running.running(kit, known, system, options.out)
        usual = replace(options, places=options.places or (system.load.clients_at,))
        subjects.append((system.name, foreign, _of_system(system, options.targets), usual))
    for name, cluster, where, plan in subjects:
        with cluster as bench:
            possible = [each for each in faults if bench.can_have(each[0])]
            points = plan.points(name, where, possible)
            _measure_all(bench, name, points, known, sweeping)


def _measure_all(
    bench: Bench, name: str, points: Sequence[Point], known: Catalogue, sweeping: _Sweeping
) -> None:
    path, subject = sweeping.out / CELLS, _subject(bench)
    done = sweep.read(path, subject)
    experiment.prepare(bench)

    def make(left: Sequence[Point]) -> None:
        for number, point in enumerate(left, start=1):
            kind = known.kinds[point.kind]
            words = f"{bench.program}, {injection.in_words(kind, point.amount)}, {point.target}"
            try:
                cell = _cell(bench, kind, point)
            except CannotDo as error:
                sweeping.missing.append(f"{words}: {error}")
                continue
            sweep.append(path, subject, cell)
            done[point] = cell
            sweeping.maps[name] = sweep.rows_of(
                [done[each] for each in points if each in done], known
            )
            sweeping.write()
            console.note(f"{number} of {len(left)}: {words}: {_loss(cell)}")

    sweeping.maps[name] = sweep.rows_of(sweep.complete(points, done, make, known), known)


def _cell(bench: Bench, kind: FaultKind, point: Point) -> Cell:
    loaded = replace(bench, value_bytes=point.value_bytes, mix=point.mix, at=point.at)
    load: experiment.Load = ("--clients", point.load)
    if point.load == OPEN:
        load = ("--rate", experiment.rate_of(loaded))
    runs = [
        experiment.slow_run(loaded, kind, point.amount, point.target, point.seconds, load)
        for _ in range(RUNS)
    ]
    behind = any(run.caught_up_s is None for run in runs)
    late = f"it has not caught up {experiment.CAUGHT_UP_S:.0f} s after the fault" if behind else ""
    return sweep.cell_of(
        point,
        injection.in_words(kind, point.amount),
        [run.stages for run in runs],
        [run.leader_changes for run in runs],
        next((run.void for run in runs if run.void), late),
    )


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


def _of_system(system: System, wanted: Sequence[str] | None) -> Sequence[str]:
    """Its roles, or those that are wanted."""
    roles = system.roles or [ANY]
    found = [role for role in (*roles, ANY) if role in (wanted or roles)]
    if not found:
        assert wanted, "all roles are found"
        raise CannotDo(f"--target: {system.name} has no {wanted[0]}, but {', '.join(roles)}")
    return list(dict.fromkeys(found))


def _check_axes(system: System, options: Options) -> None:
    """CannotDo for an axis that the system's file has no lines for."""
    if "read" not in system.load.works and {"read", "mixed"} & set(options.mixes or ()):
        raise CannotDo(f"--workload: {system.path} has no load/read")


def _faults(known: Catalogue, options: Options, here: bool) -> Faults:
    """A kind stands for all its strengths. `here`: those that work on this machine."""
    names = options.fault
    if names is None:
        slow = [kind.name for kind in known.kinds.values() if kind.slows]
        names = ",".join(QUICK_KINDS if options.quick else slow)
    if options.strength is not None:
        return _of_strength(known, names, options.strength)
    found: list[tuple[FaultKind, int]] = []
    for name in names.split(","):
        if name in known.kinds and known.kinds[name].unit != "none":
            found += _strengths(known, name, here)
        else:
            found.append(injection.strength_of(known, name, None))
    return list(dict.fromkeys(found))


def _of_strength(known: Catalogue, name: str, texts: str) -> Faults:
    if name not in known.kinds:
        raise CannotDo("--strength: name one fault, such as --fault net-slow, and no preset")
    kind = known.kinds[name]
    return list(dict.fromkeys((kind, strength.parse(kind, text)) for text in texts.split(",")))


def _strengths(known: Catalogue, name: str, here: bool) -> Iterator[tuple[FaultKind, int]]:
    """All presets of a kind, if it works here."""
    presets = [each for each in known.presets.values() if each.kind == name]
    if here and presets and (missing := INJECTORS[name].missing()):
        console.note(f"{name}: not on this machine ({missing})")
        return
    yield from ((known.kinds[name], each.amount) for each in presets)


def _subject(bench: Bench) -> str:
    """All that the figures of a point depend on: the program and the cluster."""
    return f"{bench.program} {bench.digest}, {len(bench.place.replicas)} replicas"


def _loss(cell: Cell) -> str:
    loss = cell.loss
    value, low, high = (round(100 * each) for each in (loss.value, loss.low, loss.high))
    return f"{value} % ({low} to {high})"


def _print(name: str, rows: Sequence[Row], others: Sequence[Row]) -> None:
    table = Table(title=name, box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("target", "workload", "fault", "costs, weakest first", "danger zone"):
        table.add_column(head)
    for row in rows:
        zone = row.danger_zone
        table.add_row(
            row.point.target,
            ", ".join(row.point.unusual) or "as usual",
            row.point.kind,
            ", ".join(f"{round(100 * cell.loss.value)}" for cell in row.cells) + " %",
            f"{zone[0].fault} to {zone[1].fault}" if zone else "-",
        )
    console.stdout().print(table)
    for each in findings.of(rows, others):
        found = f"Finding {each.number} of document 004 {each.verdict}: {each.seen}"
        console.stdout().print(found)
