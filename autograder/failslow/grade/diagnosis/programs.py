"""Runs the program of one variant once (in the hidden tests of a lab with a diagnosis)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base import process
from failslow.base.errors import CouldNotGrade
from failslow.base.kit import Kit


def program(variant: str) -> str:
    """The target that makes it, and its file's name."""
    return f"diagnose_{variant}"


@dataclass(frozen=True)
class Options:
    """`slow`: a follower, or None. `seconds`: of virtual time. `record`: a file for its replay."""

    seed: int
    leader: int
    slow: int | None
    seconds: int
    record: Path | None = None


def perform(kit: Kit, variant: str, what: str, options: Options) -> dict[str, Any]:
    """The observations of a run.

    CouldNotGrade if it fails. `what`: the run's name in that sentence, which may be a secret
    variant's label.
    """
    argv: list[str | Path] = [
        kit.binary(program(variant)),
        f"--seed={options.seed}",
        f"--leader={options.leader}",
        f"--seconds={options.seconds}",
        *([] if options.slow is None else [f"--slow={options.slow}"]),
        *([f"--record={options.record}"] if options.record else []),
    ]
    try:
        done = process.run(argv, timeout_s=300 + 5 * options.seconds)
        if done.exit_code == 0:
            observed: dict[str, Any] = json.loads(done.output)
            return observed
        reason = done.errors.strip() or done.how_it_ended()
    except (OSError, ValueError) as error:
        reason = str(error)
    raise CouldNotGrade(f"{what} has no run: {reason}")
