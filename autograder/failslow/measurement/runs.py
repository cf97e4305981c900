"""The plan of a measurement: a pure function of its settings and of a source of seeds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from failslow.lab.labs import ONE_FOLLOWER
from failslow.measurement.settings import FOLLOWER, STEADY, SUBMIT, Graded, Seeds, Settings

LOW_JITTER = STEADY
REALISTIC = "realistic"
SLOW_DISK = "slow-disk"
NORMAL = "none"
DEAD = "dead"
LATENCY = "latency"
CLOSED = "closed"
SPREAD = "spread"
"""One client that asks all replicas in turn. Several would crowd those that stay."""
FULL = "full"
SATURATED = "saturated"
CAPACITY = "capacity"

OPPOSITE = "opposite"
"""In place of a profile: the opposite of the settings' world."""

BEFORE = "before"
UNDER = "under"
FLAPPING = "flapping"
LONG = "long"
ONSET = "onset"
LONG_ONSET = "long-onset"
RETURN = "return"
SHIFT = "shift"
SHIFT_RETURN = "shift-return"
CHANGING = "changing"

WORLDS = frozenset(
    {
        "world-near-quick",
        "world-near-slow-disk",
        "world-usual",
        "world-usual-costly",
        "world-far",
        "world-far-slow-disk",
        "world-very-far",
    }
)
"""Profiles of which the settings may draw one."""

PROFILES = frozenset({LOW_JITTER, REALISTIC, SLOW_DISK}) | WORLDS
LOADS = frozenset({LATENCY, SATURATED, CLOSED, SPREAD, FULL})
SHAPES = frozenset(
    {BEFORE, UNDER, FLAPPING, LONG, ONSET, LONG_ONSET, RETURN, SHIFT, SHIFT_RETURN, CHANGING}
)
IN_SHORT = {LONG_ONSET: ONSET, SHIFT: ONSET, SHIFT_RETURN: RETURN}
"""Without a fault, a shorter shape that says as much."""

CLIENTS = {CLOSED: 8, SPREAD: 1}
"""Clients of a closed loop."""

VARIANTS = (
    (BEFORE, LOW_JITTER, LATENCY),
    (BEFORE, LOW_JITTER, SATURATED),
    (BEFORE, REALISTIC, LATENCY),
    (BEFORE, REALISTIC, SATURATED),
    (UNDER, LOW_JITTER, LATENCY),
    (UNDER, LOW_JITTER, SATURATED),
    (FLAPPING, LOW_JITTER, LATENCY),
    (LONG, LOW_JITTER, LATENCY),
    (ONSET, LOW_JITTER, LATENCY),
    (SHIFT, OPPOSITE, CLOSED),
    (LONG_ONSET, LOW_JITTER, LATENCY),
    (RETURN, LOW_JITTER, SPREAD),
    (SHIFT_RETURN, OPPOSITE, SPREAD),
    (CHANGING, LOW_JITTER, FULL),
)
"""Shape, profile and load of the runs with a fault. Most are of the shortest shape. The profile of
the settings takes the place of LOW_JITTER."""

FOR_EVERY_SET = frozenset({(BEFORE, LOW_JITTER), (UNDER, LOW_JITTER)})
"""Shape and profile. A row has other runs for one slow set: the first with realistic jitter, in
which runs vary too much to tell the sets apart. For the longer runs the faults take turns."""

Places = tuple[int, ...]
"""The slow followers, counted from 1 in the order of ids after the first proposer."""


@dataclass(frozen=True)
class Run:
    """One run of the measuring binary.

    Runs that differ only in the fault, and in the replicas that it strikes, form a pair: they see
    the same arrivals of commands. `places` is empty without a fault, and for a proposer that is
    slow alone.
    """

    replicas: int
    profile: str
    load: str
    shape: str
    fault: str
    seed: int
    places: Places = ()
    victim: str = FOLLOWER
    mix: str = SUBMIT

    def with_fault(self, fault: str) -> "Run":
        """The run of the same pair with this fault on the same victims, or without any."""
        if fault == NORMAL:
            shape = IN_SHORT.get(self.shape, self.shape)
            return replace(self, fault=NORMAL, shape=shape, places=(), victim=FOLLOWER)
        return replace(self, fault=fault)

    def __str__(self) -> str:
        where = f" at {','.join(map(str, self.places))}" if self.places else ""
        victim = "" if self.victim == FOLLOWER else f" on the {self.victim}"
        mix = "" if self.mix == SUBMIT else f"{self.mix}, "
        return (
            f"slow_follower with {self.replicas} replicas, {mix}{self.profile}, {self.load}, "
            f"fault {self.fault}{where}{victim}, {self.shape}, seed {self.seed}"
        )


