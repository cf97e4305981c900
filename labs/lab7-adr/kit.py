"""The knowledge of lab 7 alone: see failslow/extras/lab_kits.py.

`kit bench adr`, `adr_long`, `adr_loads`, `adr_disks` and `adr_worlds`: the reference's detector
beside others, nearly all in the same Raft with the same hand-over (document 004, figures 11 to 13).
`adr_clients` has the reference alone. They measure in virtual time, so the figures are the same on
every machine.

`kit bench detector`: lab 7's store on real sockets, without a fault. Pairs of runs beside lab 3's
store, which has the same Raft alone, give the cost: that of the detectors, their vitals and the
exchange of health. Healthy runs show whether a leader stays. Windows of two lengths show that an
update costs O(log n).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from statistics import fmean

from failslow.base import console, parallel, process, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, programs, servers, verified
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.extras.bench.load import Load
from failslow.extras.bench.regression import Point, upper_bound
from failslow.extras.bench.servers import Servers, Setup
from failslow.extras.bench.verified import Pair
from failslow.extras.check.step import Counts
from failslow.extras.cluster import up
from failslow.extras.faults.verdict import CONFIDENCE
from failslow.extras.site import benchmarked
from failslow.lab.labs import load_labs
from failslow.lab.mutants import variants_of
from failslow.measurement import figures
from failslow.measurement.binary import Sample, parse_sample

MANY_SEEDS = ("HandOverChaos.LosesNothing",)

RUN_TIMEOUT_S = 600.0
CLIENTS = 8
RATE = 500
"""Commands a second of a load that changes, at 100 %: every one of WORLDS executes them."""
WORLDS = ("world-near-quick", "world-usual-costly", "world-far")
FAULTS = {
    "network late by 1 ms": "net-slow-1ms",
    "network late by 10 ms": "net-slow-10ms",
    "network late by 100 ms": "net-slow-100ms",
    "processor at 50 %": "cpu-slow-leader",
    "processor at 5 %": "cpu-slow",
}
NONE = "none"


@dataclass(frozen=True)
class System:
    """`name`: in adr_detectors that of its detector. `roles`: the first one's replica is slow.
    `stops_replicas`: commands of their clients are lost."""

    name: str
    program: str = "adr_detectors"
    roles: tuple[str, ...] = ("leader", "follower")
    mix: str | None = "set"
    stops_replicas: bool = False

    @property
    def words(self) -> list[str]:
        words = [f"--roles={','.join(self.roles)}", f"--victim={self.roles[0]}"]
        return words if self.mix is None else [*words, f"--mix={self.mix}"]


OURS = System("ours", "adr_reference")
THE_TEXT = System("the text", "adr_the-text")
VANILLA = System("vanilla")
STATIC = tuple(System(f"Static-{number}") for number in (1, 2, 3))
"""Document 004, Tables 3 and 4."""
RESTARTED = System("IASO, restart", stops_replicas=True)
BEATS = System("beats by disk", "adr_disk-beats")
OTHERS = (
    *(System(name) for name in ("TiKV", "HDFS", "Cruise Control", "IASO")),
    RESTARTED,
    System("IASO, shutdown", stops_replicas=True),
    System("lab 4's spikes"),
    BEATS,
)
COPILOT = System("Copilot", "adr_copilot", ("pilot", "copilot", "follower"), None)
DETECTORS = (VANILLA, *STATIC, THE_TEXT, System("ADR's code"), *OTHERS, OURS)
SYSTEMS = (*DETECTORS, COPILOT)
DRAWN = (VANILLA, *STATIC[:2], THE_TEXT, OURS)
"""A plot has room for five. Static-3 warns as vanilla does, which decides here."""


@dataclass(frozen=True)
class Run:
    """`words`: of the command line, beside the system's."""

    system: System
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join([self.system.name, *self.words])


Samples = Mapping[Run, Sample]


