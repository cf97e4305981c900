"""The numbers of a lab's file of settings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from failslow.base import yaml_file
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import ONE_FOLLOWER, Lab

FOLLOWER = "follower"
"""The victims of most rows: the largest minority. A row or run that names no victim has these."""

STEADY = "low-jitter"
"""The profile of the runs without realistic jitter, unless the settings name another one."""

SUBMIT = "submit"
"""The mix of commands of a lab without reads. A row or run that names no mix has this one."""

MEDIAN = "median"
WORST = "worst"
"""Statistics: the worst median of the runs of a slow set, and the worst run of all."""

WITH_NORMAL = "normal"
WITH_DEAD = "dead"
WITH_CAPACITY = "capacity"
"""With which run a slow one is compared. With the capacity, the run without a fault is."""

WORDS = {
    "cpu-slow": "the CPU of {slow} of {replicas} replicas at 5 %",
    "cpu-slow-3-percent": "the CPU of {slow} of {replicas} replicas at 3 %",
    "cpu-contention": "the CPU of {slow} of {replicas} replicas theirs for 6 ms of every 100 ms",
    "cpu-contention-4-percent": (
        "the CPU of {slow} of {replicas} replicas theirs for 4 ms of every 100 ms"
    ),
    "cpu-contention-leader": (
        "the CPU of {slow} of {replicas} replicas theirs for 50 ms of every 100 ms"
    ),
    "disk-slow": "the disk of {slow} of {replicas} replicas at 128 KB/s",
    "disk-slow-256kb": "the disk of {slow} of {replicas} replicas at 256 KB/s",
    "disk-contention": "the disk of {slow} of {replicas} replicas theirs for 1 ms of every 100 ms",
    "memory-half": (
        "the memory of {slow} of {replicas} replicas at half of what a healthy one holds"
    ),
    "memory-third": (
        "the memory of {slow} of {replicas} replicas at a third of what a healthy one holds"
    ),
    "cpu-slow-leader": "the CPU of {slow} of {replicas} replicas at 50 %",
    "net-slow-40ms": "the network of {slow} of {replicas} replicas delayed by 40 ms",
    "packet-loss-10-percent": "{slow} of {replicas} replicas with 10 % of their packets lost",
    "packet-loss-40-percent": "{slow} of {replicas} replicas with 40 % of their packets lost",
    "net-slow": "the network of {slow} of {replicas} replicas delayed by 400 ms",
    "net-slow-100ms": "the network of {slow} of {replicas} replicas delayed by 100 ms",
    "net-slow-3ms": "the network of {slow} of {replicas} replicas delayed by 3 ms",
    "fs-delay:600000": "the disk of {slow} of {replicas} replicas 0.6 ms later",
    "net-slow-1s": "the network of {slow} of {replicas} replicas delayed by 1 s",
    "none": "all {replicas} replicas healthy",
}
"""The texts of the catalogue's presets in a report."""

Seeds = Callable[[str, int], int]
"""The seed for a purpose and an index."""


@dataclass(frozen=True)
class Graded:
    """A graded row: the slow replicas, the load, and the points."""

    fault: str
    replicas: int
    points: int
    victim: str = FOLLOWER
    mix: str = SUBMIT

    @property
    def id(self) -> str:
        """'measurement/3/cpu-slow', 'measurement/get/3/cpu-slow', 'measurement/pilot/3/cpu-slow'"""
        mix = [] if self.mix == SUBMIT else [self.mix]
        role = [] if self.victim == FOLLOWER else [self.victim]
        return "/".join(["measurement", *mix, *role, str(self.replicas), self.fault])


@dataclass(frozen=True)
class Strength:
    """One strength of a fault. `preset`: its name in the catalogue of faults. `words`: its text in
    a report. `lag_entries`: a slow replica is behind by this in some run, or the fault has shown
    nothing."""

    preset: str
    words: str
    lag_entries: int


@dataclass(frozen=True)
class Loss:
    """The most that may be lost of throughput, and the most that mean latency may grow."""

    throughput: float
    latency: float


@dataclass(frozen=True)
class Criterion:
    """The limits of a figure by victim; a figure equal to its limit still passes. Rows of a victim
    without a limit do not have it. Times are in ns, shares of 1.

    `share` names the share of the points that it decides. `runs`: profiles, loads and shapes of the
    runs that count; all profiles where it names none, and so on. `without`: the strengths of faults
    that it does not bound, by preset."""

    figure: str
    share: str
    limits: Mapping[str, float]
    note: str = ""
    statistic: str = WORST
    compared_with: str = WITH_NORMAL
    runs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """'throughput', 'throughput, worst run'"""
        return f"{self.figure}, {self.note}" if self.note else self.figure


