"""Checks whether a submission is deterministic, and finds the first difference if not.

One test runs twice with different memory contents and address layouts (`--perturb`). Everything
that crosses the Host must be the same, line for line.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from failslow import gtest
from failslow.errors import CouldNotGrade

TEST_ID = "determinism"
CONTEXT_LINES = 3
LINE_CHARS_MAX = 300


def compare(binary: Path, test: str, options: gtest.Options) -> str | None:
    """The message for the student, or None when both runs agree. CouldNotGrade as `run_test`,
    and when there is no hash to compare."""
    first, second = (
        gtest.run_test(binary, test, replace(options, perturb=perturb, trace=True))
        for perturb in (1, 2)
    )
    if not first.trace_hash or not second.trace_hash:
        raise CouldNotGrade(f"{test} recorded no trace hash")
    if first.trace_hash == second.trace_hash and first.trace == second.trace:
        return None
    return describe(first.trace, second.trace)


def describe(first: Sequence[str], second: Sequence[str]) -> str:
    """The first crossing that differs, with the lines before it."""
    intro = (
        "The submission is not deterministic: two runs with the same seed differ."
        " Usual causes: an uninitialised variable, the order of pointers or of an"
        " unordered container, a clock or random numbers that are not the Host's."
    )
    index = first_difference(first, second)
    if index is None:
        return f"{intro}\nThe traces agree, but the contents of the messages differ."
    context = [f"  {number + 1:>6}  {_cut(first[number])}" for number in _before(index)]
    return "\n".join(
        [
            intro,
            f"The first crossing of the Host that differs is number {index + 1}:",
            *context,
            f"  run 1:  {_line(first, index)}",
            f"  run 2:  {_line(second, index)}",
        ]
    )


def first_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """Index of the first line that differs; a run that ended early differs at its end."""
    for index, (ours, theirs) in enumerate(zip_longest(first, second)):
        if ours != theirs:
            return index
    return None


def _before(index: int) -> range:
    return range(max(0, index - CONTEXT_LINES), index)


def _line(trace: Sequence[str], index: int) -> str:
    return _cut(trace[index]) if index < len(trace) else "(the run had ended)"


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CHARS_MAX else f"{line[:LINE_CHARS_MAX]}..."
