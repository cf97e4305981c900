"""What is run: a plan of single runs, each a function of its fields and the submission."""

from dataclasses import dataclass, replace

from failslow.measurement.settings import Settings

LOW_JITTER = "low-jitter"
REALISTIC = "realistic"
NORMAL = "none"
DEAD = "dead"
LATENCY = "latency"
SATURATED = "saturated"
CAPACITY = "capacity"


@dataclass(frozen=True)
class Run:
    """One run of the measuring binary. Runs that differ only in `fault` form a pair."""

    replicas: int
    profile: str
    load: str
    fault: str
    seed: int

    def with_fault(self, fault: str) -> "Run":
        return replace(self, fault=fault)

    def __str__(self) -> str:
        return (
            f"slow_follower with {self.replicas} replicas, {self.profile}, {self.load}, "
            f"fault {self.fault}, seed {self.seed}"
        )


def capacity_run(settings: Settings, replicas: int) -> Run:
    """The run that finds the capacity the loads of all others are fractions of."""
    return Run(replicas, LOW_JITTER, CAPACITY, NORMAL, settings.capacity_seed)


def plan(settings: Settings, seeds: int) -> list[Run]:
    """Every run but the capacity runs."""
    return [
        Run(replicas, profile, load, fault, seed)
        for replicas in settings.replicas
        for seed in range(1, seeds + 1)
        for load in settings.loads
        for profile, faults in _faults_by_profile(settings, replicas)
        for fault in faults
    ]


def _faults_by_profile(settings: Settings, replicas: int) -> list[tuple[str, list[str]]]:
    slow = list(settings.points[replicas])
    return [(profile, [NORMAL, *slow, DEAD]) for profile in (LOW_JITTER, REALISTIC)]
