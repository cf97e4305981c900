"""The calibrated machine, as predict_raft reads it."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from failslow.calibration.device import Disk, Wakeup
from failslow.calibration.fit import BLOCK_BYTES, Fit
from failslow.calibration.load_run import Row

FRAMES_PER_CONNECTION, FRAMES_PER_STEP = 256, 1 << 15
"""The maximum that the real host reads in a turn: frames_per_turn_max of network.h, from as many
connections as EventLoop takes events."""
WINDOW_BYTES = 4 << 20
"""Of a connection on the loopback: about the most bytes that the kernel takes before they are
read."""
WIRE_BYTES_PER_SECOND = 10**14
"""The loopback has no wire: the cost of a byte is processor time. The rate is so high that the
frames of one system call arrive in the same nanosecond. A nanosecond apart, the first frame would
wake a sleeping receiver, which would read it alone."""

Section = dict[str, int]
"""Whole numbers; durations in nanoseconds, and named so."""


@dataclass(frozen=True)
class Costs:
    """The measured costs. `overhead`: the kernel's work on the replicas' core that is not in their
    processor time, as a share of that time."""

    loop: Fit
    disk_thread: Fit
    client: Fit
    disk: Disk
    wakeup: Wakeup
    overhead: float


def overhead(rows: Sequence[Row]) -> float:
    return statistics.median(row.overhead for row in rows)


def build(costs: Costs) -> dict[str, Section]:
    return {
        "cpu": _cpu(costs),
        "disk": _disk(costs.disk),
        "net": {
            # A frame has arrived when the sender's system call has ended. The rest of the time
            # until the receiver runs is a switch or a wake-up.
            "latency_ns": 0,
            "latency_spread_permille": 0,
            "latency_tail_permille": 0,
            "latency_tail_factor": 1,
            "bytes_per_second": WIRE_BYTES_PER_SECOND,
            "window_bytes": WINDOW_BYTES,
        },
        "client": {
            **_nanoseconds(costs.client.costs),
            "wake_ns": costs.wakeup.wake_ns,
        },
    }


def _cpu(costs: Costs) -> Section:
    loop, disk = dict(costs.loop.costs), costs.disk_thread.costs
    loop["per_io"] += disk["per_io"]
    loop["per_io_kib"] += disk["per_io_kib"]
    for name in ("per_batch", "per_growth", "per_directory"):
        loop[name] = disk[name]
    return {
        **_nanoseconds(loop, 1 + costs.overhead),
        "per_switch_ns": costs.wakeup.switch_ns,
        "wake_ns": costs.wakeup.wake_ns,
        "frames_per_connection_max": FRAMES_PER_CONNECTION,
        "frames_per_step_max": FRAMES_PER_STEP,
    }


def _disk(disk: Disk) -> Section:
    return {"per_batch_ns": 0, **asdict(disk), "block_bytes": BLOCK_BYTES}


def _nanoseconds(costs: Mapping[str, float], factor: float = 1.0) -> Section:
    return {f"{name}_ns": round(1e9 * factor * cost) for name, cost in costs.items()}
