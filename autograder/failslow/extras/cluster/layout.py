"""The paths of the parts of a cluster's data directory. Nothing else builds these paths."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """`data` is absolute and free of links: replicas carry it on their command lines, by which
    they are found again."""

    data: Path

    @property
    def state(self) -> Path:
        return self.data / "cluster.json"

    def program(self, lab_id: str) -> Path:
        """A copy: a later build does not change the program that a restart runs."""
        return self.data / f"{lab_id}_real"

    def replica(self, number: int) -> Path:
        """The replica's own data directory."""
        return self.data / f"replica-{number}"

    def log(self, number: int) -> Path:
        return self.data / f"replica-{number}.log"

    def earlier_log(self, number: int) -> Path:
        return self.data / f"replica-{number}.log.1"

    def metrics(self, number: int) -> Path:
        return self.data / f"replica-{number}.metrics"

    def faults(self, number: int) -> Path:
        """The file through which its faults of disk and network are injected."""
        return self.data / f"replica-{number}.faults"

    def effect_counts(self, number: int, what: str) -> Path:
        """The counts that prove that a fault has an effect (faults/effect_counts.py)."""
        return self.data / f"replica-{number}.{what}"

    def injection(self, number: int, kind: str) -> Path:
        """The injector of this kind of fault into the replica, while it lasts."""
        return self.data / f"replica-{number}.{kind}.injection"

    def injections(self) -> list[Path]:
        """All of them."""
        return sorted(self.data.glob("replica-*.injection"))

    @property
    def load(self) -> Path:
        """The latest results of a load generator that runs beside the replicas."""
        return self.data / "load.json"

    def verification(self, number: int) -> Path:
        """A line of JSON for each window, of a replica that verifies itself."""
        return self.data / f"replica-{number}.verification"


def layout_of(data: Path) -> Layout:
    return Layout(data.resolve())
