"""The processor time that other programs take beside an experiment.

A fault and a browser that wakes up in the wrong second look the same to a clock. The kernel counts
the time of all processors. What the experiment's own processes have not used was somebody else's,
or the kernel's.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.extras.cluster import replica_processes

STAT = Path("/proc/stat")
_IDLE = (3, 4)
"""Places of the times in which a processor did nothing: idle, and idle with a disk under way."""
_GUEST = 8
"""Times from here on are counted in others, too."""


class Neighbours:
    """Counts from its making on. `own`: the experiment's processes, beside this one. One that is
    started later counts as others, and so does the rest of one that has ended."""

    def __init__(self, own: Sequence[int]) -> None:
        self._own = own
        self._began = self._now()

    def cores(self) -> float:
        """The processors that the others have used on average until now."""
        began, now = self._began, self._now()
        own_s = sum(max(0.0, now.own_s[pid] - began.own_s[pid]) for pid in self._own)
        others_s = now.machine_s - began.machine_s - own_s - (now.kit_s - began.kit_s)
        return max(0.0, others_s / (now.clock_s - began.clock_s))

    def _now(self) -> "_Reading":
        own_s = {pid: (replica_processes.cpu_ms(pid) or 0) / 1000 for pid in self._own}
        return _Reading(time.monotonic(), _machine_s(), time.process_time(), own_s)


@dataclass(frozen=True)
class _Reading:
    """Times until now: of the clock, and of processors."""

    clock_s: float
    machine_s: float
    kit_s: float
    own_s: dict[int, float]


def _machine_s() -> float:
    """The time that all processors have worked since the machine started."""
    words = STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    ticks = sum(int(word) for at, word in enumerate(words[:_GUEST]) if at not in _IDLE)
    return ticks / os.sysconf("SC_CLK_TCK")