STAGES = "stages:14200,10000,3000"
"""The onset that seed 1 draws, with means of slices. Clients try another replica after a second."""


def slow(
    system: System, world: str, fault: str, shape: str = "onset", clients: int = CLIENTS
) -> Run:
    if system.stops_replicas and shape == "onset":
        shape = STAGES
    words = (f"--profile={world}", f"--fault={fault}", f"--shape={shape}", f"--clients={clients}")
    return Run(system, words)


def changing(
    system: System, world: str, rate: float = RATE, costs: int = 100, seed: int = 1
) -> Run:
    """Without a fault. `costs`: of the world's processor, in per cent."""
    words = (f"--profile={world}", "--shape=changing", f"--rate={rate:.0f}")
    return Run(system, (*words, f"--costs-percent={costs}", f"--seed={seed}"))


def measure(kit: Kit, runs: Sequence[Run]) -> Samples:
    """CannotDo in a student's kit: it has no variants."""
    if not variants_of(kit, "lab7"):
        raise CannotDo("this kit has no variants of lab7's reference: courses keep them")
    cmake.build(kit, targets=sorted({run.system.program for run in runs}))
    with console.progress("Measuring detectors") as advance:
        found = parallel.run_all(runs, lambda one: _perform(kit, one), advance)
    return dict(zip(runs, found, strict=True))


def _perform(kit: Kit, one: Run) -> Sample:
    done = process.run(
        [kit.binary(one.system.program), *one.system.words, *one.words],
        env={"ADR_DETECTOR": one.system.name},
        timeout_s=RUN_TIMEOUT_S,
    )
    if done.exit_code != 0:
        raise CannotDo(f"{one.name}: no result: {done.errors.strip() or done.how_it_ended()}")
    sample = parse_sample(json.loads(done.output.strip().splitlines()[-1]))
    # Other systems hand over without a fault: that is a result.
    if problem := sample.error or (one.system == OURS and sample.violation):
        raise CannotDo(f"{one.name}: {problem}")
    return sample


# ---- ten seconds: figure 11 ----

LOST_AT_MOST = 15.0
"""Per cent of the throughput of 10 s, in a closed loop."""

TEXT = (
    f"Three replicas in the simulator, and lab 3's store. {CLIENTS} clients wait for each answer."
    " After 13 to 20 s the leader is slow for 10 s. Each system is lab 7's reference with another"
    " detector, so each hands over in the same way. Vanilla has the thresholds of HBase in document"
    " 004, Table 3, and Static-1 to -3 are those of its Table 4. The text is its section 6.2: it"
    f" counts operations. Losses are means over {len(WORLDS)} worlds, which differ in their links,"
    " disks and processors. Changing loads last 70 s, without a fault. Copilot is lab 5's"
    " reference, with its own log and clients, and a slow pilot. Perseus looks at vanilla's runs"
    " afterwards, and says what it would have found."
)


def plan() -> list[Run]:
    faults = [slow(*one) for one in product(SYSTEMS, WORLDS, FAULTS.values())]
    without = [changing(*one) for one in product(DETECTORS, WORLDS)]
    return [*faults, *without, *plan_offline()]


def run(kit: Kit) -> Section:
    return section(measure(kit, plan()))


def section(samples: Samples) -> Section:
    plot = Plot(
        "Throughput lost in 10 s, mean of the worlds",
        "%",
        list(FAULTS),
        {
            each.name: [fmean(losses(samples, each, fault)) for fault in FAULTS.values()]
            for each in DRAWN
        },
    )
    found = [*_figures(samples), *figures_offline(samples)]
    return Section("adr", "Detectors beside each other", TEXT, found, [plot])


ACTED_ON = "faults that it acted on"
AFTER = "another leader after, mean"
ALARMS = "leaders under changing loads, no fault"


