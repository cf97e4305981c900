"""`kit faults sweep`: runs over strengths, roles, workloads and more, and a map of the costs."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import TypeVar

from rich import box
from rich.table import Table

from failslow.base import atomic, console, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands import experiments, parsers
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
from failslow.extras.faults.experiment import HeldFault
from failslow.extras.faults.sweep import A_SECOND, MIXES, OPEN, PLACES, Cell, Point, Row
from failslow.extras.shared.solution import check_out
from failslow.extras.systems import description, running
from failslow.extras.systems.description import ANY
from failslow.lab.labs import load_labs

QUICK_KINDS = ("cpu-slow", "net-slow")
CELLS, PAGE, RESULTS = "sweep.jsonl", "sweep.html", "sweep.json"
SECONDS_MAX = 60.0
RUNS = 2
"""On real processes, of each cell."""
CELLS_PER_PAGE = 10
"""Simulated ones, before the page is drawn again."""

NUMBER = parsers.whole(1, 1_000_000)

Axis = TypeVar("Axis", int, float, str)
Faults = Sequence[tuple[FaultKind, int]]

Ended = Callable[[Point, Cell], None]


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
    parser.add_argument("--value-bytes", type=_list(NUMBER), dest="value_bytes", help=text)
    text = "clients that wait for answers (8), a rate such as 500/s, or open: 30%% of the capacity"
    parser.add_argument("--load", type=_list(_load), dest="loads", help=text)
    text = f"{', '.join(MIXES)} (write); simulated, or of --system"
    parser.add_argument("--workload", type=_list(_one_of(MIXES)), dest="mixes", help=text)
    text = f"where clients send commands: {', '.join(PLACES)} (leader); simulated, or of --system"
    parser.add_argument("--clients", type=_list(_one_of(PLACES)), dest="places", help=text)
    text = "of a processor's work in per cent: 50 is twice as fast (100); simulated"
    parser.add_argument("--costs", type=_list(NUMBER), help=text)
    parser.add_argument("--lab", default=None, help="whose system is slow (lab2; simulated: lab3)")
    parser.add_argument("--replicas", type=int, choices=(3, 5, 7), default=3, help="(3)")
    parser.add_argument("--seeds", type=NUMBER, default=1, help="simulated runs of a cell (1)")
    text = f"{' and '.join(QUICK_KINDS)} alone, and each holds for 2 s: under ten minutes"
    parser.add_argument("--quick", action="store_true", help=text)
    text = "a system of your own, in place of DIR or beside it; again for more of them"
    parser.add_argument("--system", type=Path, action="append", metavar="FILE.yaml", help=text)
    text = "of earlier sweeps: one page of them all, and nothing is measured; again for more"
    parser.add_argument("--results", type=Path, action="append", metavar="sweep.json", help=text)
    parser.add_argument("--out", type=Path, default=Path("out/faults"), help="(out/faults)")


def _list(of: Callable[[str], Axis]) -> Callable[[str], tuple[Axis, ...]]:
    def parse(text: str) -> tuple[Axis, ...]:
        return tuple(of(each.strip()) for each in text.split(","))

    return parse


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no time from 0.5 to {SECONDS_MAX:g} s")
    return seconds


def _load(text: str) -> str:
    if text == OPEN:
        return text
    number = text.removesuffix(A_SECOND)
    return text.replace(number, str(NUMBER(number)), 1)


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
    results: Sequence[Path] | None = None
    out: Path = Path("out/faults")

    @property
    def with_ours(self) -> bool:
        """Whether a cluster of ours is slow, too."""
        return self.directory is not None or not self.system

    @property
    def has_axes(self) -> bool:
        usual = Options(self.directory, self.simulated, replicas=self.replicas, seeds=self.seeds)
        return self != replace(usual, system=self.system, out=self.out)

    def points(self, system: str, faults: Faults) -> list[Point]:
        """All combinations of the axes. Requires: targets."""
        usual = experiments.QUICK_HOLD_S if self.quick else experiments.HOLD_S
        return [
            Point(system, role, kind.name, amount, seconds, mix, size, load, at, costs)
            for role, seconds, mix, size, load, at, costs, (kind, amount) in product(
                self.targets or (),
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
    if options.results:
        return _show_results(options)
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
            "\n".join(sweeping.missing.values()),
        )
    return 0


def _show_results(options: Options) -> int:
    if options != Options(results=options.results, out=options.out):
        raise CannotDo("--results: nothing is measured, so nothing but --out goes with it")
    sweeping = _Sweeping(options.out)
    for path in options.results or ():
        if path.resolve() == (options.out / RESULTS).resolve():
            raise CannotDo(f"--results: {path} would be replaced: name another --out")
        for name, rows in groupby(sweep.results(path), lambda row: row.point.system):
            if name in sweeping.maps:
                raise CannotDo(f"--results: {path} has {name}, too")
            sweeping.maps[name] = [*rows]
    sweeping.show()
    return 0


class _Sweeping:
    """The maps so far, and the reasons why cells are missing. The page is drawn again after each
    cell on real processes, so the first picture is soon there."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.maps: dict[str, list[Row]] = {}
        self.missing: dict[Point, str] = {}

    def complete(
        self,
        name: str,
        subject: str,
        points: Sequence[Point],
        known: Catalogue,
        make: Callable[[Sequence[Point], Ended], None],
        cells_per_page: int = 1,
    ) -> None:
        """All cells of a system, and those of the bisection between them. `make` makes those that
        are not there yet, as far as it can, and tells of each. The result hangs on the cells alone:
        it is the same after an interrupt."""
        path, wanted = self.out / CELLS, list(dict.fromkeys(points))
        done = sweep.read(path, subject)

        def draw() -> None:
            self.maps[name] = sweep.rows_of([done[at] for at in wanted if at in done], known)

        def ended(point: Point, cell: Cell) -> None:
            sweep.append(path, subject, cell)
            done[point] = cell
            if len(done) % cells_per_page == 0:
                draw()
                self.write()

        while True:
            if left := [point for point in wanted if point not in done]:
                make(left, ended)
            draw()
            found = sweep.refinements(self.maps[name], known)
            if not (more := [point for point in found if point not in wanted]):
                return
            wanted += more

    def write(self) -> None:
        found = [(name, rows) for name, rows in self.maps.items() if rows]
        atomic.write_text(self.out / PAGE, sweep_page.render(found))
        cells = [
            sweep.as_json(each) for _, rows in found for each in sweep_page.with_few_series(rows)
        ]
        atomic.write_text(self.out / RESULTS, records.text({"cells": cells}))

    def show(self) -> None:
        self.write()
        heads, lines = sweep_page.in_short([*self.maps.items()])
        table = Table(*heads, box=box.SIMPLE_HEAD, pad_edge=False)
        for line in lines:
            table.add_row(*line)
        console.stdout().print(table)
        for name, judged in findings.of_all(self.maps).items():
            for each in judged:
                if each.verdict in findings.JUDGED:
                    found = f"finding {each.number} of document 004 {each.verdict}: {each.seen}"
                    console.stdout().print(f"{name}: {found}")
            left = [str(each.number) for each in judged if each.verdict == findings.UNKNOWN]
            if left:
                console.note(f"{name}: findings {', '.join(left)} not measured: the page says why")
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
        make = partial(simulated.make, system, known)
        sweeping.complete(system.name, system.subject, points, known, make, CELLS_PER_PAGE)


