"""Runs the program of a variant of lab 4's Raft once (autograder/diagnosis/diagnosis_run.h)."""

import json
from pathlib import Path
from typing import Any

from failslow import process
from failslow.errors import CouldNotGrade
from failslow.kit import Kit


def program(variant: str) -> str:
    """The target that makes it, and its file's name."""
    return f"diagnose_{variant}"


def perform(
    kit: Kit,
    variant: str,
    what: str,
    *,
    seed: int,
    leader: int,
    slow: int | None,
    seconds: int,
    record: Path | None = None,
) -> dict[str, Any]:
    """What the run observed in `seconds` of virtual time. `slow`: a follower, or None.

    CouldNotGrade if it fails. `what`: the run's name in that sentence, which may be a secret
    variant's label.
    """
    argv = [
        kit.binary(program(variant)),
        f"--seed={seed}",
        f"--leader={leader}",
        f"--seconds={seconds}",
        *([] if slow is None else [f"--slow={slow}"]),
        *([f"--record={record}"] if record else []),
    ]
    try:
        done = process.run(argv, timeout_s=300 + 5 * seconds)
        if done.exit_code == 0:
            return json.loads(done.output)
        reason = done.errors.strip() or done.how_it_ended()
    except (OSError, ValueError) as error:
        reason = str(error)
    raise CouldNotGrade(f"{what} has no run: {reason}")
