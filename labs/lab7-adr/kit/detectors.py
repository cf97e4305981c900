"""`kit bench adr`: the reference's detector beside others (document 004, figure 11).

Nearly all are in the same Raft with the same hand-over. It measures in virtual time: its figures
are the same on every machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from failslow.extras.for_labs import CannotDo, Kit, figures, programs, samples

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

    def of_program(self) -> programs.Run:
        name = " ".join([self.system.name, *self.words])
        words = (*self.system.words, *self.words)
        return programs.Run(name, self.system.program, words, (("ADR_DETECTOR", self.system.name),))


Samples = Mapping[Run, samples.Sample]


STAGES = "stages:14200,10000,3000"
"""The onset that seed 1 draws, with means of slices. Clients try another replica after a second."""


def slow(system: System, world: str, fault: str) -> Run:
    shape = STAGES if system.stops_replicas else "onset"
    words = (f"--profile={world}", f"--fault={fault}", f"--shape={shape}", f"--clients={CLIENTS}")
    return Run(system, words)


def changing(system: System, world: str) -> Run:
    """Without a fault."""
    return Run(system, (f"--profile={world}", "--shape=changing", f"--rate={RATE}", "--seed=1"))


def measure(kit: Kit, runs: Sequence[Run]) -> Samples:
    """CannotDo in a student's kit: it has no variants."""
    programs.build(kit, [run.system.program for run in runs], variants_of_lab="lab7")
    of_programs = [run.of_program() for run in runs]
    found = dict(zip(runs, samples.measure(kit, "Measuring detectors", of_programs), strict=True))
    for run, sample in found.items():
        # Other systems hand over without a fault: that is a result.
        if run.system == OURS and sample.violation:
            raise CannotDo(f"{run.of_program().name}: {sample.violation}")
    return found


LOST_AT_MOST = 15.0
"""Per cent of the throughput of 10 s, in a closed loop."""

TEXT = (
    f"Three replicas in the simulator, and lab 3's store. {CLIENTS} clients wait for each answer."
    " After 13 to 20 s the leader is slow for 10 s. Each system is lab 7's reference with another"
    " detector, so each hands over in the same way. Vanilla has the thresholds of HBase in document"
    " 004, Table 3, and Static-1 to -3 are those of its Table 4. The text is its section 6.2: it"
    f" counts operations. Losses are means over {len(WORLDS)} worlds, which differ in their links,"
    " disks and processors. Changing loads last 70 s, without a fault. Copilot is lab 5's"
    " reference, with its own log and clients, and a slow pilot."
)


def run(kit: Kit) -> figures.Section:
    return section(measure(kit, plan()))


def section(measured: Samples) -> figures.Section:
    plot = figures.Plot(
        "Throughput lost in 10 s, mean of the worlds",
        "%",
        list(FAULTS),
        {
            each.name: [fmean(losses(measured, each, fault)) for fault in FAULTS.values()]
            for each in DRAWN
        },
    )
    return figures.Section("adr", "Detectors beside each other", TEXT, rows(measured), [plot])


ACTED_ON = "faults that it acted on"
AFTER = "another leader after, mean"
ALARMS = "leaders under changing loads, no fault"


def _under_faults(measured: Samples, system: System) -> dict[str, figures.Figure]:
    lost = [loss for fault in FAULTS.values() for loss in losses(measured, system, fault)]
    times = [time for fault in FAULTS.values() for time in found_after(measured, system, fault)]
    bar = LOST_AT_MOST if system == OURS else None
    found = {
        "lost, mean": figures.Figure("", fmean(lost), "%"),
        "lost, worst world and fault": figures.Figure("", max(lost), "%", bar, at_most=True),
        ACTED_ON: figures.Figure("", len(times), ""),
    }
    return found | ({AFTER: figures.Figure("", fmean(times), "s")} if times else {})


def rows(measured: Samples, systems: Sequence[System] = SYSTEMS) -> list[figures.Figure]:
    found = []
    for system in systems:
        row = _under_faults(measured, system)
        if system in DETECTORS:
            runs = [measured[changing(system, world)] for world in WORLDS]
            leaders = sum(samples.needless_leaders(one, one) for one in runs)
            bar = 0 if system == OURS else None
            row[ALARMS] = figures.Figure("", leaders, "", bar, at_most=True)
        found += [replace(each, name=f"{system.name}: {name}") for name, each in row.items()]
    return found


def losses(measured: Samples, system: System, fault: str) -> list[float]:
    """Loss in each world, in per cent."""
    runs = [measured[slow(system, world, fault)] for world in WORLDS]
    return [100 * samples.onset_loss(one, one) for one in runs]


def found_after(measured: Samples, system: System, fault: str) -> list[float]:
    """Seconds from the fault's begin to another leader, in the worlds that have one."""
    runs = [measured[slow(system, world, fault)] for world in WORLDS]
    times = [samples.replaced_ns(one, one) / 1e9 for one in runs]
    return [time for time in times if time < float("inf")]


def plan(systems: Sequence[System] = SYSTEMS) -> list[Run]:
    faults = [slow(*one) for one in product(systems, WORLDS, FAULTS.values())]
    return [*faults, *(changing(*one) for one in product(systems, WORLDS) if one[0] in DETECTORS)]


def made_again(kit: Kit) -> dict[str, list[figures.Figure]]:
    """The rows of one system of each program. That of adr_detectors has an operator."""
    systems = (RESTARTED, THE_TEXT, BEATS, OURS, COPILOT)
    return {"adr": rows(measure(kit, plan(systems)), systems)}