def _points(system: simulated.System, plan: Options, known: Catalogue) -> list[Point]:
    if (plan.mixes or plan.places) and not system.has_mixes:
        raise CannotDo(f"--workload and --clients are for a store (lab3), not for {system.name}")
    roles = _roles(system.name, plan.targets, system.roles)
    return replace(plan, targets=roles).points(system.name, _faults(known, plan, here=False))


def _roles(name: str, wanted: Sequence[str] | None, roles: Sequence[str]) -> Sequence[str]:
    """All that are slow in turn, or those that are wanted."""
    for target in wanted or ():
        if target not in roles:
            raise CannotDo(f"--target: {name} has no {target}, but {', '.join(roles)}")
    return wanted or roles


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
    systems = [each for path in options.system or () for each in description.load(path)]
    of_ours = [str(options.directory or "the reference")] if options.with_ours else []
    names = [*of_ours, *(each.name for each in systems)]
    if len(set(names)) < len(names):
        raise CannotDo(f"--system: two have one name ({', '.join(names)})")
    plans = [_plan_of_lab(kit, options) for _ in of_ours]
    plans += [_plan_of(each, options) for each in systems]
    programs = ["put_load"] * len(of_ours) + [slow_syncs.PROGRAM] * bool(systems)
    cmake.build(kit, targets=[*programs, catalogue.PROGRAM])
    known = catalogue.load(kit)
    faults = _faults(known, options, here=True)
    lab, replicas, out = options.lab or experiments.LAB, options.replicas, options.out
    clusters: list[AbstractContextManager[Bench]] = [
        experiments.cluster_of(kit, known, options.directory, lab, replicas, out) for _ in of_ours
    ]
    clusters += [running.running(kit, known, each, out) for each in systems]
    for name, cluster, plan in zip(names, clusters, plans, strict=True):
        with cluster as bench:
            experiment.prepare(bench)
            points = plan.points(name, [each for each in faults if bench.can_have(each[0])])
            points = [replace(point, foreign=name not in of_ours) for point in points]
            make = partial(_measure_all, bench, known, sweeping.missing)
            sweeping.complete(name, _subject(bench), points, known, make)


