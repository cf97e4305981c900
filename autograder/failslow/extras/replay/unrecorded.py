"""Problems that a record lacks, as lines of the history: the crash of the test's process, and a
failure after the last cluster has ended."""

import re

from failslow.build import assertions
from failslow.extras.replay.recording import Note, World

# The report of framework/testkit/crash_report.h, with the lines that crash_stack.py makes of it.
_REPORT = re.compile(
    r"^[^\n]+\nin a step of replica \d+ at (?P<seconds>\d+)\.(?P<micros>\d{6}) s[^\n]*"
    r"(?:\n  [^\n]+)*",
    re.M,
)


def add(worlds: list[World], failures: tuple[str, ...], ended_process: bool) -> None:
    """Adds the crash to the last world; without one, the first failure if no world has a problem.

    Requires: `failures` are the test's. `ended_process`: it has ended without a verdict.
    """
    if not worlds or not failures:
        return
    if ended_process:
        _add_crash(worlds[-1], failures)
    elif all(world.first_problem() is None for world in worlds):
        _add_failure(worlds, failures[0])


def _add_crash(world: World, failures: tuple[str, ...]) -> None:
    found = next((each for text in failures if (each := _REPORT.search(text))), None)
    if found is None:
        return
    micros = int(found["seconds"]) * 1_000_000 + int(found["micros"])
    # The report's time is cut off after the microsecond. The step's own records have all of it.
    when = min(max(world.end, micros * 1000), micros * 1000 + 999)
    world.notes.append(Note(when, found[0], "crash"))
    world.end = max(world.end, when)


def _add_failure(worlds: list[World], failure: str) -> None:
    """To the world with a step that went wrong, at that step; or to the end of the last world."""
    text = assertions.without_place(failure)
    for world in worlds:
        for mark in reversed(world.marks):  # as explanation.py: the last script
            if mark.wrong:
                world.notes.append(Note(mark.when, text, "failure"))
                return
    worlds[-1].notes.append(Note(worlds[-1].end, text, "failure"))