@dataclass(frozen=True)
class Baseline:
    """Bounds on the runs without a fault of one mix and number of replicas."""

    throughput_floor: float
    latency_ceiling_ns: int


@dataclass(frozen=True)
class World:
    """`opposite`: the world of a row's other runs. What is slow in one of the two is usual in the
    other. `instead`: presets that stand here for those of the settings."""

    baseline: Baseline
    opposite: str
    instead: Mapping[str, str]


@dataclass(frozen=True)
class Rates:
    """`capacity_rate` in operations per second; the loads in per cent of the capacity."""

    capacity_rate: float
    capacity_seeds: int
    latency_percent: int
    saturated_percent: int


@dataclass(frozen=True)
class Settings:
    """`rows` in the order of a report. `seeds`: the number of seeds of each shape, and of the shape
    `before` in the realistic profile. `baselines` by mix and replicas. `above_ceiling`: the share
    of the points that is left above the ceiling. `shares`: the per cent of a row's points by group
    of criteria. `strengths` by fault: those to choose from. `needs`: by fault, that of another row
    without which its row has no points. `proposers`: the number of replicas that propose; the
    others are followers. `profile`: that of all runs without realistic jitter.
    `worlds`: profiles of which one is drawn, with its bounds in place of `baselines`. `shapes`: the
    only shape of a fault's runs; a fault that is missing has all. `row_rules`: the names of the
    invariants of which a lone violation costs one row."""

    slow_sets: int
    proposers: int
    seeds: dict[str, int]
    rates: Rates
    baselines: dict[tuple[str, int], Baseline]
    above_ceiling: float
    criteria: tuple[Criterion, ...]
    shares: dict[str, int]
    rows: tuple[Graded, ...]
    strengths: dict[str, tuple[Strength, ...]]
    profile: str = STEADY
    worlds: Mapping[str, World] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    row_rules: frozenset[str] = frozenset()

    @property
    def total_points(self) -> int:
        return sum(row.points for row in self.rows)

    @property
    def loads(self) -> list[tuple[str, int]]:
        """Each (mix, replicas) of the rows, once."""
        return list(dict.fromkeys((row.mix, row.replicas) for row in self.rows))

    def brief(self, is_wanted: Callable[[Graded], bool]) -> "Settings":
        """Fewer runs: one slow set, and the rows that are wanted."""
        return replace(self, slow_sets=1, rows=tuple(row for row in self.rows if is_wanted(row)))

    def drawn(self, seed_of: Seeds) -> "Settings":
        """With one strength of each fault, and one world if there are several."""
        drawn = self.at(lambda fault, count: seed_of(f"measurement strength {fault}", 0) % count)
        if not self.worlds:
            return drawn
        names = sorted(self.worlds)
        return drawn.within(names[seed_of("measurement world", 0) % len(names)])

    def within(self, world: str) -> "Settings":
        """In this one of the worlds, and its opposite."""
        return replace(self, profile=world)

    @property
    def opposite(self) -> str:
        """The profile of the runs in the opposite world, if there are worlds."""
        return self.worlds[self.profile].opposite if self.profile in self.worlds else self.profile

    def baseline(self, load: tuple[str, int], profile: str) -> Baseline:
        """`load`: a mix, and a number of replicas."""
        return self.worlds[profile].baseline if profile in self.worlds else self.baselines[load]

    def preset(self, fault: str, profile: str) -> str:
        """Requires: the settings are drawn."""
        drawn = self.strength(fault).preset
        return self.worlds[profile].instead.get(drawn, drawn) if profile in self.worlds else drawn

    def at(self, choose: Callable[[str, int], int]) -> "Settings":
        """With the strength of each fault that `choose` names by its index below a number."""
        one: dict[str, tuple[Strength, ...]] = {
            fault: (strengths[choose(fault, len(strengths))],)
            for fault, strengths in self.strengths.items()
        }
        return replace(self, strengths=one)

    def strength(self, fault: str) -> Strength:
        """Requires: the settings are drawn."""
        (strength,) = self.strengths[fault]
        return strength

    def loss(self, victim: str, statistic: str) -> Loss:
        """Against the run without a fault. CannotDo if the settings bound no such loss."""

        def limit(figure: str) -> float:
            for each in self.criteria:
                if (each.figure, each.statistic) == (figure, statistic) and victim in each.limits:
                    return each.limits[victim]
            raise CannotDo(f"the measurement has no criterion for '{figure}' ({statistic})")

        return Loss(limit("throughput"), limit("latency"))

    def describe(self, row: Graded) -> str:
        """'the CPU of 1 of 3 replicas at 5 %'; a mix with reads, and a victim that is no follower,
        are added. Requires: the settings are drawn."""
        slow = (row.replicas - 1) // 2 if row.victim == FOLLOWER else 1
        presets = [self.preset(row.fault, name) for name in (self.profile, self.opposite)]
        words = " or ".join(WORDS[preset] for preset in dict.fromkeys(presets))
        text = words.format(slow=slow, replicas=row.replicas)
        victim = "" if row.victim in (FOLLOWER, ONE_FOLLOWER) else f" (the {row.victim})"
        mix = "" if row.mix == SUBMIT else f", under the load '{row.mix}'"
        return f"{text}{victim}{mix}"