def _under_faults(samples: Samples, system: System, faults: Sequence[str]) -> dict[str, Figure]:
    lost = [loss for preset in faults for loss in losses(samples, system, preset)]
    times = [time for preset in faults for time in found_after(samples, system, preset)]
    figures_of = {
        "lost, mean": Figure("", fmean(lost), "%"),
        "lost, worst world and fault": Figure("", max(lost), "%", LOST_AT_MOST, at_most=True),
        ACTED_ON: Figure("", len(times), ""),
    }
    return figures_of | ({AFTER: Figure("", fmean(times), "s")} if times else {})


def _figures(samples: Samples) -> Sequence[Figure]:
    found = []
    for system in SYSTEMS:
        figures_of = _under_faults(samples, system, list(FAULTS.values()))
        if system in DETECTORS:
            leaders = sum(
                figures.needless_leaders(one, one)
                for one in (samples[changing(system, world)] for world in WORLDS)
            )
            figures_of[ALARMS] = Figure("", leaders, "", 0, True)
        found += [
            replace(each, name=f"{system.name}: {name}", bar=each.bar if system == OURS else None)
            for name, each in figures_of.items()
        ]
    return found


def losses(samples: Samples, system: System, fault: str, shape: str = "onset") -> list[float]:
    """Of each world, in per cent."""
    runs = [samples[slow(system, world, fault, shape)] for world in WORLDS]
    return [100 * figures.onset_loss(one, one) for one in runs]


def found_after(samples: Samples, system: System, fault: str) -> list[float]:
    """Seconds from the fault's begin to another leader, of the worlds that have one."""
    found = []
    for world in WORLDS:
        onset = samples[slow(system, world, fault)].onset
        assert onset is not None, "the shape has one"
        later = [
            at - onset.fault_from
            for at in onset.new_proposers
            if onset.fault_from <= at < onset.fault_to
        ]
        found += [later[0] * figures.WINDOW_NS / 1e9] if later else []
    return found


# ---- a regression, afterwards ----

OFFLINE = "Perseus, offline"
LEARNED_FROM = (1, 2, 4, 8, 16, 32, 64)
"""Clients of runs without a fault."""
HELD_OUT = (3, 12, 48)
"""The same of runs in which each alarm is a false one."""


def healthy(world: str, clients: int, seed: int) -> Run:
    run = slow(VANILLA, world, NONE, STAGES, clients)
    return replace(run, words=(*run.words, f"--seed={seed}"))


def plan_offline() -> list[Run]:
    learned = [healthy(*one, seed=1) for one in product(WORLDS, LEARNED_FROM)]
    faults = [slow(VANILLA, *one, STAGES) for one in product(WORLDS, FAULTS.values())]
    held_out = [healthy(*one, seed=2) for one in product(WORLDS, HELD_OUT)]
    return [*learned, *faults, *held_out]


def figures_offline(samples: Samples) -> Sequence[Figure]:
    """In the columns of the detectors that act."""
    times, alarms = [], 0
    for world in WORLDS:
        learned = [samples[healthy(world, clients, 1)] for clients in LEARNED_FROM]
        bound = upper_bound([each for one in learned for each in _points(one) if each[1] > 0])
        for fault in FAULTS.values():
            sample = samples[slow(VANILLA, world, fault, STAGES)]
            assert sample.onset is not None, "the shape has one"
            under = slice(sample.onset.fault_from, sample.onset.fault_to)
            times.append(_second_above(_points(sample)[under], bound))
        held_out = [samples[healthy(world, clients, 2)] for clients in HELD_OUT]
        alarms += sum(_second_above(_points(each), bound) is not None for each in held_out)
    found = [time for time in times if time is not None]
    figures_of = {ACTED_ON: Figure("", len(found), ""), ALARMS: Figure("", alarms, "")}
    if found:
        figures_of[AFTER] = Figure("", fmean(found), "s")
    return [replace(each, name=f"{OFFLINE}: {what}") for what, each in figures_of.items()]


