"""`kit bench slow`: what every slow fault, at every strength, costs a solution of lab 2 or 5.

It measures in virtual time, so the figures are the same on every machine. They carry no points.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from failslow.base import console, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import build_submission
from failslow.build.recipe import given, load_recipe
from failslow.extras.faults import catalogue
from failslow.extras.faults.catalogue import Preset
from failslow.lab.labs import ONE_FOLLOWER, Lab, Labs, load_labs
from failslow.lab.mutants import load_alternatives, load_mutants, materialised
from failslow.lab.submission import collect
from failslow.measurement import sweep_table
from failslow.measurement.binary import Program, binary_of
from failslow.measurement.formatting import percent
from failslow.measurement.measure import Meter
from failslow.measurement.settings import (
    FOLLOWER,
    MEDIAN,
    SUBMIT,
    WORST,
    Loss,
    load_settings,
)
from failslow.measurement.sweep import AND_FOLLOWERS, Cell, Sweep, cells, role_of

LAB = "lab2"
REFERENCE = "reference"
REPLICAS = (3, 5, 7)


@dataclass(frozen=True)
class Bars:
    """The reference's bars for a slow replica: the medians, and the worst seed. `faults`: those
    with a bar; None for all."""

    medians: Loss
    worst: Loss
    faults: frozenset[str] | None = None


BARS = Bars(Loss(0.01, 0.02), Loss(0.05, 0.05))
"""The bars of lab 2's slow followers. Those of another lab are the limits of its graded faults."""


@dataclass(frozen=True)
class Options:
    """`solution`: REFERENCE, LAB/NAME of an alternative or mutant, or directories. `faults`: names
    of presets, or None for all that slow a replica. The seeds are 1 to `seeds`. `victim`: see
    Sweep."""

    lab: str = LAB
    solution: tuple[str, ...] = (REFERENCE,)
    seeds: int = 5
    replicas: tuple[int, ...] = REPLICAS
    faults: tuple[str, ...] | None = None
    victim: str = FOLLOWER

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Options":
        """From `asdict` of other options, by way of JSON."""
        lists = {key: tuple(value) for key, value in content.items() if isinstance(value, list)}
        return Options(**{**content, **lists})

    def command(self) -> str:
        """The command line that gives the same figures."""
        words = ["./kit bench slow"] + ([f"--lab {self.lab}"] if self.lab != LAB else [])
        words.append(f"--solution {','.join(self.solution)}")
        words += [f"--seeds {self.seeds}", f"--replicas {','.join(map(str, self.replicas))}"]
        if self.faults is not None:
            words.append(f"--faults {','.join(self.faults)}")
        return " ".join([*words, f"--victim {self.victim}"])


@dataclass(frozen=True)
class Measured:
    """The sweep of one solution. `capacity` in operations per second, by the number of replicas."""

    solution: str
    capacity: dict[int, float]
    cells: list[Cell]


@dataclass(frozen=True)
class Result:
    """The measured solutions, in the order of the options."""

    options: Options
    measured: list[Measured]


def run(kit: Kit, options: Options, as_json: bool) -> int:
    """0 when the reference meets its bars, has none, or is not measured; 1 otherwise."""
    result = measure(kit, options)
    bars = bars_of(kit, options)
    problems = [problem for each in result.measured for problem in missed(each, bars)]
    if as_json:
        print(as_text(result), end="")
    else:
        for each in result.measured:
            console.stdout().print(sweep_table.table(each.solution, each.cells))
        console.stdout().print(sweep_table.LEGEND, style="dim", soft_wrap=True)
    for problem in problems:
        console.note(f"Missed: {problem}")
    return 1 if problems else 0


def measure(kit: Kit, options: Options) -> Result:
    """CannotDo for an unknown lab, victim, fault or solution, and for a solution that does not
    compile."""
    lab = _lab(kit, load_labs(kit), options)
    cmake.configure(kit)
    replica = load_recipe(kit).replica(lab)
    cmake.build(kit, targets=[binary_of(lab), catalogue.PROGRAM, *given(kit, [replica])])
    faults = _chosen(catalogue.slow_faults(kit), options.faults)
    return Result(options, [_measure(kit, each, faults, options) for each in options.solution])


def has_log(kit: Kit, lab: Lab) -> bool:
    """A store has other loads than a log."""
    return lab.measurement is not None and SUBMIT in dict(load_settings(kit, lab).loads)


def _lab(kit: Kit, labs: Labs, options: Options) -> Lab:
    lab = labs.get(options.lab)
    if lab.measurement is None or not has_log(kit, lab):
        raise CannotDo(f"--lab: {lab.id} has no log that is measured (lab2, lab5)")
    roles = lab.measurement.roles
    victims = [*roles, ONE_FOLLOWER, *(f"{role}{AND_FOLLOWERS}" for role in roles[:-1])]
    if options.victim not in victims:
        raise CannotDo(f"--victim: {lab.id} has no {options.victim}, but {', '.join(victims)}")
    return lab


