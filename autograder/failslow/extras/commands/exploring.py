"""Runs a program of `kit explore`, and shows the progress that it reports."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from failslow.base import console, process

OUTPUT_LINES = 20
"""The last lines of a program that ended without a result, at most."""


def run(
    argv: Sequence[str],
    scratch: Path,
    progress: re.Pattern[str],
    words: Callable[[re.Match[str]], str],
) -> tuple[int, list[str]]:
    """The exit code, and the lines that do not report progress.

    `progress`: a line of the program; its first groups are the part that is done, and the total.
    `words`: shown beside them.
    """
    output: list[str] = []
    exit_code = 0
    with (
        console.progress("Exploring") as advance,
        closing(process.lines(argv, cwd=scratch)) as lines,
    ):
        for item in lines:
            if isinstance(item, int):
                exit_code = item
            elif found := progress.fullmatch(item):
                advance(int(found[1]), int(found[2]), words(found))
            else:
                output.append(item)
    return exit_code, output


def ending(exit_code: int, output: Sequence[str]) -> tuple[str, str]:
    """The end of a program without a result, and its last words."""
    how = process.Completed(exit_code, "", "", timed_out=False).how_it_ended()
    return how, "\n".join(output[-OUTPUT_LINES:])