def _points(sample: Sample) -> list[Point]:
    """Of each slice: answers in a second, and the mean latency of its commands."""
    assert sample.onset is not None, "the shape has one"
    in_a_second = 1e9 / figures.WINDOW_NS
    throughputs = [completed * in_a_second for completed in sample.completions]
    return list(zip(throughputs, sample.onset.means_ns, strict=True))


def _second_above(points: Sequence[Point], bound: Callable[[float], float]) -> float | None:
    """The end of the first second whose slices are mostly above the bound, in seconds."""
    above = [latency > bound(throughput) for throughput, latency in points]
    slices = int(1e9 / figures.WINDOW_NS)
    ends = range(slices, len(above) + 1)
    found = (end / slices for end in ends if 2 * sum(above[end - slices : end]) > slices)
    return next(found, None)


# ---- slow disks ----

DISK_FAULTS = ("fs-delay-10ms", "fs-delay-100ms", "disk-slow", "disk-contention")

TEXT_OF_DISKS = (
    "The same with a slow disk of the leader: each of its operations is late by 10 or 100 ms, it"
    " moves 128 KB/s, or others have it for 99 % of the time."
)


def plan_disks() -> list[Run]:
    return [slow(*one) for one in product(SYSTEMS, WORLDS, DISK_FAULTS)]


def run_disks(kit: Kit) -> Section:
    return section_disks(measure(kit, plan_disks()))


def section_disks(samples: Samples) -> Section:
    found = [
        replace(figure, name=f"{system.name}: {name}", bar=None)
        for system in SYSTEMS
        for name, figure in _under_faults(samples, system, DISK_FAULTS).items()
    ]
    return Section("adr_disks", "Slow disks", TEXT_OF_DISKS, found)


# ---- two minutes ----

LONG = "longer-onset"
LONG_FAULTS = {
    "network late by 3 ms": "net-slow-3ms",
    "network late by 10 ms": "net-slow-10ms",
    "network late by 100 ms": "net-slow-100ms",
    "processor at 50 %": "cpu-slow-leader",
    "processor at 5 %": "cpu-slow",
}
SAVED_AT_LEAST = 65.0
"""Per cent of vanilla's loss."""
BEHIND_AT_MOST = 1.0
"""Points of loss more than the best static pair of that fault."""
COMPARED = (VANILLA, *STATIC[:2], OURS)
"""Static-3 is vanilla with a fatal threshold of 1 s: no operation takes as long."""

TEXT_OF_LONG = (
    "The same with faults of 120 s, as document 004 has them. A static pair is vanilla, Static-1 or"
    " Static-2; the best one is chosen for each fault, by its mean over the worlds."
)


def plan_long() -> list[Run]:
    return [slow(*one, LONG) for one in product(COMPARED, WORLDS, LONG_FAULTS.values())]


def run_long(kit: Kit) -> Section:
    return section_long(measure(kit, plan_long()))


def section_long(samples: Samples) -> Section:
    lost = {
        system: {name: losses(samples, system, each, LONG) for name, each in LONG_FAULTS.items()}
        for system in COMPARED
    }
    means = {system: [fmean(lost[system][name]) for name in LONG_FAULTS] for system in COMPARED}
    worst = {system: max(max(each) for each in lost[system].values()) for system in COMPARED}
    found = []
    for number, name in enumerate(LONG_FAULTS):
        of = {system: means[system][number] for system in COMPARED}
        saved = 100 - 100 * of[OURS] / of[VANILLA]
        behind = of[OURS] - min(of[system] for system in COMPARED if system != OURS)
        found += [
            Figure(f"{name}, less lost than vanilla", saved, "%", SAVED_AT_LEAST),
            Figure(f"{name}, more lost than the best pair", behind, "%", BEHIND_AT_MOST, True),
        ]
    least = min(worst[system] for system in COMPARED if system != OURS)
    found.append(Figure("worst world and fault, ours", worst[OURS], "%", least, at_most=True))
    found += [
        Figure(f"{system.name}, {world}: {name}", lost[system][name][number], "%")
        for system in COMPARED
        for number, world in enumerate(WORLDS)
        for name in LONG_FAULTS
    ]
    series = {system.name: means[system] for system in COMPARED}
    plot = Plot("Throughput lost in 120 s, mean of the worlds", "%", list(LONG_FAULTS), series)
    return Section("adr_long", "Faults of two minutes", TEXT_OF_LONG, found, [plot])


