"""Judges the numbers of the measurement. Pure functions: samples in, figures and points out.

A figure of speed compares the two runs of a pair. Its median over the runs of one slow set decides,
so that one odd run decides nothing, and the slow set with the worst median counts. The worst single
run has a bound of its own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from failslow.measurement import figures
from failslow.measurement.binary import Sample
from failslow.measurement.figures import PairFigure
from failslow.measurement.runs import (
    BEFORE,
    DEAD,
    FLAPPING,
    LATENCY,
    LONG,
    LOW_JITTER,
    NORMAL,
    REALISTIC,
    SATURATED,
    Places,
    Plan,
    Run,
    is_compared_with_dead,
)
from failslow.measurement.settings import Bounds, Graded, Settings

Samples = Mapping[Run, Sample]

_Misdeed = tuple[str, Run]
"""A sentence, and the run in which the submission misbehaved."""

SPEED = "speed"
HELD_BYTES = "held bytes"
CATCH_UP = "catch-up"
TAIL = "tail"

THROUGHPUT = "throughput"
MEAN_LATENCY = "latency"
MEDIAN_LATENCY = "median latency"
WORST_THROUGHPUT = "throughput, worst run"
WORST_LATENCY = "latency, worst run"
UNANSWERED = "unanswered"
STALL = "stall"
THROUGHPUT_VS_DEAD = "throughput vs dead"
LATENCY_VS_DEAD = "latency vs dead"
REALISTIC_THROUGHPUT = "throughput, realistic jitter"
REALISTIC_LATENCY = "latency, realistic jitter"
OVER_CAPACITY = "throughput over capacity"
P99 = "p99"
HEAP = "heap"
COROUTINES = "coroutines"
REQUESTS = "requests"
LONG_CATCH_UP = "catch-up, long run"
LAG_BETWEEN = "lag between faults"


@dataclass(frozen=True)
class Criterion:
    """One figure against its limit. `share` names the share of the points that it decides.

    `value` may be infinite: nothing completed, or a follower never caught up. `worst_run` is the
    slow run in which the figure is worst.
    """

    name: str
    share: str
    value: float
    limit: float
    worst_run: Run

    @property
    def passed(self) -> bool:
        return self.value <= self.limit

    @property
    def excess(self) -> float:
        """The ratio to the limit: a report explains the largest first."""
        return self.value / self.limit


@dataclass(frozen=True)
class Unslowed:
    """The worst runs without a fault, with little jitter, of one mix and number of replicas.
    `worst_run` has the fault: without it, its latency is the worst."""

    throughput: float
    throughput_floor: float
    latency_ns: float
    latency_ceiling_ns: float
    above_ceiling: float
    worst_run: Run

    @property
    def share(self) -> float:
        """The share of the points. Below the floor it falls in proportion. Above the ceiling a
        small share is left, which falls in proportion, too. If both bounds are missed, the smaller
        share counts."""
        of_floor = min(1.0, self.throughput / self.throughput_floor)
        if self.latency_ns <= self.latency_ceiling_ns:
            return of_floor
        return min(of_floor, self.above_ceiling * self.latency_ceiling_ns / self.latency_ns)


@dataclass(frozen=True)
class Row:
    """The verdict on one graded row.

    `error` is a sentence when the submission misbehaved; then there are no figures. `lag` is the
    least that a slow set was behind, `lag_needed` its bound.
    """

    graded: Graded
    criteria: tuple[Criterion, ...] = ()
    shares: Mapping[str, int] | None = None
    unslowed: Unslowed | None = None
    lag: int = 0
    lag_needed: int = 0
    error: str | None = None
    error_run: Run | None = None

    @property
    def points(self) -> int:
        return self.graded.points

    @property
    def holds_speed(self) -> bool:
        return self.error is None and SPEED not in self.lost_shares

    @property
    def is_void(self) -> bool:
        """Speed holds, but no slow replica fell behind: the row shows nothing."""
        return self.holds_speed and self.lag < self.lag_needed

    @property
    def lost_shares(self) -> list[str]:
        """Each once, in the order of the criteria."""
        return list(dict.fromkeys(each.share for each in self.criteria if not each.passed))

    @property
    def score(self) -> float:
        """The other shares count only where speed holds: a submission that waits for the slow
        replica has no backlog."""
        if not self.holds_speed or self.is_void:
            return 0.0
        assert self.shares is not None
        assert self.unslowed is not None
        kept = sum(self.shares[name] for name in self.shares if name not in self.lost_shares)
        return round(self.points * self.unslowed.share * kept / 100, 2)

    @property
    def passed(self) -> bool:
        return self.score == self.points

    @property
    def worst_run(self) -> Run | None:
        """The run that misbehaved, or that the report explains. None if no figure is lost."""
        criterion = self.worst_criterion()
        if criterion is None and self.unslowed and self.unslowed.share < 1:
            return self.unslowed.worst_run
        return criterion.worst_run if criterion else self.error_run

    def criterion(self, name: str) -> Criterion:
        return next(criterion for criterion in self.criteria if criterion.name == name)

    def worst_criterion(self) -> Criterion | None:
        """Speed first: the rest counts only where speed holds."""
        failed = [criterion for criterion in self.criteria if not criterion.passed]
        return max(failed, key=lambda each: (each.share == SPEED, each.excess), default=None)


def judge(settings: Settings, plan: Plan, samples: Samples) -> list[Row]:
    """A row for every graded one of the settings, in their order.

    A violated invariant or an untrue answer, in whatever run, voids all rows.
    """
    violation = _first(samples, lambda sample: sample.violation, samples)
    return [
        _judge_row(settings, graded, _row_runs(plan, graded, samples), violation)
        for graded in settings.rows
    ]


def _row_runs(plan: Plan, graded: Graded, samples: Samples) -> "_RowRuns":
    of_capacity = [samples[run] for run in plan.capacity(graded.mix, graded.replicas)]
    capacity = median(sample.throughput for sample in of_capacity)
    return _RowRuns(samples, plan.slow(graded), capacity)


def _judge_row(
    settings: Settings, graded: Graded, runs: "_RowRuns", violation: _Misdeed | None
) -> Row:
    misdeed = violation or runs.first_error()
    if misdeed:
        text, run = misdeed
        prefix = "safety is violated, which voids all rows: " if violation else ""
        return Row(graded, error=f"{prefix}{text} ({run})", error_run=run)
    bounds = settings.bounds[graded.victim]
    return Row(
        graded,
        criteria=(*_speed(bounds, runs), *_background(settings, bounds, runs, graded.fault)),
        shares=settings.shares,
        unslowed=_unslowed(settings, graded, runs),
        lag=runs.least_lag(),
        lag_needed=settings.strength(graded.fault).lag_entries,
    )


def _speed(bounds: Bounds, runs: "_RowRuns") -> list[Criterion]:
    lost, grown = figures.throughput_degradation, figures.latency_degradation
    steady = [run for run in runs.slow if run.profile == LOW_JITTER]
    full = _loaded(steady, SATURATED)
    part = _loaded(steady, LATENCY)
    against_dead = [run for run in runs.slow if is_compared_with_dead(run)]
    dead_full, dead_part = _loaded(against_dead, SATURATED), _loaded(against_dead, LATENCY)
    limit, worst_limit = bounds.degradation, bounds.worst_degradation
    found = [
        (THROUGHPUT, runs.worst_median(lost, NORMAL, full), limit.throughput),
        (MEAN_LATENCY, runs.worst_median(grown, NORMAL, part), limit.latency),
        # A few very late answers raise the mean of the normal run, and hide what all others lose.
        (
            MEDIAN_LATENCY,
            runs.worst_median(figures.median_latency_degradation, NORMAL, part),
            worst_limit.latency,
        ),
        (WORST_THROUGHPUT, runs.worst(lost, NORMAL, full), worst_limit.throughput),
        (WORST_LATENCY, runs.worst(grown, NORMAL, part), worst_limit.latency),
        (
            UNANSWERED,
            runs.worst(_unanswered, NORMAL, _loaded(runs.slow, LATENCY)),
            bounds.unanswered,
        ),
        (STALL, runs.worst(figures.stall_ns, NORMAL, steady), bounds.stall_ns),
        # A submission that is slow in the runs of the capacity alone is never saturated.
        (OVER_CAPACITY, runs.over_capacity(full), bounds.over_capacity),
    ]
    if against_dead:
        found += [
            (THROUGHPUT_VS_DEAD, runs.worst_median(lost, DEAD, dead_full), limit.throughput),
            (LATENCY_VS_DEAD, runs.worst_median(grown, DEAD, dead_part), limit.latency),
        ]
    realistic = [run for run in runs.slow if run.profile == REALISTIC]
    if realistic:
        spare_full, spare_part = _loaded(realistic, SATURATED), _loaded(realistic, LATENCY)
        spare = bounds.lost_spare
        found += [
            (REALISTIC_THROUGHPUT, runs.worst_median(lost, NORMAL, spare_full), spare.throughput),
            (REALISTIC_LATENCY, runs.worst_median(grown, NORMAL, spare_part), spare.latency),
        ]
    return [Criterion(name, SPEED, value, limit, run) for name, (value, run), limit in found]


def _background(
    settings: Settings, bounds: Bounds, runs: "_RowRuns", fault: str
) -> list[Criterion]:
    """The costs that a quorum hides from the speed: backlog, repair and the slowest answers."""
    # Caught up at 65 % load: saturated, there is no spare capacity to catch up with.
    steady = [run for run in _loaded(runs.slow, LATENCY) if run.profile == LOW_JITTER]
    short = [run for run in steady if run.shape != LONG]
    long = [run for run in steady if run.shape == LONG]
    held, held_run = runs.worst(lambda _, slow: figures.held_bytes(slow), NORMAL, runs.slow)
    heap, heap_run = runs.worst(figures.heap_growth, NORMAL, runs.slow)
    # Saturated, the commands that wait grow with the smallest loss of throughput.
    part = _loaded(runs.slow, LATENCY)
    coroutines, coroutines_run = runs.worst(figures.coroutine_growth, NORMAL, part)
    requests, requests_run = runs.worst(figures.request_growth, NORMAL, part)
    p99, p99_run = runs.worst_median(figures.p99_ratio, NORMAL, steady)
    found = [
        Criterion(P99, TAIL, p99, bounds.p99_ratio, p99_run),
        Criterion(HELD_BYTES, HELD_BYTES, held, bounds.held_bytes, held_run),
        Criterion(HEAP, HELD_BYTES, heap, bounds.heap_bytes, heap_run),
        Criterion(COROUTINES, HELD_BYTES, coroutines, bounds.unfinished_coroutines, coroutines_run),
        Criterion(REQUESTS, HELD_BYTES, requests, bounds.pending_requests, requests_run),
        Criterion(CATCH_UP, CATCH_UP, *runs.catch_up(short, bounds.catch_up_ns)),
    ]
    if long:
        latest = runs.catch_up(long, bounds.long_catch_up_ns)
        found.append(Criterion(LONG_CATCH_UP, CATCH_UP, *latest))
    lag_between = settings.strength(fault).lag_between
    flapping = [run for run in steady if run.shape == FLAPPING]
    if lag_between is not None and flapping:
        lag, lag_run = runs.worst(lambda _, slow: float(slow.lag), NORMAL, flapping)
        found.append(Criterion(LAG_BETWEEN, CATCH_UP, lag, lag_between, lag_run))
    return found


def _unanswered(normal: Sample, slow: Sample) -> float:
    """The larger share of the two: a submission must not drop commands without a fault, either."""
    return max(figures.unanswered(normal), figures.unanswered(slow))


def _unslowed(settings: Settings, graded: Graded, runs: "_RowRuns") -> Unslowed:
    steady = [run for run in runs.slow if run.profile == LOW_JITTER]
    full, part = _loaded(steady, SATURATED), _loaded(steady, LATENCY)
    baseline = settings.baselines[graded.mix, graded.replicas]
    slowest = max(part, key=lambda run: runs.normal(run).mean_ns)
    return Unslowed(
        throughput=min(runs.normal(run).throughput for run in full),
        throughput_floor=baseline.throughput_floor,
        latency_ns=runs.normal(slowest).mean_ns,
        latency_ceiling_ns=baseline.latency_ceiling_ns,
        above_ceiling=settings.above_ceiling,
        worst_run=slowest,
    )


def _loaded(runs: Iterable[Run], load: str) -> list[Run]:
    return [run for run in runs if run.load == load]


def _first(
    samples: Samples, sentence: Callable[[Sample], str | None], runs: Iterable[Run]
) -> _Misdeed | None:
    """The first sentence of these runs, and its run."""
    found = ((sentence(samples[run]), run) for run in runs)
    return next(((text, run) for text, run in found if text is not None), None)


class _RowRuns:
    """The slow runs of one row with their samples, and the runs that they are compared with."""

    def __init__(self, samples: Samples, slow: list[Run], capacity: float) -> None:
        self._samples = samples
        self._capacity = capacity
        self.slow = slow

    def normal(self, run: Run) -> Sample:
        return self._samples[run.with_fault(NORMAL)]

    def over_capacity(self, runs: list[Run]) -> tuple[float, Run]:
        """The share by which the quickest normal run exceeds the capacity, and its slow run."""
        quickest = max(runs, key=lambda run: self.normal(run).throughput)
        if self._capacity <= 0:
            return figures.NOTHING_COMPLETED, quickest
        return self.normal(quickest).throughput / self._capacity - 1.0, quickest

    def worst_median(self, figure: PairFigure, base: str, runs: list[Run]) -> tuple[float, Run]:
        """The worst median of a slow set in a profile, and the worst run of that set."""

        def group(run: Run) -> tuple[object, ...]:
            return (run.profile, run.places)

        found = []
        for _, of_group in groupby(sorted(runs, key=group), key=group):
            values = [(self._pair(figure, base, run), run) for run in of_group]
            _, worst_run = max(values, key=lambda each: each[0])
            found.append((median(value for value, _ in values), worst_run))
        return max(found, key=lambda each: each[0])

    def worst(self, figure: PairFigure, base: str, runs: list[Run]) -> tuple[float, Run]:
        values = [(self._pair(figure, base, run), run) for run in runs]
        return max(values, key=lambda each: each[0])

    def catch_up(self, runs: list[Run], limit: float) -> tuple[float, float, Run]:
        value, run = self.worst(lambda _, slow: figures.catch_up_ns(slow), NORMAL, runs)
        return value, limit, run

    def least_lag(self) -> int:
        """The most that a slow set was behind in runs that have the fault from their beginning, of
        the set for which it is least."""
        runs = [run for run in self.slow if run.shape == BEFORE]
        by_set: dict[Places, int] = {}
        for run in runs:
            by_set[run.places] = max(by_set.get(run.places, 0), self._samples[run].lag)
        return min(by_set.values())

    def first_error(self) -> _Misdeed | None:
        """The sentence of the first run of this row in which the submission misbehaved."""
        used: dict[Run, None] = {}
        for run in self.slow:
            dead = [run.with_fault(DEAD)] if is_compared_with_dead(run) else []
            used |= dict.fromkeys([run.with_fault(NORMAL), run, *dead])
        return _first(self._samples, lambda sample: sample.error, used)

    def _pair(self, figure: PairFigure, base: str, run: Run) -> float:
        return figure(self._samples[run.with_fault(base)], self._samples[run])