def load_settings(kit: Kit, lab: Lab) -> Settings:
    """CannotDo when the file is not as it must be. Requires: the lab has a measurement."""
    assert lab.measurement is not None
    path = kit.labs / lab.directory / lab.measurement.settings
    content: dict[str, Any] = yaml_file.load(path, "slow_follower")
    mixes = content["mixes"]
    if any(set(mix["points"]) != set(lab.measurement.victims) for mix in mixes.values()):
        raise CannotDo(f"{path}: points: they must be for the victims that lab.yaml names")
    if sum(content["shares"].values()) != 100:
        raise CannotDo(f"{path}: shares: they must add up to 100 per cent")
    rows = tuple(_rows(mixes))
    unknown = sorted({row.fault for row in rows} ^ set(content["faults"]))
    if unknown:
        raise CannotDo(f"{path}: faults: '{unknown[0]}' must have points and strengths")
    presets = _presets(content)
    if silent := sorted(presets - WORDS.keys()):
        raise CannotDo(f"{path}: faults: '{silent[0]}' has no words in a report")
    return Settings(
        slow_sets=content["slow_sets"],
        proposers=len(lab.measurement.roles) - 1,
        seeds=content["seeds"],
        rates=Rates(**content["rates"]),
        baselines={
            (name, replicas): Baseline(**bounds)
            for name, mix in mixes.items()
            for replicas, bounds in mix.get("baseline", {}).items()
        },
        above_ceiling=content["above_ceiling"],
        criteria=tuple(_criteria(path, content, lab.measurement.victims)),
        shares=content["shares"],
        rows=rows,
        strengths={
            fault: tuple(Strength(preset, WORDS[preset], lag) for preset, lag in strengths.items())
            for fault, strengths in content["faults"].items()
        },
        profile=content.get("profile", STEADY),
        worlds=dict(_worlds(content.get("worlds", {}))),
        shapes=content.get("shapes", {}),
        needs=content.get("needs", {}),
        row_rules=frozenset(content.get("row_rules", ())),
    )


def _worlds(worlds: Mapping[str, Any]) -> Iterator[tuple[str, World]]:
    for name, content in worlds.items():
        opposite, instead = content.pop("opposite"), content.pop("instead", {})
        yield name, World(Baseline(**content), opposite, instead)


def _presets(content: Mapping[str, Any]) -> set[str]:
    found = {preset for strengths in content["faults"].values() for preset in strengths}
    worlds = content.get("worlds", {}).values()
    return found.union(*(world.get("instead", {}).values() for world in worlds))


def _criteria(path: Path, content: dict[str, Any], victims: Sequence[str]) -> Iterator[Criterion]:
    presets = _presets(content)
    names = set()
    for row in content["criteria"]:
        limit = row.pop("limit")
        limits = limit if isinstance(limit, dict) else dict.fromkeys(victims, limit)
        runs, without = tuple(row.pop("of", ())), tuple(row.pop("without", ()))
        found = Criterion(**row, limits=limits, runs=runs, without=without)
        complaints = {
            "another one has this name": found.name in names,
            f"shares has no '{found.share}'": found.share not in content["shares"],
            "its limits must be for victims that lab.yaml names": not {*limits} <= {*victims},
            "seeds has none for its runs": any(content["seeds"].get(r) == 0 for r in found.runs),
            "without names no preset of the faults": not presets.issuperset(found.without),
        }
        for complaint in (text for text, is_so in complaints.items() if is_so):
            raise CannotDo(f"{path}: criteria: '{found.name}': {complaint}")
        names.add(found.name)
        yield found


def _rows(mixes: dict[str, Any]) -> Iterator[Graded]:
    for name, mix in mixes.items():
        for victim, by_replicas in mix["points"].items():
            for replicas, by_fault in by_replicas.items():
                for fault, points in by_fault.items():
                    yield Graded(fault, replicas, points, victim, name)
