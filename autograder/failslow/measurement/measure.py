"""The whole measurement of one submission."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Protocol

from failslow.base import console, deadline, parallel
from failslow.base.errors import CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import determinism
from failslow.lab.labs import Lab
from failslow.measurement.binary import (
    Program,
    Sample,
    binary_of,
    measure_once,
    without_verdict,
)
from failslow.measurement.cause import Explained
from failslow.measurement.explain import Report, report
from failslow.measurement.run_names import name_of
from failslow.measurement.runs import CAPACITY, FULL, LATENCY, NORMAL, Plan, Run
from failslow.measurement.scoring import Row, Samples, judge
from failslow.measurement.settings import SUBMIT, Rates, Seeds, Settings

if TYPE_CHECKING:
    from failslow.measurement.sweep import Cell, Sweep

Load = tuple[str, int]
"""The mix of commands, and the number of replicas."""


@dataclass(frozen=True)
class Measurement:
    """Rows with a report for each; the names of the strengths that were
    drawn; hashes of all runs in order. `ungraded`: for information, or empty. `differs`: how a run
    differs from one with other memory, or "". `no_verdict`: the grader's reasons, by ids of rows,
    where a run gave no result. `messages_per_operation`: without a fault, at part load, with the
    fewest replicas; None if nothing was completed.
    """

    rows: tuple[Row, ...]
    reports: tuple[Report, ...]
    capacities: dict[Load, float]
    strengths: tuple[str, ...]
    trace_hashes: dict[str, str]
    ungraded: "tuple[Cell, ...]" = ()
    differs: str = ""
    no_verdict: Mapping[str, str] = field(default_factory=dict)
    samples: Mapping[Run, Sample] = field(default_factory=dict)
    messages_per_operation: float | None = None


@dataclass(frozen=True)
class Options:
    """`seeds`: the number of seeds of most runs, or None for as many of the settings' as a row
    needs (see scoring.py). `isolate`: a run that gives no result is made once more, and then costs
    its rows alone. `end`: nothing runs after it."""

    seeds: int | None = None
    with_ungraded: bool = True
    isolate: bool = False
    end: float = deadline.NONE


def measure(
    kit: Kit, lab: Lab, replica: Path, settings: Settings, seed_of: Seeds, options: Options
) -> Measurement:
    """A strength of each fault is drawn unless the settings have one alone. In one run of each row
    the replicas have twins.

    CouldNotGrade when a run gives no result, unless it is isolated. Misbehaviour of the submission
    scores 0. Requires: the lab has a measurement, and these are its settings.
    """
    assert lab.measurement is not None
    program = Program(kit.binary(binary_of(lab)), lab.measurement.roles, replica, options.end)
    settings = settings.drawn(seed_of)
    plan = Plan(settings, seed_of, options.seeds)
    compared = frozenset(plan.slow(row)[0] for row in settings.rows)
    meter = Meter(program, settings.rates, settings.loads, options.isolate, compared)
    looks = plan.looks() if options.seeds is None else [plan]
    with console.progress(f"Measuring {lab.id} with slow followers", kit.paces) as advance:
        rows, samples = run_until_settled(meter, settings, looks, advance)
    wanted = _ungraded(lab.measurement.roles, seed_of) if options.with_ungraded else []
    title = f"Measuring {lab.id} without points"
    with console.progress(title, kit.paces, even_if_empty=False) as advance:
        found = meter.sweep(wanted, advance)
    explained = meter.explain_all(rows)
    return Measurement(
        rows=tuple(rows),
        reports=tuple(
            replace(report(settings, row, why), replay=meter.replay_of(lab, row))
            for row, why in zip(rows, explained, strict=True)
        ),
        capacities=meter.capacities,
        strengths=tuple(_strengths(settings)),
        trace_hashes={str(run): sample.trace_hash for run, sample in samples.items()},
        ungraded=tuple(found),
        differs=meter.first_difference(samples),
        no_verdict=_without_verdict(rows, samples),
        samples=samples,
        messages_per_operation=meter.messages_per_operation(samples),
    )


def run_until_settled(
    meter: "Meter", settings: Settings, looks: Sequence[Plan], advance: console.Advance
) -> tuple[list[Row], dict[Run, Sample]]:
    """Makes the runs of each row with more seeds until it is settled. The runs without a fault are
    few, and all are made at first: they also have bounds of their own. `looks`: see Plan.looks.

    The runs of a look depend on the samples of the looks before alone, on any number of cores.
    """
    plan = looks[-1]
    normal = [run for run in plan.rest() if run.fault == NORMAL]
    samples = meter.run_all(plan, advance, [*normal, *looks[0].rest()])
    rows = judge(settings, plan, samples)
    for look in looks[1:]:
        left = [row.graded for row in rows if not row.is_settled]
        samples |= meter.run(look.of(left), samples, advance)
        rows = judge(settings, plan, samples)
    return rows, samples


def _strengths(settings: Settings) -> dict[str, None]:
    """Each once, in order."""
    profiles = (settings.profile, settings.opposite)
    return dict.fromkeys(
        settings.preset(fault, profile) for fault in settings.strengths for profile in profiles
    )


def _ungraded(roles: tuple[str, ...], seed_of: Seeds) -> "Sequence[Sweep]":
    """Imported late: a students' kit measures nothing without points."""
    from failslow.measurement.ungraded import sweeps

    return sweeps(roles, seed_of)


