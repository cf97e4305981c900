"""The tests in the order in which they are likely to notice a change.

The mutants written by hand know which test watches which line: a test is as near to a change as the
nearest line of a mutant that it must catch.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from failslow import mutants
from failslow.gtest import GradedTest
from failslow.mutants import Mutant
from failslow.mutation.change import Change

FILE = re.compile(r"--- a/(\S+)")
HUNK = re.compile(r"@@ -(\d+)")

NEAR_LINES = 10
FAR_LINES = 300
"""The first test to run is not always the nearest: a quick one that is far costs less."""

Watched = dict[str, dict[str, list[int]]]
"""By test, then by file: the lines of the reference that its mutants change."""


def watched(lab: str, written: Iterable[Mutant]) -> Watched:
    found: Watched = {}
    for mutant in written:
        if mutant.lab != lab:
            continue
        lines = changed_lines(mutants.split(mutant.path)[1])
        for test in mutant.caught_by:
            files = found.setdefault(test, {})
            for file, numbers in lines.items():
                files.setdefault(file, []).extend(numbers)
    return found


def changed_lines(diff: str) -> dict[str, list[int]]:
    """The lines of the old files that a diff removes, or puts lines before."""
    found: dict[str, list[int]] = {}
    file, number = "", 0
    for line in diff.splitlines():
        if named := FILE.match(line):
            file = PurePosixPath(named[1]).name
        elif hunk := HUNK.match(line):
            number = int(hunk[1])
        elif line.startswith("-"):
            found.setdefault(file, []).append(number)
            number += 1
        elif line.startswith("+"):
            if not line.startswith("+++"):
                found.setdefault(file, []).append(number)
        else:
            number += 1
    return found


def ordered(change: Change, tests: Sequence[GradedTest], known: Watched) -> list[GradedTest]:
    """The nearest first. Tests that watch nothing in the file follow in their own order."""

    return sorted(tests, key=lambda test: _distance(change, test, known))


def _distance(change: Change, test: GradedTest, known: Watched) -> float:
    """In lines."""
    lines = known.get(test.name, {}).get(change.file, [])
    return min((abs(line - change.line) for line in lines), default=float("inf"))


def soonest(
    change: Change, tests: Sequence[GradedTest], known: Watched, seconds: Mapping[str, float]
) -> list[GradedTest]:
    """In the order in which a failure is likely to be found soonest: near tests, and quick ones."""

    def cost(test: GradedTest) -> float:
        return seconds[test.name] * (NEAR_LINES + min(_distance(change, test, known), FAR_LINES))

    return sorted(tests, key=cost)
