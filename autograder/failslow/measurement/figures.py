"""Figures of one run, or of a pair of runs with the same arrivals. Pure functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from failslow.measurement.binary import Onset, Sample
from failslow.measurement.formatting import growth, percent, seconds, size

PairFigure = Callable[[Sample, Sample], float]
"""From the run that it is compared with, and the run with the slow replicas."""

NOTHING_COMPLETED = float("inf")
"""Runs that cannot be compared, because one of them completed nothing: beyond all limits."""

WINDOW_NS = 100_000_000
"""The length of each window that `Sample.completions` counts."""


def throughput_degradation(base: Sample, slow: Sample) -> float:
    """The share of throughput lost: 0 for none, 1 for all of it."""
    if base.throughput <= 0:
        return NOTHING_COMPLETED
    return 1.0 - slow.throughput / base.throughput


def latency_degradation(base: Sample, slow: Sample) -> float:
    """The share that average latency grew by: 0 for none, 1 for a doubling."""
    return _ratio(base, slow, lambda sample: sample.mean_ns) - 1.0


def median_latency_degradation(base: Sample, slow: Sample) -> float:
    return _ratio(base, slow, lambda sample: sample.p50_ns) - 1.0


def p99_ratio(base: Sample, slow: Sample) -> float:
    return _ratio(base, slow, lambda sample: sample.p99_ns)


def stall_ns(base: Sample, slow: Sample) -> float:
    """The longest time in which every window had less than half of the answers that `base` had on
    average. A mean over the run hides such a stall."""
    if base.completed <= 0 or not base.completions:
        return NOTHING_COMPLETED
    half = sum(base.completions) / len(base.completions) / 2
    longest = length = 0
    for completed in slow.completions:
        length = length + 1 if completed < half else 0
        longest = max(longest, length)
    return float(longest * WINDOW_NS)


def over_capacity(capacity: Sample, normal: Sample) -> float:
    """The share by which a run without a fault exceeds the capacity. A submission that is slow in
    the runs of the capacity alone is never saturated."""
    if capacity.throughput <= 0:
        return NOTHING_COMPLETED
    return normal.throughput / capacity.throughput - 1.0


def unanswered(sample: Sample) -> float:
    """The share of the offered operations that were never answered."""
    return sample.unanswered / sample.offered if sample.offered > 0 else NOTHING_COMPLETED


def most_unanswered(base: Sample, slow: Sample) -> float:
    """The larger share of the two: a submission must not drop commands without a fault, either."""
    return max(unanswered(base), unanswered(slow))


def held_bytes(_: Sample, slow: Sample) -> float:
    return float(slow.peak_held_bytes)


RESIDENT_STEP_BYTES = 16 << 20
"""Resident memory is the machine's figure, and another one in each run: less does not count."""
STACK_BYTES = 256 << 10


