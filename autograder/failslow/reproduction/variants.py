"""Runs of lab 4's reference and of its variants, with and without a slow follower."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from failslow import console, parallel, process
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.reproduction.published import VARIANTS

LAB = "lab4"
REPLICAS = 3
TIMEOUT_S = 1200.0


@dataclass(frozen=True)
class Run:
    """One run. Its seed elects the leader, and chooses the follower that is slow."""

    variant: str
    slow: bool
    seed: int

    @property
    def name(self) -> str:
        return f"{self.variant}, {'a slow follower' if self.slow else 'healthy'}, seed {self.seed}"


def program(variant: str) -> str:
    return f"diagnose_{variant}"


def programs(kit: Kit) -> list[str]:
    """To build. CannotDo if the kit has no variants: a student's kit has none."""
    if not any(kit.variants.glob(f"{LAB}/*.patch")):
        raise CannotDo(f"this kit has no variants of {LAB}'s reference: courses keep them")
    return [program(variant) for variant in VARIANTS]


def plan(seeds: int) -> list[Run]:
    return [
        Run(variant, slow, seed)
        for variant in VARIANTS
        for slow in (False, True)
        for seed in range(1, seeds + 1)
    ]


def perform(kit: Kit, runs: Sequence[Run], seconds: int) -> list[dict[str, Any]]:
    """What each run observed (autograder/diagnosis/diagnosis_run.h), in `seconds` of virtual time.
    CannotDo if a run fails."""
    with console.progress("Running the variants") as advance:
        return parallel.run_all(runs, lambda run: _perform(kit, run, seconds), advance)


def _perform(kit: Kit, run: Run, seconds: int) -> dict[str, Any]:
    leader = run.seed % REPLICAS
    follower = (leader + 1 + run.seed // REPLICAS % 2) % REPLICAS
    argv = [kit.binary(program(run.variant)), f"--seed={run.seed}", f"--leader={leader}"]
    argv += [f"--seconds={seconds}", *([f"--slow={follower}"] if run.slow else [])]
    try:
        done = process.run(argv, timeout_s=TIMEOUT_S)
        if done.exit_code == 0:
            return json.loads(done.output)
        reason = done.errors.strip() or done.how_it_ended()
    except (OSError, ValueError) as error:
        reason = str(error)
    raise CannotDo(f"{run.name}: no result: {reason}")