def _plan_of_lab(kit: Kit, options: Options) -> Options:
    lab = options.lab or experiments.LAB
    view = load_labs(kit).get(lab).cluster
    if view is None:
        raise CannotDo(f"--lab: {lab} has no cluster")
    roles = _roles(lab, options.targets, (experiments.FOLLOWER, *view.proposers))
    return replace(options, targets=roles)


def _plan_of(system: description.System, options: Options) -> Options:
    """CannotDo for an axis that the system's file has no lines for."""
    if "read" not in system.works and {"read", "mixed"} & set(options.mixes or ()):
        raise CannotDo(f"--workload: {system.path} has no load/read")
    if "command" in system.works["write"] and "mixed" in (options.mixes or ()):
        raise CannotDo(f"--workload: the command of {system.path} reads or writes, not both")
    if not all(map(str.isdecimal, options.loads or ())) and not system.takes_a_rate:
        raise CannotDo(
            f"--load: the command of {system.path} has no {{rate}}, so it is no open loop"
        )
    all_roles = [*system.roles, ANY]
    roles = _roles(system.name, options.targets, all_roles) if options.targets else system.roles
    places = options.places or (system.clients_at,)
    return replace(options, targets=roles or [ANY], places=places)


def _measure_all(
    bench: Bench, known: Catalogue, missing: dict[Point, str], left: Sequence[Point], ended: Ended
) -> None:
    for number, point in enumerate(left, start=1):
        kind = known.kinds[point.kind]
        fault = injection.in_words(kind, point.amount)
        words = ", ".join([bench.program, fault, point.target, *point.unusual])
        try:
            cell = _cell(bench, kind, point)
        except CannotDo as error:
            missing[point] = f"{words}: {error}"
            console.note(f"{number} of {len(left)}: put off: {missing[point]}")
            continue
        missing.pop(point, None)
        ended(point, cell)
        console.note(f"{number} of {len(left)}: {words}: {_loss(cell)}")


def _cell(bench: Bench, kind: FaultKind, point: Point) -> Cell:
    loaded = replace(bench, value_bytes=point.value_bytes, mix=point.mix, at=point.at)
    load: experiment.Load = ("--clients", point.load)
    if point.is_open:
        load = ("--rate", point.rate or experiment.rate_of(loaded))
    fault = HeldFault(kind=kind, amount=point.amount, target=point.target, hold_s=point.seconds)
    runs = [experiment.slow_run(loaded, fault, load) for _ in range(RUNS)]
    behind = any(run.caught_up_s is None for run in runs)
    late = f"it has not caught up {experiment.CAUGHT_UP_S:.0f} s after the fault" if behind else ""
    return sweep.cell_of(
        point,
        injection.in_words(kind, point.amount),
        [run.stages for run in runs],
        [run.leader_changes for run in runs],
        next((run.void for run in runs if run.void), late),
    )


def _faults(known: Catalogue, options: Options, here: bool) -> Faults:
    """A kind stands for all its strengths. `here`: those that work on this machine."""
    slow = [kind.name for kind in known.kinds.values() if kind.slows]
    names = QUICK_KINDS if options.quick else slow
    names = names if options.fault is None else options.fault.split(",")
    found: list[tuple[FaultKind, int]] = []
    for name in names:
        if options.strength is not None:
            if len(names) > 1 or name not in known.kinds:
                raise CannotDo("--strength: name one fault, such as --fault net-slow, no preset")
            kind = known.kinds[name]
            found += [(kind, strength.parse(kind, text)) for text in options.strength.split(",")]
        elif name in known.kinds and known.kinds[name].unit != "none":
            presets = experiments.presets_of(known, name, here)
            found += [(known.kinds[name], each.amount) for each in presets]
        else:
            found.append(injection.strength_of(known, name, None))
    return list(dict.fromkeys(found))


def _subject(bench: Bench) -> str:
    """All that the figures of a point depend on: the program and the cluster."""
    return f"{bench.program} {bench.digest}, {len(bench.place.replicas)} replicas"


def _loss(cell: Cell) -> str:
    loss = cell.loss
    value, low, high = (round(100 * each) for each in (loss.value, loss.low, loss.high))
    return f"{value} % ({low} to {high})"
