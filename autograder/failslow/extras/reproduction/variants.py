"""Runs of lab 4's reference and of its variants, with and without a slow follower."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from failslow.base import console, parallel
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.reproduction.published import VARIANTS
from failslow.grade.diagnosis import programs
from failslow.lab.mutants import variants_of

LAB = "lab4"
REPLICAS = 3
WAITS_IN_TURN = "waits-in-turn"
"""A variant of ours: document 000 has none like it."""


@dataclass(frozen=True)
class Run:
    """One run. Its seed elects the leader, and chooses the follower that is slow."""

    variant: str
    slow: bool
    seed: int

    @property
    def name(self) -> str:
        return f"{self.variant}, {'a slow follower' if self.slow else 'healthy'}, seed {self.seed}"


def targets(kit: Kit) -> list[str]:
    """To build. CannotDo if the kit has no variants: a student's kit has none."""
    if not variants_of(kit, LAB):
        raise CannotDo(f"this kit has no variants of {LAB}'s reference: courses keep them")
    return [programs.program(variant) for variant in (*VARIANTS, WAITS_IN_TURN)]


def with_graph(variant: str) -> Run:
    """The run whose slowness propagation graph is kept."""
    return Run(variant, slow=True, seed=1)


def plan(seeds: int) -> list[Run]:
    published = [
        Run(variant, slow, seed)
        for variant in VARIANTS
        for slow in (False, True)
        for seed in range(1, seeds + 1)
    ]
    return [*published, with_graph(WAITS_IN_TURN)]


def perform(kit: Kit, runs: Sequence[Run], seconds: int) -> list[dict[str, Any]]:
    """The observations of each run, in `seconds` of virtual time. CannotDo if a run fails."""
    with console.progress("Running the variants") as advance:
        return parallel.run_all(runs, lambda run: _perform(kit, run, seconds), advance)


def _perform(kit: Kit, run: Run, seconds: int) -> dict[str, Any]:
    leader = run.seed % REPLICAS
    follower = (leader + 1 + run.seed // REPLICAS % 2) % REPLICAS
    options = programs.Options(run.seed, leader, follower if run.slow else None, seconds)
    return programs.perform(kit, run.variant, run.name, options)
