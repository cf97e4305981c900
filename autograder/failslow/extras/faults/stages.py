"""A run of three stages, before a fault, with it and after it, and the figures of document 004.

All figures compare stages of one run, so no other run is needed, and a new leader is a part of it.
Pure functions of slices: the latencies, in us, of the commands that ended in each tenth of a
second. Runs on real processes and in virtual time have the same figures.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Slices = Sequence[Sequence[int]]

SLICE_MS = 100
LATE_US = 100_000
"""The warning threshold of HBase (document 004, Table 3): slower commands are counted."""


@dataclass(frozen=True)
class Stages:
    """`began_s`: when the fault began, from the first slice, and `hold_s`: how long it held.

    Requires: at least a slice before the fault, and one after it."""

    slices: Slices
    began_s: float
    hold_s: float

    @property
    def before(self) -> Slices:
        return self.slices[: int(self.began_s * 1000 / SLICE_MS)]

    @property
    def slow(self) -> Slices:
        """The slices that the fault held for, whole or in part."""
        return self.slices[int(self.began_s * 1000 / SLICE_MS) : self._end]

    @property
    def after(self) -> Slices:
        return self.slices[self._end :]

    @property
    def _end(self) -> int:
        return math.ceil(round((self.began_s + self.hold_s) * 1000 / SLICE_MS, 6))

    @property
    def degradation(self) -> float:
        """(avg_normal - avg_slow) / avg_normal (document 004, section 2.2)."""
        return 1 - _rate(self.slow) / _rate(self.before)

    @property
    def recovery_s(self) -> float | None:
        """The time from the end of the fault to the first slice with a throughput of
        avg_normal - sd_normal (document 004, appendix E). None if there is none."""
        return self._recovered_s(self.after, 1)

    @property
    def outage_s(self) -> float | None:
        """The time from the begin of the fault to the first second with that throughput, under the
        fault. A slice alone may have commands of before. None if there is none."""
        return self._recovered_s(self.slow, 1000 // SLICE_MS)

    def _recovered_s(self, slices: Slices, count: int) -> float | None:
        counts = [len(each) for each in self.before]
        threshold = statistics.fmean(counts) - statistics.pstdev(counts)
        for number in range(len(slices) - count + 1):
            if _rate(slices[number : number + count]) >= threshold:
                return round(number * SLICE_MS / 1000, 1)
        return None

    @property
    def residue(self) -> float:
        """avg_residual / avg_normal (document 004, appendix F)."""
        return _rate(self.after) / _rate(self.before)

    @property
    def p99_growth(self) -> float:
        """The 99th percentile of the whole run by that before the fault: a share, 0 for none. The
        whole run counts because that is what a monitor sees (document 004, section 3.5)."""
        return percentile(self.slices, 990) / percentile(self.before, 990) - 1

    @property
    def latency_growth(self) -> float:
        """Growth of mean latency under the fault. Infinite if nothing ended then."""
        slow = [latency for each in self.slow for latency in each]
        usual = [latency for each in self.before for latency in each]
        return statistics.fmean(slow) / statistics.fmean(usual) - 1 if slow else math.inf

    @property
    def late(self) -> int:
        """The commands that ended under the fault and took longer than LATE_US."""
        return sum(latency > LATE_US for each in self.slow for latency in each)


def percentile(slices: Slices, permille: int) -> int:
    """By nearest rank. Requires: some command ended."""
    ordered = sorted(latency for each in slices for latency in each)
    return ordered[max(1, math.ceil(len(ordered) * permille / 1000)) - 1]


def _rate(slices: Slices) -> float:
    """Commands in a slice. 0 for no slices."""
    return statistics.fmean(len(each) for each in slices) if slices else 0.0
