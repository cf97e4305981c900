"""`kit replay`: runs one test in simulation, prints its numbered history, and draws it.

An instructor's kit has the hidden tests, so an instructor may name one. Instead of a test one may
name a schedule that `kit explore` has written, or a measured run (replay_measured.py).
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import console
from failslow.base.kit import Kit
from failslow.build.gtest import Options, Outcome
from failslow.extras.journal import entries as journal
from failslow.extras.replay import one_test
from failslow.extras.shared.solution import check_out

SHRINK_RUNS = 300
SHRINK_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Request:
    """`test`: a test's name, or the file of a schedule. Without a `seed` the test uses its own.
    Without a `directory` the kit's labs are replayed.
    `shrink`: replays the shortest schedule of faults that fails as the test's own does."""

    lab: str
    test: str
    seed: int | None
    directory: Path | None
    out: Path
    shrink: bool = False


def run(kit: Kit, wanted: Request) -> int:
    """0 when the test passes, 1 when it fails; CannotDo for an unknown test."""
    check_out(wanted.out)
    schedule = Path(wanted.test).resolve() if Path(wanted.test).is_file() else None
    sims, found = one_test.find(
        kit, wanted.lab, None if schedule else wanted.test, wanted.directory or kit.labs
    )
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as scratch:
        record = Path(scratch) / "record"
        options = Options(seed=wanted.seed, record=record, schedule=schedule)
        if wanted.shrink:
            options = replace(options, shrink=SHRINK_RUNS, timeout_s=SHRINK_TIMEOUT_S)
        outcome = sims.run(found, options)
        print(outcome.history, end="")
        one_test.write_drawing(wanted.out, sims, found, outcome, record)
    if wanted.shrink and not outcome.shrinks and not outcome.ended_process:
        console.note(f"{wanted.test} has no random faults, so there was nothing to shrink")
    keep(kit, wanted, outcome)
    return one_test.verdict(wanted.test, outcome)


def keep(kit: Kit, wanted: Request, outcome: Outcome) -> None:
    """Adds a line to the student's journal."""
    told = {"seed": outcome.seed, "result": "passed" if outcome.passed else "failed"}
    journal.add_step(kit, "replay", wanted.lab, wanted.directory, what=wanted.test, **told)
