"""The whole measurement of one submission."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from failslow import console, parallel
from failslow.kit import Kit
from failslow.labs import Lab
from failslow.measurement.binary import Program, Sample, measure_once
from failslow.measurement.explain import Explained, sentence
from failslow.measurement.runs import NORMAL, Run, capacity_run, plan
from failslow.measurement.scoring import Row, judge
from failslow.measurement.settings import Settings

BINARY = "slow_follower"


@dataclass(frozen=True)
class Measurement:
    """Rows with, for each lost one, the sentence that says why; hashes of all runs in order."""

    rows: tuple[Row, ...]
    sentences: tuple[str, ...]
    capacities: dict[int, float]
    trace_hashes: dict[str, str]


def measure(kit: Kit, lab: Lab, replica: Path, settings: Settings, seeds: int) -> Measurement:
    """CouldNotGrade when a run gives no result; misbehaviour of the submission scores 0.

    Requires: the lab has a measurement, and these are its settings.
    """
    assert lab.measurement is not None
    meter = _Meter(Program(kit.binary(BINARY), lab.id, lab.measurement.roles, replica))
    with console.progress("Measuring with slow followers") as advance:
        samples = meter.run_all(settings, seeds, advance)
    capacities = {
        replicas: samples[capacity_run(settings, replicas)].throughput
        for replicas in settings.replicas
    }
    rows = judge(settings, samples, capacities, seeds)
    return Measurement(
        rows=tuple(rows),
        sentences=tuple(sentence(settings, row, meter.explain(row)) for row in rows),
        capacities=capacities,
        trace_hashes={str(run): sample.trace_hash for run, sample in samples.items()},
    )


class _Meter:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._capacities: Mapping[int, float] = {}

    def run_all(
        self, settings: Settings, seeds: int, advance: console.Advance
    ) -> dict[Run, Sample]:
        """Capacity runs first: every load is a fraction of the submission's own capacity."""
        first = [capacity_run(settings, replicas) for replicas in settings.replicas]
        rest = plan(settings, seeds)
        total = len(first) + len(rest)
        samples = parallel.run_all(
            first,
            lambda run: measure_once(self._program, run, None),
            lambda done, _, now: advance(done, total, now),
            lambda run: f"capacity of {run.replicas} replicas",
        )
        by_run = dict(zip(first, samples, strict=True))
        self._capacities = {run.replicas: by_run[run].throughput for run in first}
        failed = {run.replicas: sample for run, sample in by_run.items() if _unusable(sample)}
        able = [run for run in rest if run.replicas not in failed]
        samples = parallel.run_all(
            able,
            self._measure,
            lambda done, _, now: advance(len(first) + done, total, now),
            lambda run: f"{run.replicas} replicas, {run.fault}, {run.load}",
        )
        by_run |= dict(zip(able, samples, strict=True))
        # No load can be set without a capacity: the error of that run is the result of all.
        by_run |= {run: failed[run.replicas] for run in rest if run.replicas in failed}
        return by_run

    def explain(self, row: Row) -> Explained | None:
        """The worst run of a lost row and its counterpart without the fault, once more and with
        their waits; None if there is no such run."""
        criterion = row.worst_criterion()
        if criterion is None:
            return None
        slow = criterion.worst_run
        return Explained(
            slow=self._measure(slow, explain=True),
            base=self._measure(slow.with_fault(NORMAL), explain=True),
        )

    def _measure(self, run: Run, explain: bool = False) -> Sample:
        capacity = self._capacities[run.replicas]
        return measure_once(self._program, run, capacity, explain)


def _unusable(sample: Sample) -> bool:
    return sample.error is not None or sample.throughput <= 0
