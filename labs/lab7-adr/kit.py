"""The knowledge of lab 7 alone: see failslow/extras/lab_kits.py.

`kit bench adr`: the reference's detector beside others, all in the same Raft with the same
hand-over (document 004, figures 11 to 13). It measures in virtual time, so the figures are the same
on every machine.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from failslow.base import console, parallel, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.lab.mutants import variants_of
from failslow.measurement import figures
from failslow.measurement.binary import Sample, parse_sample

MANY_SEEDS = ("HandOverChaos.LosesNothing",)

RUN_TIMEOUT_S = 600.0
CLIENTS = 8
RATE = 500
"""Commands a second of a load that changes, at 100 %: every world executes them."""
SEED = 1
WORLDS = ("world-near-quick", "world-usual-costly", "world-far")
FAULTS = {
    "network late by 1 ms": "net-slow-1ms",
    "network late by 10 ms": "net-slow-10ms",
    "network late by 100 ms": "net-slow-100ms",
    "processor at 50 %": "cpu-slow-leader",
    "processor at 5 %": "cpu-slow",
}
LOST_AT_MOST = 15.0
"""Per cent of the throughput of 10 s, in a closed loop."""


@dataclass(frozen=True)
class System:
    """`thresholds`: of static detection, for a warning and a fatal level, in microseconds."""

    name: str
    program: str
    thresholds: tuple[int, int] | None = None

    @property
    def environment(self) -> dict[str, str]:
        if self.thresholds is None:
            return {}
        warn, fatal = self.thresholds
        return {"ADR_WARN_US": str(warn), "ADR_FATAL_US": str(fatal)}


OURS = System("ours", "adr_reference")
VANILLA = System("vanilla", "adr_static-pair", (100_000, 10_000_000))
SYSTEMS = (
    VANILLA,
    System("Static-1", "adr_static-pair", (1_000, 10_000)),
    System("Static-2", "adr_static-pair", (10_000, 100_000)),
    System("Static-3", "adr_static-pair", (100_000, 1_000_000)),
    System("the text", "adr_the-text"),
    OURS,
)
"""Document 004, Tables 3 and 4, and section 6.2."""

TEXT = (
    f"Three replicas in the simulator, and lab 3's store. {CLIENTS} clients wait for each answer."
    " After 13 to 20 s the leader is slow for 10 s. Each system is lab 7's reference with another"
    " detector, so each hands over in the same way. Vanilla has the thresholds of HBase in document"
    " 004, Table 3, and Static-1 to -3 are those of its Table 4. The text is its section 6.2: it"
    f" counts operations. Losses are means over {len(WORLDS)} worlds, which differ in their links,"
    " disks and processors. Changing loads last 70 s, without a fault."
)


@dataclass(frozen=True)
class Run:
    system: System
    world: str
    fault: str
    """NONE: the load changes instead."""

    @property
    def name(self) -> str:
        return f"{self.system.name}, {self.world}, {self.fault}"


NONE = "none"
Samples = Mapping[Run, Sample]


def run(kit: Kit) -> Section:
    """CannotDo in a student's kit: it has no variants."""
    if not variants_of(kit, "lab7"):
        raise CannotDo("this kit has no variants of lab7's reference: courses keep them")
    cmake.build(kit, targets=sorted({system.program for system in SYSTEMS}))
    runs = [
        Run(system, world, fault)
        for system in SYSTEMS
        for world in WORLDS
        for fault in (NONE, *FAULTS.values())
    ]
    with console.progress("Measuring detectors") as advance:
        found = parallel.run_all(runs, lambda one: _perform(kit, one), advance)
    return section(dict(zip(runs, found, strict=True)))


def section(samples: Samples) -> Section:
    # Static-3 warns as vanilla does, which decides here. A plot has room for five.
    names = [system.name for system in SYSTEMS if system.name != "Static-3"]
    by_fault = {
        fault: {system.name: losses(samples, system, preset) for system in SYSTEMS}
        for fault, preset in FAULTS.items()
    }
    plot = Plot(
        "Throughput lost in 10 s, mean of the worlds",
        "%",
        list(FAULTS),
        {name: [fmean(by_fault[fault][name]) for fault in FAULTS] for name in names},
    )
    return Section("adr", "Detectors beside each other", TEXT, [*_figures(samples)], [plot])


def _figures(samples: Samples) -> Sequence[Figure]:
    found = []
    for system in SYSTEMS:
        is_ours = system == OURS
        lost = [loss for preset in FAULTS.values() for loss in losses(samples, system, preset)]
        led = sum(needless(samples, system))
        found += [
            Figure(f"{system.name}: lost, mean", fmean(lost), "%"),
            Figure(
                f"{system.name}: lost, worst world and fault",
                max(lost),
                "%",
                LOST_AT_MOST if is_ours else None,
                at_most=True,
            ),
            Figure(
                f"{system.name}: leaders under changing loads, no fault",
                led,
                "",
                0 if is_ours else None,
                at_most=True,
            ),
        ]
        times = [
            time for preset in FAULTS.values() for time in found_after(samples, system, preset)
        ]
        found.append(Figure(f"{system.name}: faults that it acted on", len(times), ""))
        if times:
            found.append(Figure(f"{system.name}: another leader after, mean", fmean(times), "s"))
    return found


def losses(samples: Samples, system: System, fault: str) -> list[float]:
    """Of each world, in per cent."""
    runs = [samples[Run(system, world, fault)] for world in WORLDS]
    return [100 * figures.onset_loss(one, one) for one in runs]


def needless(samples: Samples, system: System) -> list[float]:
    """New leaders in each world without a fault."""
    runs = [samples[Run(system, world, NONE)] for world in WORLDS]
    return [figures.needless_leaders(one, one) for one in runs]


def found_after(samples: Samples, system: System, fault: str) -> list[float]:
    """Seconds from the fault's begin to another leader, of the worlds that have one."""
    found = []
    for world in WORLDS:
        onset = samples[Run(system, world, fault)].onset
        assert onset is not None, "the shape has one"
        later = [
            at - onset.fault_from
            for at in onset.new_proposers
            if onset.fault_from <= at < onset.fault_to
        ]
        found += [later[0] * figures.WINDOW_NS / 1e9] if later else []
    return found


def _perform(kit: Kit, one: Run) -> Sample:
    closed = ["--shape=onset", f"--clients={CLIENTS}"]
    words = ["--shape=changing", f"--rate={RATE}"] if one.fault == NONE else closed
    argv = [
        kit.binary(one.system.program),
        "--roles=leader,follower",
        "--mix=set",
        "--victim=leader",
        f"--profile={one.world}",
        f"--fault={one.fault}",
        f"--seed={SEED}",
        *words,
    ]
    done = process.run(argv, env=one.system.environment, timeout_s=RUN_TIMEOUT_S)
    if done.exit_code != 0:
        raise CannotDo(f"{one.name}: no result: {done.errors.strip() or done.how_it_ended()}")
    sample = parse_sample(json.loads(done.output.strip().splitlines()[-1]))
    # Other systems hand over without a fault: that is a result.
    if problem := sample.error or (one.system == OURS and sample.violation):
        raise CannotDo(f"{one.name}: {problem}")
    return sample


BENCHMARKS = {"adr": run}
