"""The crash of a test's process, as a line of the history of the world in which it happened."""

import re

from failslow.replay.recording import Note, World

# The report of framework/testkit/crash_report.h, with the lines that crash_stack.py makes of it.
_REPORT = re.compile(
    r"^[^\n]+\nin a step of replica \d+ at (?P<seconds>\d+)\.(?P<micros>\d{6}) s[^\n]*"
    r"(?:\n  [^\n]+)*",
    re.M,
)


def mark(worlds: list[World], failures: tuple[str, ...]) -> None:
    """Adds the crash that a failure reports to the last world, if one does."""
    found = next((each for text in failures if (each := _REPORT.search(text))), None)
    if found is None or not worlds:
        return
    world = worlds[-1]
    micros = int(found["seconds"]) * 1_000_000 + int(found["micros"])
    # The report's time is cut off after the microsecond. The step's own records have all of it.
    when = min(max(world.end, micros * 1000), micros * 1000 + 999)
    world.notes.append(Note(when, found[0], "crash"))
    world.end = max(world.end, when)