class Plan:
    """All runs of a measurement. `seeds_before`: the number of seeds of the shape
    `before`, or None for that of the settings. A plan with fewer seeds is a part of one with more.

    Requires: the settings are drawn."""

    def __init__(self, settings: Settings, seed_of: Seeds, seeds_before: int | None = None) -> None:
        self._settings = settings
        self._seed_of = seed_of
        counts = dict(settings.seeds)
        if seeds_before is not None:
            counts[BEFORE] = seeds_before if counts[BEFORE] else 0
            counts[REALISTIC] = min(counts[REALISTIC], seeds_before)
        self._seeds = {
            kind: [seed_of(f"measurement {kind}", index) for index in range(count)]
            for kind, count in counts.items()
        }

    def capacity(self, mix: str, replicas: int) -> list[Run]:
        """Their median throughput is the capacity. All other loads are fractions of it."""
        count = self._settings.rates.capacity_seeds
        seeds = [self._seed_of("measurement capacity", index) for index in range(count)]
        return [
            Run(replicas, self._settings.profile, CAPACITY, BEFORE, NORMAL, seed, mix=mix)
            for seed in seeds
        ]

    def slow(self, row: Graded) -> list[Run]:
        """The runs with the row's fault: all variants and seeds, some for one slow set alone."""
        sets = self._sets(row)
        turn = list(self._settings.strengths).index(row.fault) % len(sets)
        steady = self._settings.profile
        victim = FOLLOWER if row.victim == ONE_FOLLOWER else row.victim
        named = {LOW_JITTER: steady, OPPOSITE: self._settings.opposite, REALISTIC: REALISTIC}
        presets = {name: self._settings.preset(row.fault, name) for name in named.values()}
        return [
            Run(
                replicas=row.replicas,
                profile=(name := named[profile]),
                load=load,
                shape=shape,
                fault=presets[name],
                seed=seed,
                places=places,
                victim=victim,
                mix=row.mix,
            )
            for index, places in enumerate(sets)
            for shape, profile, load in VARIANTS
            if (shape, profile) in FOR_EVERY_SET or index == (turn if shape != BEFORE else 0)
            if shape in self._settings.shapes.get(row.fault, (shape,))
            for seed in self._seeds.get(REALISTIC if profile == REALISTIC else shape, ())
        ]

    def rest(self) -> list[Run]:
        """Every run but those of the capacity, each once."""
        return self.of(self._settings.rows)

    def of(self, rows: Iterable[Graded]) -> list[Run]:
        """Those of `rest` for these rows."""
        return list(dict.fromkeys(self._of(rows)))

    def looks(self) -> "list[Plan]":
        """This plan with its first seeds, then with more, at last with all."""
        most = max(len(self._seeds.get(kind, ())) for kind in (BEFORE, REALISTIC))
        few = [Plan(self._settings, self._seed_of, count) for count in range(1, most)]
        return [*few, self]

    def _of(self, rows: Iterable[Graded]) -> Iterator[Run]:
        for row in rows:
            for run in self.slow(row):
                yield from (run.with_fault(NORMAL), run)
                if is_compared_with_dead(run):
                    yield run.with_fault(DEAD)

    def _sets(self, row: Graded) -> list[Places]:
        """The sets of slow followers: all, or a number of them from the settings, drawn."""
        if row.victim not in (FOLLOWER, ONE_FOLLOWER) or row.fault == NORMAL:
            return [()]
        size = minority(row.replicas) if row.victim == FOLLOWER else 1
        found = follower_sets(row.replicas, self._settings.proposers, size)
        purpose = f"measurement slow set of {row.replicas}"
        drawn = sorted(range(len(found)), key=lambda index: (self._seed_of(purpose, index), index))
        return [found[index] for index in sorted(drawn[: self._settings.slow_sets])]


def minority(replicas: int) -> int:
    """The size of the largest one."""
    return (replicas - 1) // 2


def follower_sets(replicas: int, proposers: int, size: int) -> list[Places]:
    """All sets of that number of followers; the empty one for 0."""
    return list(combinations(range(1, replicas - proposers + 1), size))


def is_compared_with_dead(run: Run) -> bool:
    """Followers that are dead from the beginning are a measure of what lasts from the beginning. A
    dead proposer is none: another replica takes its place."""
    return run.shape == BEFORE and run.victim == FOLLOWER and run.fault != NORMAL