def heap_growth(base: Sample, slow: Sample) -> float:
    """The bytes by which the largest heap of a healthy replica grew: a backlog of its own.

    The heap is the replica's claim. If its process grew by much more than the claim explains, that
    counts: a claim that is too large in both runs hides nothing."""
    claimed = max(0, slow.peak_heap_bytes - base.peak_heap_bytes)
    stacks = STACK_BYTES * max(0, slow.unfinished_coroutines - base.unfinished_coroutines)
    unexplained = slow.resident_bytes - base.resident_bytes - 2 * claimed - stacks
    return float(max(claimed, unexplained // RESIDENT_STEP_BYTES * RESIDENT_STEP_BYTES))


def coroutine_growth(base: Sample, slow: Sample) -> float:
    """The coroutines that did not end, beyond those of the run without the fault."""
    return float(max(0, slow.unfinished_coroutines - base.unfinished_coroutines))


def request_growth(base: Sample, slow: Sample) -> float:
    """Growth in requests to other replicas without an answer."""
    return float(max(0, slow.pending_requests - base.pending_requests))


def catch_up_ns(_: Sample, slow: Sample) -> float:
    """Infinite if a replica never caught up."""
    return float("inf") if slow.catch_up_ns is None else float(slow.catch_up_ns)


def fast_again_ns(base: Sample, _: Sample) -> float:
    """The time until dead replicas, which return at the window's end, are fast again."""
    return float("inf") if base.fast_again_ns is None else float(base.fast_again_ns)


def normal_p99_ns(base: Sample, _: Sample) -> float:
    return float(base.p99_ns)


def committed_slowly(_: Sample, slow: Sample) -> float:
    """The share of entries, of a log with a fast mode and a slow one."""
    return slow.slowly


def lag(_: Sample, slow: Sample) -> float:
    return float(slow.lag)


BASELINE_SLICES = 100
"""Before the fault: 10 s."""
AFTERWARDS_SLICES = 20
"""At the window's end, a second after the fault."""
FOUND_SLICES = 20
"""From the begin of the fault: 2 s, in which it is found."""
GOOD = 2.0
"""A slice is good up to this many times the mean latency of the baseline, ..."""


def _onset(slow: Sample) -> Onset:
    assert slow.onset is not None, "the shape of the run has an onset"
    return slow.onset


def _baseline(values: Sequence[int], onset: Onset) -> Sequence[int]:
    return values[onset.fault_from - BASELINE_SLICES : onset.fault_from]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def onset_loss(_: Sample, slow: Sample) -> float:
    """The share of throughput lost while the fault lasted, against the time before it (document
    004, section 2.2)."""
    onset = _onset(slow)
    before = _mean(_baseline(slow.completions, onset))
    during = _mean(slow.completions[onset.fault_from : onset.fault_to])
    return 1.0 - during / before if before > 0 else NOTHING_COMPLETED


def onset_loss_later(_: Sample, slow: Sample) -> float:
    """Loss in the fault's time from FOUND_SLICES on."""
    onset = _onset(slow)
    before = _mean(_baseline(slow.completions, onset))
    later = _mean(slow.completions[onset.fault_from + FOUND_SLICES : onset.fault_to])
    return 1.0 - later / before if before > 0 else NOTHING_COMPLETED


def worst_second(_: Sample, slow: Sample) -> float:
    """Loss in the worst second of the fault."""
    onset = _onset(slow)
    before = _mean(_baseline(slow.completions, onset))
    seconds = range(onset.fault_from, onset.fault_to - 9)
    worst = min(_mean(slow.completions[at : at + 10]) for at in seconds)
    return 1.0 - worst / before if before > 0 else NOTHING_COMPLETED


def recovery_ns(_: Sample, slow: Sample) -> float:
    """From the begin of the fault until all slices are good again, but for lone ones.

    ... or up to the worst slice of the baseline, and it has half of its answers. A snapshot for the
    slow replica makes one slice bad."""
    onset = _onset(slow)
    usual = _baseline(onset.means_ns, onset)
    longest = max(GOOD * _mean(usual), max(usual, default=0))
    least = _mean(_baseline(slow.completions, onset)) / 2
    if least <= 0:
        return NOTHING_COMPLETED
    slices = zip(onset.means_ns, slow.completions, strict=True)
    bad = {at for at, (mean, count) in enumerate(slices) if mean > longest or count < least}
    lasting = (at for at in bad if at >= onset.fault_from and bad & {at - 1, at + 1})
    last = max(lasting, default=onset.fault_from - 1)
    return float((last + 1 - onset.fault_from) * WINDOW_NS)


def replaced_ns(_: Sample, slow: Sample) -> float:
    """From the begin of the fault until another replica leads; infinite if none does meanwhile."""
    onset = _onset(slow)
    later = (at for at in onset.new_proposers if onset.fault_from <= at < onset.fault_to)
    first = next(later, None)
    return float("inf") if first is None else float((first - onset.fault_from) * WINDOW_NS)


def latency_during(_: Sample, slow: Sample) -> float:
    """The share by which mean latency grew while the fault lasted."""
    onset = _onset(slow)
    return _growth(onset.means_ns, onset, onset.means_ns[onset.fault_from : onset.fault_to])


def _growth(means_ns: Sequence[int], onset: Onset, later_ns: Sequence[int]) -> float:
    before = _mean(_baseline(means_ns, onset))
    return _mean(later_ns) / before - 1.0 if before > 0 else NOTHING_COMPLETED


def loss_afterwards(_: Sample, slow: Sample) -> float:
    before = _mean(_baseline(slow.completions, _onset(slow)))
    after = _mean(slow.completions[-AFTERWARDS_SLICES:])
    return 1.0 - after / before if before > 0 else NOTHING_COMPLETED


def latency_afterwards(_: Sample, slow: Sample) -> float:
    onset = _onset(slow)
    return _growth(onset.means_ns, onset, onset.means_ns[-AFTERWARDS_SLICES:])


def needless_leaders(base: Sample, _: Sample) -> float:
    """Replicas that began to lead in the run without a fault."""
    return float(len(_onset(base).new_proposers))


def clients_sent_away(base: Sample, _: Sample) -> float:
    """In the run without a fault, the part of its share of the commands that the least helpful
    replica did not answer."""
    return _sent_away(base, 0)


def clients_kept_away(_: Sample, slow: Sample) -> float:
    """Clients sent away after the fault, when clients have returned."""
    return _sent_away(slow, -AFTERWARDS_SLICES)


def _sent_away(sample: Sample, since: int) -> float:
    """All replicas have as many commands. A message beyond one for each may be a refusal, and count
    against the replica with the fewest."""
    answers = [sum(each[since:]) for each in _onset(sample).answers]
    completed = sum(sample.completions[since:])
    if completed <= 0:
        return NOTHING_COMPLETED
    refused = max(0, sum(answers) - completed)
    return 1.0 - len(answers) * (min(answers) - refused) / completed


def _ratio(base: Sample, slow: Sample, of: Callable[[Sample], int]) -> float:
    if base.completed <= 0 or slow.completed <= 0 or of(base) <= 0:
        return NOTHING_COMPLETED
    return of(slow) / of(base)


@dataclass(frozen=True)
class Figure:
    """`of`: its value. `unit`: a value or limit in its unit. `happened`: a sentence on a value.
    `free`: its value if the fault costs nothing. `is_normal`: of the run without a fault alone."""

    of: PairFigure
    unit: Callable[[float], str]
    happened: Callable[[float], str]
    free: float = 0.0
    is_normal: bool = False


def _number(value: float) -> str:
    return f"{value:.0f}"


def _happened(text: str, unit: Callable[[float], str]) -> Callable[[float], str]:
    return lambda value: text.format(unit(value))


def _figure(of: PairFigure, unit: Callable[[float], str], text: str) -> Figure:
    return Figure(of, unit, _happened(text, unit))


THROUGHPUT = "throughput"
MEAN_LATENCY = "latency"

FIGURES = {
    THROUGHPUT: _figure(throughput_degradation, percent, "throughput fell by {}"),
    MEAN_LATENCY: Figure(
        latency_degradation, percent, lambda value: f"average latency {growth(value)}"
    ),
    # A few very late answers raise the mean of the normal run, and hide what all others lose.
    "median latency": Figure(
        median_latency_degradation, percent, lambda value: f"the median latency {growth(value)}"
    ),
    "unanswered": _figure(most_unanswered, percent, "{} of the commands were never answered"),
    "stall": _figure(
        stall_ns, seconds, "fewer than half of the usual answers came for {} without a break"
    ),
    "throughput over capacity": _figure(
        over_capacity,
        percent,
        "without a fault, throughput was {} above the capacity, which was measured first",
    ),
    "p99": Figure(
        p99_ratio,
        lambda value: f"{value:.2f}x",
        lambda value: f"the 99th percentile of latency grew {value:.1f} times",
        free=1.0,
    ),
    "held bytes": _figure(held_bytes, size, "a replica held up to {} for its peers"),
    "heap": _figure(heap_growth, size, "the heap of a healthy replica was up to {} larger"),
    "coroutines": _figure(
        coroutine_growth, _number, "a healthy replica had up to {} more coroutines that did not end"
    ),
    "requests": _figure(
        request_growth, _number, "a healthy replica had up to {} more requests without an answer"
    ),
    "catch-up": _figure(
        catch_up_ns, seconds, "the slow replicas took {} to catch up after healing"
    ),
    "fast again": _figure(
        fast_again_ns, seconds, "dead replicas were back for {} before the log was in fast mode"
    ),
    "normal p99": Figure(
        normal_p99_ns,
        seconds,
        _happened("without a fault, the 99th percentile of latency was {}", seconds),
        is_normal=True,
    ),
    "slow commits": _figure(
        committed_slowly, percent, "{} of the commands were committed in slow mode"
    ),
    "lag": _figure(lag, lambda value: f"{value:.0f} entries", "the slow replicas were {} behind"),
    "loss": _figure(onset_loss, percent, "while the fault lasted, throughput was {} lower"),
    "loss from 2 s on": _figure(
        onset_loss_later, percent, "from 2 s after the begin of the fault, throughput was {} lower"
    ),
    "loss of a client": _figure(
        onset_loss_later,
        percent,
        "from 2 s after the begin of the fault, a client that asks all replicas in turn had {} less"
        " throughput",
    ),
    "replaced": _figure(replaced_ns, seconds, "another replica led after {}"),
    "worst second": _figure(
        worst_second, percent, "in the worst second of the fault, throughput was {} lower"
    ),
    "recovery": _figure(recovery_ns, seconds, "{} passed until all was as before the fault"),
    "latency meanwhile": Figure(
        latency_during,
        percent,
        lambda value: f"while the fault lasted, average latency {growth(value)}",
    ),
    "loss afterwards": _figure(
        loss_afterwards, percent, "after the fault, throughput was {} lower than before it"
    ),
    "latency afterwards": Figure(
        latency_afterwards,
        percent,
        lambda value: f"after the fault, average latency {growth(value)}",
    ),
    "clients sent away": _figure(
        clients_sent_away,
        percent,
        "without a fault, a replica did not answer {} of the commands of its clients",
    ),
    "clients kept away": _figure(
        clients_kept_away,
        percent,
        "8 s after the fault, a replica did not answer {} of the commands of its clients",
    ),
    "needless leaders": _figure(
        needless_leaders, _number, "without a fault, another replica began to lead {} times"
    ),
}
"""Those of which a settings file may bound any."""