# ---- workloads: figure 12 ----

MIXES = {"get": "reads", "mixed": "mixed", "set": "writes"}
CLIENT_COUNTS = (1, 8, 64)
WORLD_OF_LOADS, FAULT_OF_LOADS = "world-usual-costly", "net-slow-10ms"

DRAWN_FROM = 1.0
"""A logarithmic scale has no zero."""

TEXT_OF_LOADS = (
    "The network of the leader is late by 10 ms, for 10 s, in the world with usual links and costly"
    " steps. Reads are 95, 50 and 5 % of the commands."
)


def plan_loads() -> list[Run]:
    return [_under_load(*one) for one in product(DRAWN, MIXES, CLIENT_COUNTS)]


def _under_load(system: System, mix: str, clients: int) -> Run:
    return slow(replace(system, mix=mix), WORLD_OF_LOADS, FAULT_OF_LOADS, clients=clients)


def run_loads(kit: Kit) -> Section:
    return section_loads(measure(kit, plan_loads()))


def section_loads(samples: Samples) -> Section:
    loads = {
        f"{word}, {clients} client{'s'[: clients > 1]}": (mix, clients)
        for (mix, word), clients in product(MIXES.items(), CLIENT_COUNTS)
    }
    lost = {
        system.name: [
            100 * figures.onset_loss(one, one)
            for one in (samples[_under_load(system, *load)] for load in loads.values())
        ]
        for system in DRAWN
    }
    found = [
        Figure(f"{system}: {load}", value, "%")
        for system, values in lost.items()
        for load, value in zip(loads, values, strict=True)
    ]
    drawn = {name: [max(value, DRAWN_FROM) for value in values] for name, values in lost.items()}
    plot = Plot("Throughput lost in 10 s, 1 is 1 or less", "%", list(loads), drawn)
    return Section("adr_loads", "Workloads", TEXT_OF_LOADS, found, [plot])


# ---- a hundred changing worlds: figure 13 ----

CHANGING_WORLDS = 100
PROFILES = (*WORLDS, "world-near-slow-disk", "world-usual", "world-very-far")
COSTS = (100, 200)
"""Of a world's processor, in per cent."""
OFFERED = 8000
"""Commands a second, beyond what any world executes."""

TEXT_OF_WORLDS = (
    f"Of each of {len(PROFILES)} worlds, with its processors and with ones of half their speed, the"
    f" capacity is measured. {CHANGING_WORLDS} runs without a fault then have 20, 95, 120 and 20 %"
    " of it, for 15 s each, with a seed of their own. Each new leader is a false alarm."
)


def capacity(profile: str, costs: int) -> Run:
    words = (f"--profile={profile}", "--shape=before", f"--rate={OFFERED}")
    return Run(OURS, (*words, f"--costs-percent={costs}"))


def run_worlds(kit: Kit) -> Section:
    kinds = list(product(PROFILES, COSTS))
    of = measure(kit, [capacity(*kind) for kind in kinds])
    runs = plan_worlds({kind: of[capacity(*kind)].throughput for kind in kinds})
    return section_worlds(runs, measure(kit, [run for each in runs.values() for run in each]))


def plan_worlds(rates: Mapping[tuple[str, int], float]) -> dict[System, list[Run]]:
    """`rates`: the capacity of each kind of world. The kinds take turns."""
    kinds = list(rates)
    worlds = [(*kinds[seed % len(kinds)], seed) for seed in range(CHANGING_WORLDS)]
    return {
        system: [
            changing(system, profile, rates[profile, costs], costs, seed)
            for profile, costs, seed in worlds
        ]
        for system in DETECTORS
    }


