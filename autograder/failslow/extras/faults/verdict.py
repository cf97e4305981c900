"""The cost of a slow replica on real processes, and whether it is known well enough to say so.

Pure functions of slices: a slice is the latencies, in us, of the commands that ended in a tenth of
a second. The comparison is with the healthy cluster. That of a dead replica would flatter a system
that does not mask dead replicas, either.
"""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from failslow.extras.faults.stages import Slices
from failslow.measurement.settings import Loss

TOLERANT = Loss(throughput=0.05, latency=0.05)
"""The cost of a slow replica to a system that the papers call fail-slow tolerant."""
DISTURBED = 0.1
"""No slow replica gains this share: a healthy run that is slower was disturbed."""
OTHERS_CORES_MAX = 0.5
"""Other programs that use more than this beside a run make it no evidence."""
REPEATS = 2
"""The times that a run is made again which an election or a busy machine has disturbed."""
OTHERS_CORES = 0.15
"""A difference, in processors that other programs used, that makes costs of their own ..."""
OTHERS_COST_MAX = 0.5
"""... up to this share: a higher cost is the fault's."""
TRIMMED = 0.1
"""This share of the slices is left out at each end: a disk stalls, with and without a fault."""
RESAMPLES = 1000
CONFIDENCE = 0.9

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"


@dataclass(frozen=True)
class Cost:
    """A share, and the interval in which it is with CONFIDENCE."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Costs:
    latency: Cost
    throughput: Cost


@dataclass(frozen=True)
class Verdict:
    """`reason`: empty for PASS."""

    word: str
    reason: str = ""


def costs(healthy: Slices, slow: Slices) -> Costs:
    """Requires: neither is empty, and commands ended in some of the healthy slices."""
    draws = random.Random(1)
    latency, throughput = [], []
    for number in range(RESAMPLES + 1):
        chosen = [healthy, slow]
        if number > 0:  # the first are the data themselves
            chosen = [draws.choices(each, k=len(each)) for each in chosen]
        latency.append(_latency_cost(*chosen))
        throughput.append(_throughput_cost(*chosen))
    return Costs(_interval(latency), _interval(throughput))


def middle(shares: Sequence[float]) -> Cost:
    """The median of a cost's shares. Requires: some."""
    draws = random.Random(1)
    resamples = (draws.choices(shares, k=len(shares)) for _ in range(RESAMPLES))
    return _interval([statistics.median(each) for each in (shares, *resamples)])


def judge(
    measured: Costs,
    troubles: Sequence[str],
    others_cores: tuple[float, float] = (0.0, 0.0),
    limits: Loss = TOLERANT,
    disturbed: float = DISTURBED,
) -> Verdict:
    """`troubles`: what else a good system avoids, a sentence for each. `others_cores`: how many
    processors other programs used beside the healthy runs, and beside the slow ones. `limits`: what
    the slow replica may cost. `disturbed`: a gain of mean latency that no slow replica explains."""
    if troubles:
        return Verdict(FAIL, "; ".join(troubles))
    named = (
        ("mean latency", measured.latency, limits.latency),
        ("throughput", measured.throughput, limits.throughput),
    )
    healthy, slow = others_cores
    may_be_theirs = all(cost.low <= OTHERS_COST_MAX for _, cost, _ in named)
    if abs(slow - healthy) > OTHERS_CORES and may_be_theirs:
        return Verdict(
            INCONCLUSIVE,
            f"other programs used {100 * slow:.0f} % of a processor beside the slow runs, and"
            f" {100 * healthy:.0f} % beside the healthy ones",
        )
    for name, cost, limit in named:
        if cost.low > limit:
            return Verdict(FAIL, f"the slow replica costs {_percent(cost)} of {name}")
    for name, cost, limit in named:
        if cost.high > limit:
            return Verdict(
                INCONCLUSIVE,
                f"{_percent(cost)} of {name} is on both sides of {100 * limit:.0f} %: this machine"
                " is too noisy",
            )
    if measured.latency.value < -disturbed:
        return Verdict(
            INCONCLUSIVE,
            f"the healthy runs were slower by {-100 * measured.latency.value:.0f} %: something else"
            " ran beside them",
        )
    return Verdict(PASS)


def mean_latency(slices: Slices) -> float:
    """In us: the trimmed mean of the slices' means; 0 if no command ended."""
    means = sorted(statistics.fmean(slice_) for slice_ in slices if slice_)
    cut = int(len(means) * TRIMMED)
    kept = means[cut : len(means) - cut]
    return statistics.fmean(kept) if kept else 0.0


def throughput(slices: Slices) -> float:
    """Commands in a slice."""
    return statistics.fmean(len(slice_) for slice_ in slices)


def _latency_cost(healthy: Slices, slow: Slices) -> float:
    base = mean_latency(healthy)
    return mean_latency(slow) / base - 1 if base else 0.0


def _throughput_cost(healthy: Slices, slow: Slices) -> float:
    base = throughput(healthy)
    return 1 - throughput(slow) / base if base else 0.0


def _interval(values: Sequence[float]) -> Cost:
    """The first value is the estimate, the others are its resamples."""
    ordered = sorted(values[1:])
    outside = round(len(ordered) * (1 - CONFIDENCE) / 2)
    return Cost(values[0], ordered[outside], ordered[-1 - outside])


def _percent(cost: Cost) -> str:
    return f"{100 * cost.value:.1f} % ({100 * cost.low:.1f} to {100 * cost.high:.1f})"
