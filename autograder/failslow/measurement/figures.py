"""Figures of one run, or of a pair of runs with the same arrivals. Pure functions."""

from collections.abc import Callable

from failslow.measurement.binary import Sample

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


def unanswered(sample: Sample) -> float:
    """The share of the offered operations that were never answered."""
    return sample.unanswered / sample.offered if sample.offered > 0 else NOTHING_COMPLETED


def held_bytes(sample: Sample) -> float:
    return float(sample.peak_held_bytes)


RESIDENT_STEP_BYTES = 64 << 20
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
    """The same for requests to other replicas without an answer."""
    return float(max(0, slow.pending_requests - base.pending_requests))


def catch_up_ns(sample: Sample) -> float:
    """Infinite if a replica never caught up."""
    return float("inf") if sample.catch_up_ns is None else float(sample.catch_up_ns)


def _ratio(base: Sample, slow: Sample, of: Callable[[Sample], int]) -> float:
    if base.completed <= 0 or slow.completed <= 0 or of(base) <= 0:
        return NOTHING_COMPLETED
    return of(slow) / of(base)