def bars_of(kit: Kit, options: Options) -> Bars | None:
    """A slow leader has none. CannotDo as of `measure`."""
    lab = _lab(kit, load_labs(kit), options)
    role = role_of(options.victim)
    if lab.id == LAB:
        return BARS if role == FOLLOWER else None
    settings = load_settings(kit, lab)
    graded = {
        strength.preset for strengths in settings.strengths.values() for strength in strengths
    }
    return Bars(settings.loss(role, MEDIAN), settings.loss(role, WORST), frozenset(graded))


def missed(measured: Measured, bars: Bars | None) -> list[str]:
    """A sentence for each bar that the reference misses."""
    if measured.solution != REFERENCE or bars is None:
        return []
    return [
        f"{REFERENCE}, {cell.replicas} replicas, {cell.fault}: {sentence}"
        for cell in measured.cells
        if bars.faults is None or cell.fault in bars.faults
        for sentence in _missed_by(cell, bars)
    ]


def _missed_by(cell: Cell, bars: Bars) -> Iterator[str]:
    if cell.misbehaved is not None:
        yield cell.misbehaved
        return
    figures = [
        ("throughput lost", cell.throughput.median, bars.medians.throughput),
        ("latency grown", cell.latency.median, bars.medians.latency),
        ("throughput lost in the worst seed", cell.throughput.worst, bars.worst.throughput),
        ("latency grown in the worst seed", cell.latency.worst, bars.worst.latency),
    ]
    for name, value, bar in figures:
        if value >= bar:
            yield f"{name} {percent(value)} (bar: under {percent(bar)})"


def as_text(result: Result) -> str:
    """JSON, with a record for each solution, number of replicas and fault: its medians.

    `lag` is the least of the runs. An infinite figure is null: nothing completed.
    """
    cells = [_record(each.solution, cell) for each in result.measured for cell in each.cells]
    return records.text({"options": asdict(result.options), "cells": cells})


def _record(solution: str, cell: Cell) -> dict[str, Any]:
    return {
        "solution": solution,
        "replicas": cell.replicas,
        "fault": cell.fault,
        "throughput": cell.throughput.median,
        "latency": cell.latency.median,
        "p99": cell.p99,
        "lag": cell.lag,
        "misbehaved": cell.misbehaved,
    }


def _chosen(faults: list[Preset], names: Sequence[str] | None) -> list[Preset]:
    if names is None:
        return faults
    by_name = {fault.name: fault for fault in faults}
    for name in names:
        if name not in by_name:
            raise CannotDo(f"--faults: no '{name}' among {', '.join(by_name)}")
    return [by_name[name] for name in names]


def _measure(kit: Kit, solution: str, faults: Sequence[Preset], options: Options) -> Measured:
    labs = load_labs(kit)
    lab = _lab(kit, labs, options)
    assert lab.measurement is not None
    names = tuple(fault.name for fault in faults)
    seeds = tuple(range(1, options.seeds + 1))
    proposers = len(lab.measurement.roles) - 1
    sweep = Sweep(options.replicas, names, options.victim, seeds, proposers)
    program = Program(
        kit.binary(binary_of(lab)), lab.measurement.roles, _replica(kit, labs, lab, solution)
    )
    loads = [(SUBMIT, size) for size in options.replicas]
    meter = Meter(program, load_settings(kit, lab).rates, loads)
    with console.progress(f"Measuring {solution}") as advance:
        samples = meter.run_all(sweep, advance)
    capacities = {size: meter.capacities[mix, size] for mix, size in loads}
    return Measured(solution, capacities, cells(sweep, samples))


def _replica(kit: Kit, labs: Labs, lab: Lab, solution: str) -> Path:
    """The program of a sealed replica with this solution; CannotDo as of a grade."""
    recipe = load_recipe(kit)
    target = recipe.replica(lab)
    with _tree(kit, labs, lab, solution) as tree:
        submission = collect(kit, labs, tree, lab.id)
        return build_submission(kit, labs, submission, recipe, [target]) / target.name


@contextmanager
def _tree(kit: Kit, labs: Labs, lab: Lab, solution: str) -> Iterator[Path]:
    """The tree of a solution. CannotDo when there is none of that name."""
    if solution == REFERENCE:
        yield kit.reference
        return
    named = [*load_alternatives(kit), *load_mutants(kit)]
    if patched := next((each for each in named if each.name == solution), None):
        if patched.lab != lab.id:
            raise CannotDo(f"--solution: {solution} is not one of {lab.id}")
        with materialised(kit, labs, patched) as tree:
            yield tree
        return
    if not Path(solution).is_dir():
        raise CannotDo(
            f"--solution: '{solution}' is no directory, no alternative and no mutant"
            f" ({REFERENCE}, {lab.id}/waits-for-all, ...)"
        )
    yield Path(solution)