def section_worlds(runs: Mapping[System, Sequence[Run]], samples: Samples) -> Section:
    found = []
    for system, mine in runs.items():
        leaders = [figures.needless_leaders(samples[one], samples[one]) for one in mine]
        bar = 0 if system == OURS else None
        found += [
            Figure(f"{system.name}: false alarms", sum(leaders), "", bar, at_most=True),
            Figure(f"{system.name}: worlds with one", sum(map(bool, leaders)), ""),
        ]
    return Section("adr_worlds", "A hundred changing worlds", TEXT_OF_WORLDS, found)


# ---- a hundred crowds ----

CROWD = 64
VALUE_BYTES = (64, 256, 4096)

TEXT_OF_CLIENTS = (
    f"The same worlds. One client waits for each answer. It is one of {CROWD} in the middle third"
    f" of 60 s. Values have {VALUE_BYTES[0]}, {VALUE_BYTES[1]} or {VALUE_BYTES[2]} bytes."
)


def crowded(profile: str, costs: int, value_bytes: int, seed: int) -> Run:
    """Without a fault."""
    words = (f"--profile={profile}", "--shape=changing", f"--clients={CROWD}")
    sizes = (f"--costs-percent={costs}", f"--value-bytes={value_bytes}")
    return Run(OURS, (*words, *sizes, f"--seed={seed}"))


def plan_clients() -> list[Run]:
    kinds = list(product(PROFILES, COSTS, VALUE_BYTES))
    return [crowded(*kinds[seed % len(kinds)], seed) for seed in range(CHANGING_WORLDS)]


def run_clients(kit: Kit) -> Section:
    return section_clients(measure(kit, plan_clients()))


def section_clients(samples: Samples) -> Section:
    alarms = sum(figures.needless_leaders(one, one) for one in samples.values())
    found = [Figure("ours: false alarms", alarms, "", 0, at_most=True)]
    return Section("adr_clients", "A hundred crowds", TEXT_OF_CLIENTS, found)


# ---- real processes ----

PLAIN, WATCHED = "lab3", "lab7"
CLOSED, OPEN = Load(64), Load(rate=1000)
COST_PERCENT_AT_MOST = 1.0
STARTS = 20
HEALTHY_RUNS, HEALTHY_MS = 10, 60_000
HEALTHY = Load(8)
UPDATES = "bench_detector"
GROWTH_AT_MOST = 10.0
"""Of the time of an update, in windows 100 times as long. Trees need twice the steps, and miss the
caches. A pass over the window would take 100 times as long."""

TEXT_OF_DETECTOR = (
    "The stores of labs 3 and 7, three replicas each, with files in memory. The replicas share"
    " the first core, the load generator has the second. Two clusters run side by side, and windows"
    f" of {verified.WINDOW_MS} ms alternate between them:"
    f" {STARTS * verified.PAIRS_OF_A_START} pairs for each load, of {STARTS} starts. Each is the"
    f" median of the pairs, with the interval in which it is with {100 * CONFIDENCE:.0f} %."
    f" INCONCLUSIVE: the bar is in the interval. A healthy run is {HEALTHY.describe()} for"
    f" {HEALTHY_MS // 1000} s, with the files on this machine's disk. An update's time is the"
    " processor's, in windows of 8,000 updates, by that in windows of 80."
)


def run_detector(kit: Kit) -> Section:
    servers.check_cores()
    cmake.build(kit, targets=["put_load"])
    kinds = _starter(kit, PLAIN, in_memory=True), _starter(kit, WATCHED, in_memory=True)
    closed, opened = (verified.pairs(kit, kinds, each, STARTS) for each in (CLOSED, OPEN))
    return section_detector(closed, opened, _changed(kit), _growth(kit))


