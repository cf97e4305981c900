"""Judges the numbers of the measurement. Pure functions: samples in, figures and points out.

A figure of speed compares the two runs of a pair. Its median over the runs of one slow set decides,
so that one odd run decides nothing, and the slow set with the worst median counts. The worst single
run has a bound of its own.

A row may have only the first seeds of its runs: it ends once its score is settled. A loss is
settled when no further run can take it back. Limits are kept for good when each figure is at most
MARGIN of its limit: a sampling plan of several stages (Dodge and Romig, "A Method of Sampling
Inspection", 1929) that assumes no distribution. ERROR comes from recorded rows: the handbook's
decisions, settled-rows.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from math import inf
from statistics import median

from failslow.measurement.binary import Sample
from failslow.measurement.figures import FIGURES
from failslow.measurement.runs import (
    BEFORE,
    CLOSED,
    DEAD,
    LATENCY,
    LOADS,
    NORMAL,
    PROFILES,
    REALISTIC,
    SATURATED,
    SHAPES,
    SPREAD,
    Places,
    Plan,
    Run,
    is_compared_with_dead,
)
from failslow.measurement.settings import (
    MEDIAN,
    WITH_CAPACITY,
    WITH_DEAD,
    Baseline,
    Criterion,
    Graded,
    Settings,
)

Samples = Mapping[Run, Sample]

_Misdeed = tuple[str, Run]
"""A sentence, and the run in which the submission misbehaved."""

MARGIN = 0.5
"""A figure is far below its limit up to this share of it."""

ERROR = 0.02
"""The most rows that end early with points and another score than all their seeds would give. The
bound is for all looks together."""

SPEED = "speed"
"""The share on which the others depend."""


@dataclass(frozen=True)
class Judged:
    """A figure against its limit.

    `value` may be infinite: nothing completed, or a follower never caught up. `worst_run` is the
    slow run in which the figure is worst. `least`: the least value that runs which were not made
    may leave.
    """

    criterion: Criterion
    value: float
    limit: float
    worst_run: Run
    least: float
    is_complete: bool

    @property
    def name(self) -> str:
        return self.criterion.name

    @property
    def share(self) -> str:
        return self.criterion.share

    @property
    def passed(self) -> bool:
        return self.value <= self.limit

    @property
    def is_lost(self) -> bool:
        """Whatever the runs are that were not made."""
        return self.least > self.limit

    @property
    def is_settled(self) -> bool:
        free = FIGURES[self.criterion.figure].free
        is_far = self.value - free <= MARGIN * (self.limit - free)
        return self.is_complete or self.is_lost or is_far

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
    least that a slow set was behind, `lag_needed` its bound. `made` of the `planned` runs with the
    fault were made.
    """

    graded: Graded
    criteria: tuple[Judged, ...] = ()
    shares: Mapping[str, int] | None = None
    unslowed: Unslowed | None = None
    lag: int = 0
    lag_needed: int = 0
    error: str | None = None
    error_run: Run | None = None
    made: int = 0
    planned: int = 0

    @property
    def runs(self) -> str:
        """'6 of 20 runs'"""
        return f"{self.made} of {self.planned} runs"

    @property
    def is_settled(self) -> bool:
        """Whether the score stays with the runs that are left, but for ERROR."""
        lost = {each.share for each in self.criteria if each.is_lost}
        if self.error is not None or self.made == self.planned or SPEED in lost:
            return True
        open_ones = [e for e in self.criteria if not e.is_settled and e.share not in lost]
        return self.holds_speed and not self.is_void and not open_ones

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

    def find(self, figure: str, statistic: str) -> Judged | None:
        """The first of that figure and statistic. None if the lab does not bound it."""
        assert figure in FIGURES
        wanted = (figure, statistic)
        found = (
            each
            for each in self.criteria
            if (each.criterion.figure, each.criterion.statistic) == wanted
        )
        return next(found, None)

    def worst_criterion(self) -> Judged | None:
        """Speed first: the rest counts only where speed holds."""
        failed = [criterion for criterion in self.criteria if not criterion.passed]
        return max(failed, key=lambda each: (each.share == SPEED, each.excess), default=None)


