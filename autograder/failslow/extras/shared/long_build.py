"""A program that builds for minutes: its last line is its progress."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo

LINES_SHOWN = 50
"""The number of lines that a failed build shows."""
KIT = "kit: "
"""Begins the messages of the script `kit`."""


def run(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str], what: str) -> None:
    """CannotDo with the last lines when it fails."""
    said: list[str] = []
    lines = process.lines(argv, cwd=cwd, env=env)
    with console.progress(what) as advance, closing(lines):
        for line in lines:
            if isinstance(line, str):
                said.append(line)
                advance(0, 0, line)
            elif line != 0:
                reason = f"{what}: exit code {line}: {_reason(said)}"
                raise CannotDo(reason, "\n".join(said[-LINES_SHOWN:]))


def _reason(said: Sequence[str]) -> str:
    """The last message of `kit` within the build, or the last line."""
    lines = [line for line in said if line.strip()]
    of_kit = [line[line.index(KIT) :] for line in lines if KIT in line]
    return (of_kit or lines or ["no message"])[-1]
