"""The cells of a sweep in virtual time: exact, side by side, with the program of measured runs.

A run has three stages, as on real processes. It needs no privilege and no quiet machine. It carries
no points, so the solution is in the process of the run, and not sealed: the run is the same.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base import console, parallel, process
from failslow.base.errors import CannotDo, CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import build_submission
from failslow.build.recipe import MEASURED, given, load_recipe
from failslow.extras.faults import catalogue, injection, sweep
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.faults.stages import Stages
from failslow.extras.faults.sweep import Cell, Point
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import collect
from failslow.measurement.binary import RUN_TIMEOUT_S
from failslow.measurement.settings import FOLLOWER, SUBMIT, load_settings

BEFORE_S, AFTER_S = 2.0, 5.0
"""Recovery from lost packets takes seconds (document 004, appendix E)."""
CRASH, DEAD = "crash", "dead"
MIXES = {"read": "get", "mixed": "mixed", "write": "set"}
"""Names of the store's loads. `get` and `set` have 5 % of the other command."""
PLACES = {"leader": "proposers", "one": "one", "all": "all"}
OPEN_RATE = 600
"""Commands a second of an open loop: 30 % of what a good Raft does in this profile."""


@dataclass(frozen=True)
class System:
    """A lab's solution, and the number of its replicas. `has_mixes`: it is a store. A log has one
    load, and its clients go to its proposers. `seeds`: one run for each."""

    lab: Lab
    binary: Path
    replicas: int
    seeds: tuple[int, ...]
    has_mixes: bool

    @property
    def name(self) -> str:
        return self.lab.id

    @property
    def roles(self) -> tuple[str, ...]:
        assert self.lab.measurement is not None, "it was asked for"
        return self.lab.measurement.roles

    @property
    def subject(self) -> str:
        """All that the figures depend on."""
        digest = hashlib.sha256(self.binary.read_bytes())
        return (
            f"{self.name} simulated {digest.hexdigest()[:16]}, {self.replicas} replicas,"
            f" {BEFORE_S:g} and {AFTER_S:g} s, {len(self.seeds)} seeds"
        )


def system(kit: Kit, lab_id: str, tree: Path | None, replicas: int, seeds: int) -> System:
    """`tree`: a solution, or None for the reference. CannotDo for a lab without a measurement,
    and for a solution that does not compile."""
    labs = load_labs(kit)
    lab = labs.get(lab_id)
    if lab.measurement is None:
        raise CannotDo(f"--lab: {lab.id} has no measurement (lab2, lab3, lab5, lab6)")
    cmake.configure(kit)
    recipe = load_recipe(kit)
    target = recipe.sim(lab, f"{lab.id}{MEASURED}")
    cmake.build(kit, targets=[catalogue.PROGRAM, *given(kit, [target])])
    submission = collect(kit, labs, tree or kit.reference, lab.id)
    return System(
        lab,
        build_submission(kit, labs, submission, recipe, [target]) / target.name,
        replicas,
        tuple(range(1, seeds + 1)),
        SUBMIT not in dict(load_settings(kit, lab).loads),
    )


def make(
    of: System,
    known: Catalogue,
    points: Sequence[Point],
    ended: Callable[[Point, Cell], None],
) -> None:
    """All cells, side by side; `ended` gets each as it comes. CouldNotGrade for a run without a
    result."""
    with console.progress(f"Simulating {of.name}") as advance:
        parallel.run_all(
            points, lambda point: _cell(of, known, point), advance, lambda at: at.kind, ended
        )


def made(of: System, known: Catalogue, cells: Sequence[Cell]) -> list[Cell]:
    """The cells at the points of these, in their order."""
    found: dict[Point, Cell] = {}
    make(of, known, [cell.point for cell in cells], found.__setitem__)
    return [found[cell.point] for cell in cells]


def _cell(of: System, known: Catalogue, point: Point) -> Cell:
    runs, changes, trouble = [], [], ""
    for seed in of.seeds:
        told = _told(of, point, seed)
        runs.append(Stages(told["onset"]["slices_us"], BEFORE_S, point.seconds))
        changes.append(len(told["onset"]["new_proposers"]))
        trouble = trouble or told["violation"] or told["error"] or ""
    fault = injection.in_words(known.kinds[point.kind], point.amount)
    return sweep.cell_of(point, fault, runs, changes, trouble)


def _told(of: System, point: Point, seed: int) -> dict[str, Any]:
    fault = DEAD if point.kind == CRASH else f"{point.kind}:{point.amount}"
    stages = ",".join(str(round(each * 1000)) for each in (BEFORE_S, point.seconds, AFTER_S))
    argv = [*_command(of, point, seed), f"--fault={fault}", f"--shape=stages:{stages}"]
    argv.append("--slow=1" if point.target == FOLLOWER else f"--victim={point.target}")
    done = process.run(argv, env=process.ends_with_this(), timeout_s=RUN_TIMEOUT_S)
    if done.timed_out or done.exit_code != 0:
        reason = (done.errors.strip().splitlines() or [done.how_it_ended()])[-1]
        raise CouldNotGrade(f"{of.name}, {point.kind}: {reason}")
    try:
        told: dict[str, Any] = json.loads(done.output.strip().splitlines()[-1])
    except ValueError as error:  # the beginning of a long line is cut off
        reason = "too many commands ended in a run: try a shorter --duration"
        raise CouldNotGrade(f"{of.name}, {point.kind}: {reason}") from error
    if "onset" not in told:
        raise CouldNotGrade(f"{of.name}, {point.kind}: {told['error']}")
    return told


def _command(of: System, point: Point, seed: int) -> list[str | Path]:
    argv: list[str | Path] = [
        of.binary,
        f"--roles={','.join(of.roles)}",
        f"--replicas={of.replicas}",
        f"--seed={seed}",
        f"--clients-at={PLACES[point.at]}",
        f"--value-bytes={point.value_bytes}",
        f"--costs-percent={point.costs}",
    ]
    if of.has_mixes:
        argv.append(f"--mix={MIXES[point.mix]}")
    open_loop = f"--rate={point.rate or OPEN_RATE}"
    return [*argv, open_loop if point.is_open else f"--clients={point.load}"]
