"""The costs of slow followers to the reference of lab 2: the figures of documents 000, 001 and 002.

Its load is of writes alone, as theirs. Each figure is measured in two profiles of the simulator:
with little jitter, as for grades, and with the jitter of real disks and networks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.compile import build_submission
from failslow.build.recipe import given, load_recipe
from failslow.extras.reproduction.published import FAULT_002, FAULTS, REPLICAS
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect
from failslow.measurement import figures
from failslow.measurement.binary import Program, Sample, binary_of
from failslow.measurement.figures import PairFigure
from failslow.measurement.measure import Meter
from failslow.measurement.runs import DEAD, LATENCY, LOW_JITTER, NORMAL, REALISTIC, SATURATED, Run
from failslow.measurement.settings import FOLLOWER, SUBMIT, load_settings
from failslow.measurement.sweep import Sweep

LAB = "lab2"
PROFILES = (LOW_JITTER, REALISTIC)
STRUCK_BY = (*FAULTS, FAULT_002, DEAD)
"""Dead followers cost what the loss of the spare costs. A slow one should cost no more."""


@dataclass(frozen=True)
class Cost:
    """A fault's cost on the largest minority of followers: medians over seeds, as shares of 1. A
    gain is negative. Throughput beyond the capacity, latencies at 65 % of it."""

    profile: str
    replicas: int
    fault: str
    throughput: float
    mean: float
    p50: float
    p99: float


@dataclass(frozen=True)
class _Plan:
    """The runs of a sweep in both profiles."""

    sweep: Sweep

    def capacity(self, mix: str, replicas: int) -> list[Run]:
        return self.sweep.capacity(mix, replicas)

    def rest(self) -> list[Run]:
        return [replace(run, profile=profile) for profile in PROFILES for run in self.sweep.rest()]

    def cell(self, profile: str, replicas: int, fault: str) -> list[Run]:
        return [replace(run, profile=profile) for run in self.sweep.cell(replicas, fault)]


def programs(kit: Kit) -> list[str]:
    """To build. Requires: CMake is configured."""
    lab = load_labs(kit).get(LAB)
    replica = load_recipe(kit).replica(lab)
    return [binary_of(lab), *given(kit, [replica])]


def costs(kit: Kit, seeds: int) -> list[Cost]:
    """By profile, by the number of replicas, then by fault. CannotDo if a run misbehaves."""
    labs = load_labs(kit)
    lab = labs.get(LAB)
    assert lab.measurement is not None
    recipe = load_recipe(kit)
    target = recipe.replica(lab)
    submission = collect(kit, labs, kit.reference, LAB)
    replica = build_submission(kit, labs, submission, recipe, [target]) / target.name
    program = Program(kit.binary(binary_of(lab)), lab.measurement.roles, replica)
    sweep = Sweep(REPLICAS, STRUCK_BY, FOLLOWER, tuple(range(1, seeds + 1)))
    plan = _Plan(sweep)
    meter = Meter(program, load_settings(kit, lab).rates, [(SUBMIT, size) for size in REPLICAS])
    with console.progress("Measuring slow followers") as advance:
        samples = meter.run_all(plan, advance)
    for run, sample in samples.items():
        if problem := sample.error or sample.violation:
            raise CannotDo(f"{run}: {problem}")
    return [
        _cost(samples, plan.cell(profile, size, fault))
        for profile in PROFILES
        for size in sweep.replicas
        for fault in sweep.faults
    ]


def _cost(samples: dict[Run, Sample], runs: Sequence[Run]) -> Cost:
    def middle(figure: PairFigure, load: str) -> float:
        return median(
            figure(samples[run.with_fault(NORMAL)], samples[run])
            for run in runs
            if run.load == load
        )

    return Cost(
        runs[0].profile,
        runs[0].replicas,
        runs[0].fault,
        throughput=middle(figures.throughput_degradation, SATURATED),
        mean=middle(figures.latency_degradation, LATENCY),
        p50=middle(figures.median_latency_degradation, LATENCY),
        p99=middle(figures.p99_ratio, LATENCY) - 1,
    )
