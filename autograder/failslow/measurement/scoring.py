"""Judges the numbers of the measurement. Pure functions: samples in, figures and points out.

Runs are paired by seed: `normal`, `slow` and `dead` runs of one seed see the same arrivals. A
figure is the median over the seeds of a pair's ratio, so that one odd seed decides nothing;
the worst pair is kept for the report.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from failslow.measurement.binary import Sample
from failslow.measurement.runs import DEAD, LATENCY, LOW_JITTER, NORMAL, REALISTIC, SATURATED, Run
from failslow.measurement.settings import FOLLOWER, Settings

Samples = Mapping[Run, Sample]
Figure = Callable[[Sample, Sample], float]

NOTHING_COMPLETED = float("inf")
"""A pair that cannot be compared, because one of its runs completed nothing: beyond all limits."""


def throughput_degradation(base: Sample, slow: Sample) -> float:
    """The share of throughput lost: 0 for none, 1 for all of it."""
    if base.throughput <= 0:
        return NOTHING_COMPLETED
    return 1.0 - slow.throughput / base.throughput


def latency_degradation(base: Sample, slow: Sample) -> float:
    """The share that average latency grew by: 0 for none, 1 for twice as long."""
    return _ratio(base, slow, lambda sample: sample.mean_ns) - 1.0


def p99_ratio(base: Sample, slow: Sample) -> float:
    return _ratio(base, slow, lambda sample: sample.p99_ns)


def unanswered(base: Sample, slow: Sample) -> float:
    """The share of operations that never completed. No average contains their latency. Without this
    figure a submission could look faster by answering only the quick operations."""
    if base.completed <= 0:
        return NOTHING_COMPLETED
    return 1.0 - slow.completed / base.completed


def _ratio(base: Sample, slow: Sample, of: Callable[[Sample], int]) -> float:
    if base.completed <= 0 or slow.completed <= 0 or of(base) <= 0:
        return NOTHING_COMPLETED
    return of(slow) / of(base)


@dataclass(frozen=True)
class Criterion:
    """One figure against its limit. `worst_run` is the slow run of the worst pair.

    `value` and `worst` may be infinite: nothing completed, or a follower never caught up.
    """

    name: str
    value: float
    worst: float
    limit: float
    worst_run: Run

    @property
    def passed(self) -> bool:
        return self.value <= self.limit

    @property
    def excess(self) -> float:
        """The ratio to the limit: a report explains the largest first."""
        return self.value / self.limit


THROUGHPUT = "throughput"
MEAN_LATENCY = "latency"
UNANSWERED = "unanswered"
P99 = "p99"
HELD_BYTES = "held bytes"
CATCH_UP = "catch-up"
THROUGHPUT_VS_DEAD = "throughput vs dead"
LATENCY_VS_DEAD = "latency vs dead"


@dataclass(frozen=True)
class Row:
    """The verdict on one (victim, replicas, fault): all criteria must hold to earn the points.

    `realistic_*` compare slow with normal under realistic jitter: reported, never charged.
    """

    replicas: int
    fault: str
    criteria: tuple[Criterion, ...]
    realistic_throughput: float | None
    realistic_latency: float | None
    error: str | None
    points: int
    score: float
    victim: str = FOLLOWER

    @property
    def passed(self) -> bool:
        return self.error is None and all(criterion.passed for criterion in self.criteria)

    def criterion(self, name: str) -> Criterion:
        return next(criterion for criterion in self.criteria if criterion.name == name)

    def worst_criterion(self) -> Criterion | None:
        failed = [criterion for criterion in self.criteria if not criterion.passed]
        return max(failed, key=lambda criterion: criterion.excess, default=None)


def judge(
    settings: Settings, samples: Samples, capacities: Mapping[int, float], seeds: int
) -> list[Row]:
    """A row for every (victim, replicas, fault) in the order of the settings."""
    return [
        _judge_row(settings, _Pairs(samples, replicas, fault, seeds, victim), capacities[replicas])
        for victim, points in settings.points.items()
        for replicas in settings.replicas
        for fault in points[replicas]
    ]


def scale(capacity: float, floor: float) -> float:
    """The share of the points left by a low capacity: 1 at the floor and above."""
    return min(1.0, capacity / floor) if floor > 0 else 1.0


def _judge_row(settings: Settings, pairs: "_Pairs", capacity: float) -> Row:
    points = settings.points[pairs.victim][pairs.replicas][pairs.fault]
    error = pairs.first_error()
    criteria = () if error else _criteria(settings, pairs)
    passed = error is None and all(criterion.passed for criterion in criteria)
    share = scale(capacity, settings.capacity_floor[pairs.replicas]) if passed else 0.0
    return Row(
        replicas=pairs.replicas,
        fault=pairs.fault,
        criteria=criteria,
        realistic_throughput=None
        if error
        else pairs.figure(throughput_degradation, REALISTIC, SATURATED, NORMAL)[0],
        realistic_latency=None
        if error
        else pairs.figure(latency_degradation, REALISTIC, LATENCY, NORMAL)[0],
        error=error,
        points=points,
        score=round(points * share, 2),
        victim=pairs.victim,
    )


def _criteria(settings: Settings, pairs: "_Pairs") -> tuple[Criterion, ...]:
    limit = settings.bounds.degradation
    throughput_limit = limit + pairs.lost_spare(settings, throughput_degradation, SATURATED)
    latency_limit = limit + pairs.lost_spare(settings, latency_degradation, LATENCY)
    held, held_run = pairs.worst_held_bytes()
    late, late_run = pairs.worst_catch_up()
    bounds = settings.bounds
    return (
        pairs.criterion(
            THROUGHPUT, throughput_degradation, LOW_JITTER, SATURATED, NORMAL, throughput_limit
        ),
        pairs.criterion(
            MEAN_LATENCY, latency_degradation, LOW_JITTER, LATENCY, NORMAL, latency_limit
        ),
        pairs.criterion(UNANSWERED, unanswered, LOW_JITTER, LATENCY, NORMAL, limit),
        pairs.criterion(P99, p99_ratio, LOW_JITTER, LATENCY, NORMAL, bounds.p99_ratio),
        Criterion(HELD_BYTES, held, held, bounds.held_bytes, held_run),
        Criterion(CATCH_UP, late, late, bounds.catch_up_ns, late_run),
        pairs.criterion(
            THROUGHPUT_VS_DEAD, throughput_degradation, REALISTIC, SATURATED, DEAD, limit
        ),
        pairs.criterion(LATENCY_VS_DEAD, latency_degradation, REALISTIC, LATENCY, DEAD, limit),
    )


class _Pairs:
    """The samples of one (victim, replicas, fault) and their counterparts of the same seed."""

    def __init__(
        self, samples: Samples, replicas: int, fault: str, seeds: int, victim: str
    ) -> None:
        self._samples = samples
        self.replicas = replicas
        self.fault = fault
        self.victim = victim
        self._seeds = range(1, seeds + 1)

    def criterion(
        self, name: str, figure: Figure, profile: str, load: str, base: str, limit: float
    ) -> Criterion:
        value, worst, worst_run = self.figure(figure, profile, load, base)
        return Criterion(name, value, worst, limit, worst_run)

    def lost_spare(self, settings: Settings, figure: Figure, load: str) -> float:
        """The cost of the same followers dead, up to the allowance."""
        deads = [self._run(LOW_JITTER, load, DEAD, seed) for seed in self._seeds]
        cost = median(
            figure(self._samples[run.with_fault(NORMAL)], self._samples[run]) for run in deads
        )
        return min(max(cost, 0.0), settings.bounds.lost_spare)

    def figure(
        self, figure: Figure, profile: str, load: str, base: str
    ) -> tuple[float, float, Run]:
        """Median and worst over the seeds, and the slow run of the worst pair."""
        values = [
            (figure(self._samples[run.with_fault(base)], self._samples[run]), run)
            for run in self._slow_runs(profile, load)
        ]
        worst, worst_run = max(values, key=lambda value: value[0])
        return median(value for value, _ in values), worst, worst_run

    def worst_held_bytes(self) -> tuple[float, Run]:
        runs = [run for run in self._all_runs() if run.fault == self.fault]
        run = max(runs, key=lambda run: self._samples[run].peak_held_bytes)
        return float(self._samples[run].peak_held_bytes), run

    def worst_catch_up(self) -> tuple[float, Run]:
        """Judged at 65 % load: saturated, there is no spare capacity to catch up with."""
        run = max(self._slow_runs(LOW_JITTER, LATENCY), key=self._catch_up_ns)
        return self._catch_up_ns(run), run

    def first_error(self) -> str | None:
        """The sentence of the first run of this row in which the submission misbehaved."""
        for run in self._all_runs():
            error = self._samples[run].error
            if error is not None:
                return f"{error} ({run})"
        return None

    def _catch_up_ns(self, run: Run) -> float:
        value = self._samples[run].catch_up_ns
        return float("inf") if value is None else float(value)

    def _slow_runs(self, profile: str, load: str) -> list[Run]:
        return [self._run(profile, load, self.fault, seed) for seed in self._seeds]

    def _all_runs(self) -> list[Run]:
        """Every run this row is judged by, in the order of the plan's fields."""
        return [
            self._run(profile, load, fault, seed)
            for seed in self._seeds
            for load in (LATENCY, SATURATED)
            for profile in (LOW_JITTER, REALISTIC)
            for fault in (NORMAL, self.fault, DEAD)
        ]

    def _run(self, profile: str, load: str, fault: str, seed: int) -> Run:
        return Run(self.replicas, profile, load, DEAD, seed, self.victim).with_fault(fault)
