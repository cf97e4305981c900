"""A replica's metrics file: one line of JSON a second, counters as totals since its start."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.extras.cluster.tail import last_lines


@dataclass(frozen=True)
class Metrics:
    """The last line and, for rates, the one before it (None if there is none)."""

    last: dict[str, Any]
    before: dict[str, Any] | None

    @property
    def uptime_ms(self) -> int:
        return int(self.last["uptime_ms"])

    @property
    def disk_failure(self) -> str:
        """Why the replica is out of service; empty while it serves."""
        return str(self.last["disk_failure"])

    def rate(self, *counters: str) -> float | None:
        """Sum of the counters' growth per second, between the last two lines."""
        if self.before is None or self.uptime_ms <= self.before["uptime_ms"]:
            return None
        growth: float = sum(self.last[name] - self.before[name] for name in counters)
        return growth * 1000 / (self.uptime_ms - int(self.before["uptime_ms"]))

    def observed(self, kind: int, value: int) -> int | None:
        """One value of the latest observation of a kind; None if there was none."""
        values = self.values(kind)
        return values[value] if value < len(values) else None

    def values(self, kind: int) -> list[int]:
        """All of the latest observation of a kind; none if there was none."""
        found: list[int] = self.last["observed"].get(str(kind), [])
        return found


def read(path: Path) -> Metrics | None:
    """None when there is no whole line yet."""
    lines = [json.loads(line) for line in last_lines(path)]
    if not lines:
        return None
    return Metrics(last=lines[-1], before=lines[-2] if len(lines) > 1 else None)
