"""The loads: those for the costs, and others that test the predictions."""

from dataclasses import dataclass

from failslow.bench.load import Load


class Workload(Load):
    """A load that differs from others in the size of its values, too."""

    def describe(self) -> str:
        return f"{super().describe()}, {self.value_bytes:,} bytes"


@dataclass(frozen=True)
class Set:
    """Closed loops, and open ones at some percent of the throughput of `capacity`, a closed
    loop."""

    closed: tuple[Workload, ...]
    capacity: Workload
    open_percent: tuple[int, ...]

    def open_loops(self, capacity: float) -> list[Workload]:
        return [Workload(rate=round(capacity * each / 100) + 1) for each in self.open_percent]

    def __len__(self) -> int:
        return len(self.closed) + len(self.open_percent)


SMALL = Workload(128, value_bytes=16)
FITTED = Set(
    closed=(
        Workload(1),
        Workload(4),
        Workload(16),
        SMALL,
        Workload(8, value_bytes=4096),
        Workload(32, value_bytes=2048),
        Workload(128, value_bytes=512),
        Workload(192, value_bytes=128),
    ),
    capacity=SMALL,
    open_percent=(1, 10, 30, 55),
)
"""Each load has much of one thing: steps, frames, bytes, system calls or compactions. Values of
sixteen bytes tell the cost of a frame from that of a byte. An open loop sends many small bursts."""

LARGE = Workload(256)
VALIDATED = Set(
    closed=(Workload(64), LARGE, Workload(32, value_bytes=1024), Workload(16, value_bytes=4096)),
    capacity=LARGE,
    open_percent=(50, 70),
)
