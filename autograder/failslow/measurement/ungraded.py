"""The part of a report without points: a slow leader, and other strengths of a fault.

A slow leader slows its followers down: quorums do not help against it, a second leader does. And
the strongest fault is not always the worst (document 004, danger zones): a weak one may stay
unnoticed.
"""

from failslow.measurement.settings import FOLLOWER, Seeds
from failslow.measurement.sweep import Sweep

REPLICAS = 3

OF_A_FOLLOWER = (
    "net-slow-1ms",
    "net-slow-3ms",
    "net-slow-10ms",
    "net-slow-1s",
    "fs-delay-1ms",
    "fs-delay-10ms",
    "fs-delay-1s",
    "packet-loss-1-percent",
    "packet-loss-10-percent",
    "packet-loss-70-percent",
)
OF_A_PROPOSER = (
    "cpu-slow-leader",
    "cpu-contention-leader",
    "disk-slow",
    "net-slow-40ms",
    "packet-loss-1-percent",
)
"""Names of presets. A grade has a few seconds for these runs."""


def sweeps(roles: tuple[str, ...], seed_of: Seeds) -> list[Sweep]:
    """Sweeps of followers, then of each proposer. `roles`: of proposers in order, then of others.

    Their runs belong to one seed of the course key.
    """
    seeds = (seed_of("measurement ungraded", 0),)
    proposers = roles[:-1]
    victims = [(FOLLOWER, OF_A_FOLLOWER), *((role, OF_A_PROPOSER) for role in proposers)]
    return [Sweep((REPLICAS,), faults, victim, seeds, len(proposers)) for victim, faults in victims]


def title(roles: tuple[str, ...]) -> str:
    """'other strengths, and a slow leader'. `roles`: as for `sweeps`."""
    return f"other strengths, and a slow {' or '.join(roles[:-1])}"
