"""The numbers of data/slow_follower.yaml."""

from dataclasses import dataclass
from typing import Any

from failslow import yaml_file


@dataclass(frozen=True)
class Bounds:
    """Limits; a figure equal to its limit still passes."""

    degradation: float
    lost_spare: float
    p99_ratio: float
    held_bytes: int
    catch_up_ns: int


@dataclass(frozen=True)
class Settings:
    """`points[replicas][fault]`; its order is the order of the graded rows."""

    replicas: tuple[int, ...]
    seeds: int
    loads: tuple[str, ...]
    capacity_seed: int
    bounds: Bounds
    capacity_floor: dict[int, float]
    points: dict[int, dict[str, int]]
    faults: dict[str, str]

    @property
    def total_points(self) -> int:
        return sum(sum(row.values()) for row in self.points.values())

    def describe(self, fault: str, replicas: int) -> str:
        """'the CPU of 1 of 3 replicas at 5 %'."""
        return self.faults[fault].format(slow=(replicas - 1) // 2, replicas=replicas)


def load_settings() -> Settings:
    content: dict[str, Any] = yaml_file.load(yaml_file.DATA / "slow_follower.yaml", "slow_follower")
    return Settings(
        replicas=tuple(content["replicas"]),
        seeds=content["seeds"],
        loads=tuple(content["loads"]),
        capacity_seed=content["capacity_seed"],
        bounds=Bounds(**content["bounds"]),
        capacity_floor=content["capacity_floor"],
        points=content["points"],
        faults=content["faults"],
    )
