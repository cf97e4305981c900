"""The numbers of a lab's file of settings."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from failslow import yaml_file
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.labs import Lab

FOLLOWER = "follower"
"""The victims of most rows: the largest minority. A row or run that names no victim has these."""


@dataclass(frozen=True)
class Bounds:
    """Limits; a figure equal to its limit still passes. Times are in ns, shares of 1."""

    degradation: float
    worst_degradation: float
    unanswered: float
    stall_ns: int
    p99_ratio: float
    held_bytes: int
    heap_bytes: int
    unfinished_coroutines: int
    pending_requests: int
    catch_up_ns: int
    long_catch_up_ns: int
    lag_entries: int
    lag_between: dict[str, int]


@dataclass(frozen=True)
class Baseline:
    """Bounds on the runs without a fault, by the number of replicas."""

    throughput_floor: dict[int, float]
    latency_ceiling_ns: dict[int, int]
    above_ceiling: float


@dataclass(frozen=True)
class Rates:
    """`capacity_rate` in operations per second; the loads in per cent of the capacity."""

    capacity_rate: float
    capacity_seeds: int
    latency_percent: int
    saturated_percent: int


@dataclass(frozen=True)
class Settings:
    """`points[victim][replicas][fault]`; its order is the order of the graded rows. `seeds` is the
    number of each shape's seeds, `shares` the per cent of a row's points by group of figures."""

    replicas: tuple[int, ...]
    slow_sets: int
    seeds: dict[str, int]
    rates: Rates
    baseline: Baseline
    bounds: Bounds
    shares: dict[str, int]
    points: dict[str, dict[int, dict[str, int]]]
    faults: dict[str, str]

    @property
    def total_points(self) -> int:
        rows = [row for by_replicas in self.points.values() for row in by_replicas.values()]
        return sum(sum(row.values()) for row in rows)

    def brief(self, is_wanted: Callable[[str, int, str], bool]) -> "Settings":
        """Fewer runs: one slow set, and the rows (victim, replicas, fault) that are wanted."""
        points = {
            victim: {
                replicas: {
                    fault: row for fault, row in rows.items() if is_wanted(victim, replicas, fault)
                }
                for replicas, rows in by_replicas.items()
            }
            for victim, by_replicas in self.points.items()
        }
        left = {
            replicas
            for by_replicas in points.values()
            for replicas, rows in by_replicas.items()
            if rows
        }
        sizes = tuple(each for each in self.replicas if each in left)
        return replace(self, replicas=sizes, slow_sets=1, points=points)

    def describe(self, fault: str, replicas: int, victim: str = FOLLOWER) -> str:
        """'the CPU of 1 of 3 replicas at 5 %'; a victim that is no follower is added."""
        slow = (replicas - 1) // 2 if victim == FOLLOWER else 1
        text = self.faults[fault].format(slow=slow, replicas=replicas)
        return text if victim == FOLLOWER else f"{text} (the {victim})"


def load_settings(kit: Kit, lab: Lab) -> Settings:
    """CannotDo when the file is not as it must be. Requires: the lab has a measurement."""
    assert lab.measurement is not None
    path = kit.labs / lab.directory / lab.measurement.settings
    content: dict[str, Any] = yaml_file.load(path, "slow_follower")
    if set(content["points"]) != set(lab.measurement.victims):
        raise CannotDo(f"{path}: points: they must be for the victims that lab.yaml names")
    if sum(content["shares"].values()) != 100:
        raise CannotDo(f"{path}: shares: they must add up to 100 per cent")
    return Settings(
        replicas=tuple(content["replicas"]),
        slow_sets=content["slow_sets"],
        seeds=content["seeds"],
        rates=Rates(**content["rates"]),
        baseline=Baseline(**content["baseline"]),
        bounds=Bounds(**content["bounds"]),
        shares=content["shares"],
        points=content["points"],
        faults=content["faults"],
    )