def _without_verdict(rows: Iterable[Row], samples: Samples) -> dict[str, str]:
    reasons = {row.graded.id: samples[row.error_run].no_verdict for row in rows if row.error_run}
    return {row: reason for row, reason in reasons.items() if reason}


class Runs(Protocol):
    """Runs to make: those of the capacity, and the rest."""

    def capacity(self, mix: str, replicas: int) -> list[Run]: ...

    def rest(self) -> list[Run]: ...


class Meter:
    """`capacities`: once all runs were made.

    `_compared`: the runs whose replicas have twins. `_unusable`: the capacity run without which
    there is no other run.
    """

    def __init__(
        self,
        program: Program,
        rates: Rates,
        loads: Sequence[Load],
        isolate: bool = False,
        compared: frozenset[Run] = frozenset(),
    ) -> None:
        self._program = program
        self._isolate = isolate
        self._compared = compared
        self._rates = rates
        self._loads = loads
        self.capacities: dict[Load, float] = {}
        self._unusable: dict[Load, Run] = {}

    def run_all(
        self, plan: Runs, advance: console.Advance, rest: Sequence[Run] | None = None
    ) -> dict[Run, Sample]:
        """Capacity runs first: every load is a fraction of the submission's own capacity. `rest`:
        the runs after them; None for all of the plan."""
        rest = plan.rest() if rest is None else rest
        first = sum(len(plan.capacity(*load)) for load in self._loads)
        total = first + len(set(rest))
        by_run = self.measure_capacity(plan, lambda done, _, now: advance(done, total, now))
        return by_run | self.run(rest, by_run, advance)

    def run(
        self, wanted: Iterable[Run], made: Samples, advance: console.Advance
    ) -> dict[Run, Sample]:
        """Those that are not `made`, each once. Requires: the capacity is among the made."""
        runs = [run for run in dict.fromkeys(wanted) if run not in made]
        able = [run for run in runs if self._has_load(run)]
        total = len(made) + len(runs)
        by_run = self._run(able, lambda done, _, now: advance(len(made) + done, total, now))
        # No load can be set without a capacity: the error of that run is the result of all.
        unable = [run for run in runs if not self._has_load(run)]
        return by_run | {run: made[self._unusable[_load(run)]] for run in unable}

    def measure_capacity(self, plan: Runs, advance: console.Advance) -> dict[Run, Sample]:
        """Measures the capacity under each load."""
        by_load = {load: plan.capacity(*load) for load in self._loads}
        by_run = self._run([run for runs in by_load.values() for run in runs], advance)
        for load, runs in by_load.items():
            self.capacities[load] = median(by_run[run].throughput for run in runs)
            unusable = next((run for run in runs if _unusable(by_run[run])), None)
            if unusable:
                self._unusable[load] = unusable
        return by_run

    def sweep(self, wanted: "Sequence[Sweep]", advance: console.Advance) -> "list[Cell]":
        """Those for which a load can be set. Requires: the capacities are known."""
        known = self.capacities.keys() - self._unusable.keys()
        able = [each for each in wanted if {(SUBMIT, size) for size in each.replicas} <= known]
        runs = list(dict.fromkeys(run for each in able for run in each.rest()))
        if not runs:
            return []
        from failslow.measurement.sweep import cells

        samples = self._run(runs, advance)
        if any(sample.no_verdict for sample in samples.values()):
            return []
        return [cell for each in able for cell in cells(each, samples)]

    def first_difference(self, samples: Samples) -> str:
        """The difference of the first run that differs with other memory; or ""."""
        for run, sample in samples.items():
            if sample.twins == determinism.DIFFER:
                return f"In {run}:\n{self._describe(run)}"
        return ""

    def messages_per_operation(self, samples: Samples) -> float | None:
        """Without a fault, at part load, with the fewest replicas.

        Requires: `samples` are of run_all.
        """
        normal = [run for run in samples if run.fault == NORMAL and run.load == LATENCY]
        able = [run for run in normal if self._has_load(run)]
        if not able:
            return None
        found = self._sample(min(able, key=lambda run: run.replicas), "--explain")
        frames = sum(flow.wire.frames for flow in found.flows)
        return frames / found.completed if found.completed else None

    def explain_all(self, rows: Sequence[Row]) -> list[Explained | None]:
        """Explains each row."""
        if not any(row.worst_run for row in rows):
            return [None] * len(rows)
        with console.progress("Explaining lost points") as advance:
            return parallel.run_all(rows, self.explain, advance, lambda row: row.graded.id)

    def explain(self, row: Row) -> Explained | None:
        """The worst run of a lost row and its counterpart without the fault, once more and with
        their waits; None if there is no such run."""
        slow = row.worst_run
        if row.error is not None or slow is None:
            return None
        found = Explained(
            slow=self._sample(slow, "--explain"),
            base=self._sample(slow.with_fault(NORMAL), "--explain"),
        )
        return None if found.slow.no_verdict or found.base.no_verdict else found

    def replay_of(self, lab: Lab, row: Row) -> str:
        """The command that draws the costly run, without the course key; "" if there is none."""
        run = row.worst_run and self._unusable.get(_load(row.worst_run), row.worst_run)
        if run is None:
            return ""
        name = name_of(row.graded, run, self.rate_of(run))
        return f"./kit replay {lab.id} {name} --seed {run.seed}"

    def _run(self, runs: Sequence[Run], advance: console.Advance) -> dict[Run, Sample]:
        samples = parallel.run_all(
            runs, lambda run: self._sample(run, *self._twins(run)), advance, _name
        )
        return dict(zip(runs, samples, strict=True))

    def _twins(self, run: Run) -> list[str]:
        return [f"--twin={determinism.fills(run.seed)[1]}"] if run in self._compared else []

    def _sample(self, run: Run, *more: str) -> Sample:
        if not self._isolate:
            return self._measure(run, *more)
        with suppress(CouldNotGrade):
            return self._measure(run, *more)
        try:
            return self._measure(run, *more)
        except CouldNotGrade as error:
            return without_verdict(error)

    def _measure(self, run: Run, *more: str) -> Sample:
        return measure_once(self._program, run, self.rate_of(run), *more)

    def _describe(self, run: Run) -> str:
        with tempfile.TemporaryDirectory(prefix="failslow-traces-") as scratch:
            first, second = (Path(scratch) / name for name in ("first", "second"))
            self._sample(run, f"--trace={first}")
            self._sample(run, f"--perturb={determinism.fills(run.seed)[1]}", f"--trace={second}")
            return determinism.describe(_lines(first), _lines(second))

    def _has_load(self, run: Run) -> bool:
        return _load(run) not in self._unusable

    def rate_of(self, run: Run) -> float:
        """In operations per second. Requires: the capacity is known, or the run is one of it."""
        rates = self._rates
        if run.load == CAPACITY:
            return rates.capacity_rate
        percent = {LATENCY: rates.latency_percent, FULL: 100}.get(run.load, rates.saturated_percent)
        return self.capacities[_load(run)] * percent / 100


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _name(run: Run) -> str:
    return f"{run.replicas} replicas, {run.fault}"


def _load(run: Run) -> Load:
    return run.mix, run.replicas


def _unusable(sample: Sample) -> bool:
    return sample.error is not None or sample.throughput <= 0