def section_detector(
    closed: Sequence[Pair], opened: Sequence[Pair], changed: int, growth: float
) -> Section:
    """`changed`: the healthy runs in which another replica led. `growth`: see GROWTH_AT_MOST."""
    lost = [1 - watched.puts_per_second / plain.puts_per_second for plain, watched in closed]
    grown = [watched.mean / plain.mean - 1 for plain, watched in opened]
    found = [
        *verified.judged(f"throughput lost, {CLOSED.describe()}", lost, COST_PERCENT_AT_MOST),
        *verified.judged(f"mean latency grown, {OPEN.describe()}", grown, COST_PERCENT_AT_MOST),
        Figure(
            f"of {HEALTHY_RUNS} healthy runs, with another leader", changed, "", 0, at_most=True
        ),
        Figure("time of an update, long windows to short", growth, "x", GROWTH_AT_MOST, True),
    ]
    return Section("detector", "The cost of a detector", TEXT_OF_DETECTOR, found)


def _growth(kit: Kit) -> float:
    cmake.build(kit, targets=[UPDATES])
    text = programs.run(kit, UPDATES, "--benchmark_format=json")
    times = programs.google_times(UPDATES, text, "cpu_time")
    return times["update/8000"] / times["update/80"]


def _changed(kit: Kit) -> int:
    changed = 0
    with console.progress("Measuring healthy runs") as advance:
        for number in range(HEALTHY_RUNS):
            advance(number, HEALTHY_RUNS, "runs")
            with _starter(kit, WATCHED, in_memory=False)(kit) as cluster:
                changed += _has_another_leader(kit, cluster)
    return changed


def _has_another_leader(kit: Kit, cluster: Servers) -> bool:
    try:
        load.run(kit, cluster, HEALTHY, window_ms=HEALTHY_MS)
    except load.LeaderChanged:
        return True
    return False


def _starter(
    kit: Kit, lab: str, in_memory: bool
) -> Callable[[Kit], AbstractContextManager[Servers]]:
    labs = load_labs(kit)
    program = up.build(kit, labs, kit.reference, labs.get(lab))
    setup = Setup(in_memory=in_memory)
    return partial(servers.replicas_of, target="kv", program=program, setup=setup)


# ---- the handbook's results ----


def made_again(kit: Kit) -> Counts:
    """The same again: of each system of the first plot the loss by its last fault, and rows of an
    operator's system and of one without a detector. All programs compile."""
    cmake.build(kit, targets=sorted({system.program for system in SYSTEMS}))
    committed = json.loads((kit.site / benchmarked.RESULTS).read_text(encoding="utf-8"))
    (plot,), fault = committed["adr"]["plots"], list(FAULTS.values())[-1]
    rows = (("adr", RESTARTED, tuple(FAULTS.values())), ("adr_disks", BEATS, DISK_FAULTS))
    runs = [slow(*one, fault) for one in product(DRAWN, WORLDS)]
    runs += [slow(system, *one) for _, system, faults in rows for one in product(WORLDS, faults)]
    samples = measure(kit, runs)
    counts = Counts()

    def expect(name: str, value: float, said: float) -> None:
        # The committed figures are rounded.
        is_same = json.loads(records.text({name: value}))[name] == said
        counts.expect(is_same, f"{benchmarked.RESULTS}: {name} is not what it says")

    for system in DRAWN:
        lost = fmean(losses(samples, system, fault))
        expect(system.name, lost, plot["series"][system.name][-1])
    for key, system, faults in rows:
        said = {each["name"]: each["value"] for each in committed[key]["figures"]}
        for what, figure in _under_faults(samples, system, faults).items():
            expect(f"{system.name}: {what}", figure.value, said[f"{system.name}: {what}"])
    return counts


LONG_BENCHMARKS = {
    "adr": run,
    "adr_long": run_long,
    "adr_loads": run_loads,
    "adr_disks": run_disks,
    "adr_worlds": run_worlds,
    "adr_clients": run_clients,
    "detector": run_detector,
}
