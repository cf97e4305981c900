"""The plan of a measurement: single runs, each a function of its fields and the submission."""

from dataclasses import dataclass, replace

from failslow.measurement.settings import FOLLOWER, Settings

LOW_JITTER = "low-jitter"
REALISTIC = "realistic"
NORMAL = "none"
DEAD = "dead"
LATENCY = "latency"
SATURATED = "saturated"
CAPACITY = "capacity"


@dataclass(frozen=True)
class Run:
    """One run of the measuring binary. Runs that differ only in fault and victim form a pair."""

    replicas: int
    profile: str
    load: str
    fault: str
    seed: int
    victim: str = FOLLOWER

    def with_fault(self, fault: str) -> "Run":
        """The run of the same pair with this fault on the same victim, or without any."""
        return replace(self, fault=fault, victim=FOLLOWER if fault == NORMAL else self.victim)

    def __str__(self) -> str:
        victim = "" if self.victim == FOLLOWER else f" on the {self.victim}"
        return (
            f"slow_follower with {self.replicas} replicas, {self.profile}, {self.load}, "
            f"fault {self.fault}{victim}, seed {self.seed}"
        )


def capacity_run(settings: Settings, replicas: int) -> Run:
    """The run that finds the capacity the loads of all others are fractions of."""
    return Run(replicas, LOW_JITTER, CAPACITY, NORMAL, settings.capacity_seed)


def plan(settings: Settings, seeds: int) -> list[Run]:
    """Every run but the capacity runs."""
    return [
        Run(replicas, profile, load, fault, seed, victim)
        for replicas in settings.replicas
        for seed in range(1, seeds + 1)
        for load in settings.loads
        for profile in (LOW_JITTER, REALISTIC)
        for fault, victim in _strikes(settings, replicas)
    ]


def _strikes(settings: Settings, replicas: int) -> list[tuple[str, str]]:
    """Every fault with its victim; the run without a fault once."""
    return [(NORMAL, FOLLOWER)] + [
        (fault, victim)
        for victim, points in settings.points.items()
        for fault in (*points[replicas], DEAD)
    ]
