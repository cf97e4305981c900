"""Processor time as the kernel keeps it: of processes, and of cores."""

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo

CORES = ("cpu0", "cpu1")
"""The replicas', and the load generator's: see failslow.extras.bench.servers."""


@dataclass(frozen=True)
class Instant:
    """Totals. `used_ns`: the processor time of the processes together. `busy` and `ticks`: the
    kernel's ticks by core, without and with idle ones."""

    at: float
    used_ns: int
    busy: dict[str, int]
    ticks: dict[str, int]


def read(processes: Sequence[int]) -> Instant:
    """CannotDo when a process has gone or the kernel keeps no such numbers."""
    busy, ticks = _cores()
    return Instant(time.monotonic(), sum(map(_used_ns, processes)), busy, ticks)


def used_by_processes(first: Instant, last: Instant) -> float:
    """The share of a core."""
    return (last.used_ns - first.used_ns) / ((last.at - first.at) * 1e9)


def busy(first: Instant, last: Instant) -> float:
    """The shares of all cores."""
    return sum(_busy_share(first, last, core) for core in CORES)


def of_children() -> float:
    """Processor time, in seconds, of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _busy_share(first: Instant, last: Instant, core: str) -> float:
    ticks = last.ticks[core] - first.ticks[core]
    return (last.busy[core] - first.busy[core]) / ticks if ticks else 0.0


def _used_ns(process: int) -> int:
    """The processor time of all threads that live."""
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    except (OSError, ValueError, IndexError) as error:
        raise CannotDo(f"the processor time of process {process} is not there: {error}") from error


def _cores() -> tuple[dict[str, int], dict[str, int]]:
    busy, ticks = {}, {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *numbers = line.split()
        if name in CORES:
            # user, nice, system, idle, iowait, irq, softirq, steal; the later fields are part of
            # user
            times = [int(number) for number in numbers[:8]]
            ticks[name] = sum(times)
            busy[name] = ticks[name] - times[3] - times[4]
    if len(ticks) < len(CORES):
        raise CannotDo("this needs two cores: one for the replicas, one for the clients")
    return busy, ticks
