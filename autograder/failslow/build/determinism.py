"""Checks whether a submission is deterministic, and finds the first difference if not.

Each replica has a twin: a process with other contents of its memory and other addresses, that gets
the same messages. Everything that crosses the Host must be the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from failslow.base.errors import CouldNotGrade
from failslow.build import gtest
from failslow.build.gtest import Outcome

TEST_ID = "determinism"
CONTEXT_LINES = 3
LINE_CHARS_MAX = 300
FILLS = 127
SAME = "same"
DIFFER = "differ"
NO_CROSSING = "Two more runs agree: the submission differs only now and then."


def fills(seed: int) -> tuple[int, int]:
    """Two settings of `--perturb`, each the complement of the other: of replicas, and of twins.

    The first is odd: addresses are fixed. The second is even: a read of a clock is a fault, which
    makes each change of the running process dearer. Neither is 0, so no process has the machine's
    defaults. Code that tells the two apart differs.
    """
    first = 1 + 2 * (seed % FILLS)
    return first, 255 - first


def run_with_twins(
    run: gtest.Run, binary: Path, test: str, options: gtest.Options, seed: int
) -> Outcome:
    """Runs a test whose replicas have twins: `Outcome.differs` says how two of them differ.

    `seed`: draws the fills. CouldNotGrade as `run`, and when the twins could not be compared.
    """
    first, second = fills(seed)
    outcome = run(binary, test, replace(options, perturb=first, twin=second))
    if outcome.ended_process:
        return outcome  # it has failed before its twins could be compared
    check(outcome.twins, test)
    if outcome.twins == SAME:
        return outcome
    traces = [
        gtest.run_test(binary, test, replace(options, perturb=fill, trace=True)).trace
        for fill in (first, second)
    ]
    return replace(outcome, differs=describe(*traces))


def check(twins: str, what: object) -> None:
    """CouldNotGrade unless twins were compared."""
    if twins not in (SAME, DIFFER):
        raise CouldNotGrade(f"{what}: its twins were not compared ({twins or 'there are none'})")


def describe(first: Sequence[str], second: Sequence[str]) -> str:
    """The first crossing that differs, with the lines before it."""
    intro = (
        "The submission is not deterministic: two runs with the same seed differ."
        " Usual causes: an uninitialised variable, the order of pointers or of an"
        " unordered container, a clock or random numbers that are not the Host's."
    )
    index = first_difference(first, second)
    if index is None:
        return f"{intro}\n{NO_CROSSING}"
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