def judge(settings: Settings, plan: Plan, samples: Samples) -> list[Row]:
    """A row for every graded one of the settings, in their order. `samples`: of the first seeds of
    a row, or of all; all runs without a fault are there.

    A violated invariant or an untrue answer, in whatever run, voids all rows. A lone violation of
    Settings.row_rules costs one row.
    """
    void = _void(settings, samples)
    rows = []
    for graded in settings.rows:
        runs = _row_runs(plan, graded, samples)
        row = _judge_row(settings, graded, runs, void)
        rows.append(replace(row, made=len(runs.slow), planned=len(runs.planned)))
    return [with_needs(settings, row, rows) for row in rows]


def with_needs(settings: Settings, row: Row, rows: list[Row]) -> Row:
    """`row` without points if it needs one of `rows` that does not hold speed: a submission
    that finds no fault raises no false alarm, either."""
    fault = settings.needs.get(row.graded.fault)
    lost = [e.graded.id for e in rows if e.graded.fault == fault and not e.holds_speed]
    if row.error is not None or not lost:
        return row
    return replace(row, error=f"without '{lost[0]}' this row has no points")


def _void(settings: Settings, samples: Samples) -> _Misdeed | None:
    """The cause that voids all rows. Runs that are alike until a fault begins have one violation
    together, in the same words."""
    found = [(each.violation, run) for run, each in samples.items() if each.violation is not None]
    for text, run in found:
        if text.partition(" violated at ")[0] not in settings.row_rules:
            return f"safety is violated, which voids all rows: {text}", run
    for text, run in found:
        if text != found[0][0]:
            return f"a rule is violated more than once, which voids all rows: {text}", run
    return None


def _row_runs(plan: Plan, graded: Graded, samples: Samples) -> "_RowRuns":
    of_capacity = [samples[run] for run in plan.capacity(graded.mix, graded.replicas)]
    capacity = median(sample.throughput for sample in of_capacity)
    return _RowRuns(samples, plan.slow(graded), capacity)


def _judge_row(settings: Settings, graded: Graded, runs: "_RowRuns", void: _Misdeed | None) -> Row:
    misdeed = void or runs.first_error() or runs.lone_violation()
    if misdeed:
        text, run = misdeed
        return Row(graded, error=f"{text} ({run})", error_run=run)
    return Row(
        graded,
        criteria=tuple(_criteria(settings, graded, runs)),
        shares=settings.shares,
        unslowed=_unslowed(settings, graded, runs),
        lag=runs.least_lag(),
        lag_needed=settings.strength(graded.fault).lag_entries,
    )


def _criteria(settings: Settings, graded: Graded, runs: "_RowRuns") -> Iterator[Judged]:
    """Those whose runs the row has: a dead proposer, for example, is no measure."""
    for criterion in settings.criteria:
        if graded.victim in criterion.limits:
            found = runs.judge(criterion, criterion.limits[graded.victim])
            if found is not None:
                yield found


