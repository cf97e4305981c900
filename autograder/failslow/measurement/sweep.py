"""A sweep: the costs of faults of many strengths, apart from points. Pure functions.

A cell of the sweep is one fault with one number of replicas. It has the same pairs of runs as a
graded row, of the shape `before` and with little jitter.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import median

from failslow.lab.labs import ONE_FOLLOWER
from failslow.measurement import figures
from failslow.measurement.binary import Sample
from failslow.measurement.figures import PairFigure
from failslow.measurement.runs import (
    BEFORE,
    CAPACITY,
    LATENCY,
    LOW_JITTER,
    NORMAL,
    SATURATED,
    Places,
    Run,
    follower_sets,
    minority,
)
from failslow.measurement.settings import FOLLOWER

AND_FOLLOWERS = f"+{FOLLOWER}"
"""After a proposer's role: followers are slow, too, up to the largest minority."""

CAPACITY_SEEDS = 3
"""Runs whose median is the capacity."""


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep. With each seed other followers are slow, in turn.

    `victim`: FOLLOWER for the largest minority of followers, ONE_FOLLOWER, or a proposer's role,
    alone or with AND_FOLLOWERS. `proposers`: the number of replicas that are no followers.
    """

    replicas: tuple[int, ...]
    faults: tuple[str, ...]
    victim: str
    seeds: tuple[int, ...]
    proposers: int = 1

    def capacity(self, mix: str, replicas: int) -> list[Run]:
        """Their median throughput is the capacity. All other loads are fractions of it."""
        seeds = self.seeds[:CAPACITY_SEEDS]
        return [
            Run(replicas, LOW_JITTER, CAPACITY, BEFORE, NORMAL, seed, mix=mix) for seed in seeds
        ]

    def cell(self, replicas: int, fault: str) -> list[Run]:
        """The runs with this fault: every seed with both loads."""
        role = role_of(self.victim)
        return [
            Run(replicas, LOW_JITTER, load, BEFORE, fault, seed, places, role)
            for load in (LATENCY, SATURATED)
            for seed, places in zip(self.seeds, self._places(replicas), strict=False)
        ]

    def rest(self) -> list[Run]:
        """Every run but those of the capacity, each once."""
        slow = [
            run for size in self.replicas for fault in self.faults for run in self.cell(size, fault)
        ]
        return list(dict.fromkeys(each for run in slow for each in (run.with_fault(NORMAL), run)))

    def _places(self, replicas: int) -> Iterable[Places]:
        return cycle(follower_sets(replicas, self.proposers, self._slow_followers(replicas)))

    def _slow_followers(self, replicas: int) -> int:
        if self.victim == FOLLOWER:
            return minority(replicas)
        if self.victim == ONE_FOLLOWER:
            return 1
        return minority(replicas) - 1 if self.victim.endswith(AND_FOLLOWERS) else 0


def role_of(victim: str) -> str:
    """The role that a sweep's victim names first."""
    return FOLLOWER if victim == ONE_FOLLOWER else victim.removesuffix(AND_FOLLOWERS)


@dataclass(frozen=True)
class Spread:
    """The spread of one figure over the seeds."""

    median: float
    worst: float


@dataclass(frozen=True)
class Cell:
    """The costs of one fault. Shares are of 1, and negative for a gain; times in ns.

    The worst run counts for the longest latency, the stall, the unanswered commands, the bytes and
    the catch-up time, which may be infinite. `lag`: the least that a slow replica fell behind when
    saturated, in entries. `misbehaved` is the first sentence of a run in which a replica died or
    lied; then no figure means anything.
    """

    victim: str
    replicas: int
    fault: str
    throughput: Spread
    latency: Spread
    p99: float
    longest_ns: float
    stall_ns: float
    unanswered: float
    held_bytes: float
    heap_bytes: float
    catch_up_ns: float
    lag: int
    misbehaved: str | None


def cells(sweep: Sweep, samples: Mapping[Run, Sample]) -> list[Cell]:
    """In the order of the sweep: by the number of replicas, then by fault."""
    return [
        _cell(_Pairs(samples, sweep.cell(replicas, fault)), sweep.victim, replicas, fault)
        for replicas in sweep.replicas
        for fault in sweep.faults
    ]


def _cell(pairs: "_Pairs", victim: str, replicas: int, fault: str) -> Cell:
    return Cell(
        victim=victim,
        replicas=replicas,
        fault=fault,
        throughput=_spread(pairs.values(figures.throughput_degradation, SATURATED)),
        latency=_spread(pairs.values(figures.latency_degradation, LATENCY)),
        p99=median(pairs.values(figures.p99_ratio, LATENCY)),
        longest_ns=max(pairs.values(lambda _, slow: float(slow.longest_ns), LATENCY)),
        stall_ns=max(pairs.values(figures.stall_ns)),
        unanswered=max(pairs.values(lambda _, slow: figures.unanswered(slow), LATENCY)),
        held_bytes=max(pairs.values(figures.held_bytes)),
        heap_bytes=max(pairs.values(figures.heap_growth)),
        catch_up_ns=max(pairs.values(figures.catch_up_ns, LATENCY)),
        lag=int(min(pairs.values(lambda _, slow: float(slow.lag), SATURATED))),
        misbehaved=pairs.first(lambda sample: sample.violation or sample.error),
    )


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), max(values))


class _Pairs:
    """The runs of a cell, each with its counterpart without a fault."""

    def __init__(self, samples: Mapping[Run, Sample], runs: Sequence[Run]) -> None:
        self._runs = runs
        self._samples = samples

    def values(self, figure: PairFigure, load: str | None = None) -> list[float]:
        """The figure's values in the runs with this load, or with any."""
        return [
            figure(self._samples[run.with_fault(NORMAL)], self._samples[run])
            for run in self._runs
            if load in (None, run.load)
        ]

    def first(self, sentence: Callable[[Sample], str | None]) -> str | None:
        both = [each for run in self._runs for each in (run.with_fault(NORMAL), run)]
        return next((text for run in both if (text := sentence(self._samples[run]))), None)
