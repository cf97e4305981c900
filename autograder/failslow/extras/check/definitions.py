"""The definitions that a diff changes: functions, classes and constants of C++ sources."""

import re
from collections.abc import Iterator, Mapping, Sequence

FILE = re.compile(r"^--- a/(\S+)\n", re.M)
HUNK = re.compile(r"^@@ -(\d+).*\n", re.M)
DEFINITION = re.compile(r"(?!namespace\b)[A-Za-z]")
"""It begins in the first column; a directive, a comment or a brace does not."""


def changed(diff: str, files: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """`FILE: FIRST LINE` of each; a change between two belongs to the first. `files`: the lines of
    the sources before the change, by the names that the diff has. ValueError for a hunk that does
    not fit."""
    _, *parts = FILE.split(diff)
    return frozenset(
        f"{name}: {_first_line(files.get(name, ()), index)}"
        for name, hunks in zip(parts[::2], parts[1::2], strict=True)
        for index in _changed_lines(hunks, files.get(name, ()))
    )


def _changed_lines(hunks: str, lines: Sequence[str]) -> Iterator[int]:
    """Their indices in the source; a new line has that of the line above it."""
    _, *parts = HUNK.split(hunks)
    for near, text in zip(parts[::2], parts[1::2], strict=True):
        # An editor may have removed the space of an empty line.
        hunk = [line or " " for line in text.splitlines() if line[:1] in "+- "]
        at = _place(lines, [line[1:] for line in hunk if line[0] != "+"], int(near)) - 1
        for line in hunk:
            at += line[0] != "+"
            if line[0] != " ":
                yield at


def _place(lines: Sequence[str], old: Sequence[str], near: int) -> int:
    """The index of the hunk's first line: a patch may have moved since it was made."""
    fits = [at for at in range(len(lines)) if list(lines[at : at + len(old)]) == old]
    if not fits:
        raise ValueError(f"no lines like those of the hunk at line {near}")
    return min(fits, key=lambda at: abs(at + 1 - near))


def _first_line(lines: Sequence[str], index: int) -> str:
    above = reversed(lines[: index + 1])
    return next((line for line in above if DEFINITION.match(line)), "")