def _unslowed(settings: Settings, graded: Graded, runs: "_RowRuns") -> Unslowed:
    steady = [run for run in runs.planned if run.profile != REALISTIC]
    full = _loaded(steady, SATURATED) or _loaded(steady, CLOSED)
    part = _loaded(steady, LATENCY) or _loaded(steady, SPREAD)

    def baseline(run: Run) -> Baseline:
        return settings.baseline((graded.mix, graded.replicas), run.profile)

    def of_floor(run: Run) -> float:
        return runs.normal(run).throughput / baseline(run).throughput_floor

    def of_ceiling(run: Run) -> float:
        return runs.normal(run).mean_ns / baseline(run).latency_ceiling_ns

    fullest = min(full, key=of_floor, default=steady[0])
    slowest = max(part, key=of_ceiling, default=steady[0])
    floor = baseline(fullest).throughput_floor
    return Unslowed(
        throughput=runs.normal(fullest).throughput if full else floor,
        throughput_floor=floor,
        latency_ns=runs.normal(slowest).mean_ns if part else 0.0,
        latency_ceiling_ns=baseline(slowest).latency_ceiling_ns,
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
    """The slow runs of one row with their samples, and the runs that they are compared with.

    `planned`: those with all seeds. `slow`: those that were made."""

    def __init__(self, samples: Samples, planned: list[Run], capacity: float) -> None:
        self._samples = samples
        self._capacity = capacity
        self.planned = planned
        self.slow = [run for run in planned if run in samples]

    def normal(self, run: Run) -> Sample:
        return self._samples[run.with_fault(NORMAL)]

    def judge(self, criterion: Criterion, limit: float) -> Judged | None:
        """None without runs that count."""
        statistic = _worst_median if criterion.statistic == MEDIAN else partial(max, key=_value)
        chosen = [*self._chosen(criterion)]
        known = chosen if FIGURES[criterion.figure].is_normal else [*self._made(chosen)]
        values = [(self._value(criterion, run), run) for run in known]
        if not values:
            return None
        value, worst_run = statistic(values)
        left = [(-inf, run) for run in chosen if run not in known]
        least, _ = statistic(values + left)
        return Judged(criterion, value, limit, worst_run, least, is_complete=not left)

    def _made(self, runs: Iterable[Run]) -> Iterator[Run]:
        return (run for run in runs if run in self._samples)

    def _chosen(self, criterion: Criterion) -> Iterator[Run]:
        wanted = set(criterion.runs)
        for run in self.planned:
            kinds = ((run.profile, PROFILES), (run.load, LOADS), (run.shape, SHAPES))
            has_pair = criterion.compared_with != WITH_DEAD or is_compared_with_dead(run)
            counts = has_pair and run.fault not in criterion.without
            if counts and all(is_in in wanted or not wanted & kind for is_in, kind in kinds):
                yield run

    def _value(self, criterion: Criterion, run: Run) -> float:
        base = self.normal(run)
        slow = self._samples.get(run, base)
        if criterion.compared_with == WITH_CAPACITY:
            base, slow = replace(base, throughput=self._capacity), base
        elif criterion.compared_with == WITH_DEAD:
            base = self._samples[run.with_fault(DEAD)]
        return FIGURES[criterion.figure].of(base, slow)

    def least_lag(self) -> int:
        """The most that a slow set was behind in runs that have the fault from their beginning, of
        the set for which it is least."""
        runs = [run for run in self.slow if run.shape == BEFORE]
        by_set: dict[Places, int] = {}
        for run in runs:
            by_set[run.places] = max(by_set.get(run.places, 0), self._samples[run].lag)
        return min(by_set.values(), default=0)

    def first_error(self) -> _Misdeed | None:
        """The sentence of the first run of this row in which the submission misbehaved."""
        used: dict[Run, None] = {}
        for run in self.planned:
            dead = [run.with_fault(DEAD)] if is_compared_with_dead(run) else []
            used |= dict.fromkeys(self._made([run.with_fault(NORMAL), run, *dead]))
        return _first(self._samples, lambda sample: sample.error, used)

    def lone_violation(self) -> _Misdeed | None:
        """If a run without a fault has it, it costs the row without a fault; else that of its run.

        Requires: there is one at most.
        """
        healthy = [run for run in self._samples if run.fault == NORMAL]
        is_healthy = any(run.fault == NORMAL for run in self.slow)
        found = _first(self._samples, _costs_a_row, healthy)
        if found or is_healthy:
            return found if is_healthy else None
        return _first(self._samples, _costs_a_row, self.slow)


def _costs_a_row(sample: Sample) -> str | None:
    return sample.violation and f"a rule is violated, which costs the row: {sample.violation}"


def _value(found: tuple[float, Run]) -> float:
    return found[0]


def _worst_median(values: list[tuple[float, Run]]) -> tuple[float, Run]:
    """The worst median of a slow set in a profile, and the worst run of that set."""

    def group(found: tuple[float, Run]) -> tuple[object, ...]:
        return (found[1].profile, found[1].places)

    found = []
    for _, members in groupby(sorted(values, key=group), key=group):
        of_group = list(members)
        _, worst_run = max(of_group, key=_value)
        found.append((median(map(_value, of_group)), worst_run))
    return max(found, key=_value)
