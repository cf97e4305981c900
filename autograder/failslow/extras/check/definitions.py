"""The definitions that a diff changes: functions, classes and constants of C++ sources."""

import re
from collections.abc import Iterator, Mapping, Sequence

FILE = re.compile(r"--- a/(\S+)")
HUNK = re.compile(r"@@ -(\d+)")
BEGINS = re.compile(r"[A-Za-z]")
"""A definition begins in the first column, a directive or a brace does not."""
NOT_ONE = re.compile(r"namespace\b")


def changed(diff: str, files: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """`FILE: FIRST LINE` of each; the file alone if a hunk changes none. `files`: the lines of the
    sources before the change, by the names that the diff has. ValueError for a hunk that does not
    fit."""
    found = set()
    for name, near, hunk in _hunks(diff):
        lines = files.get(name, ())
        at = _place(lines, [line[1:] for line in hunk if line[0] != "+"], near)
        heads = {_head(lines, place, own) for place, own in _changed_lines(hunk, at)} - {None}
        found |= {f"{name}: {head}" for head in heads} or {name}
    return frozenset(found)


def _hunks(diff: str) -> Iterator[tuple[str, int, list[str]]]:
    """The file, the place that the hunk names, and its lines."""
    name, near = "", 0
    hunk: list[str] = []
    for line in [*diff.splitlines(), "--- a/end"]:
        file, place = FILE.match(line), HUNK.match(line)
        if (file or place) and hunk:
            yield name, near, hunk
            hunk = []
        if file:
            name, near = file[1], 0
        elif place:
            near = int(place[1])
        elif near and line[:1] in "+- ":
            # An editor may have removed the space of an empty line.
            hunk.append(line or " ")


def _place(lines: Sequence[str], old: Sequence[str], near: int) -> int:
    """The index of the hunk's first line: a patch may have moved since it was made."""
    fits = [at for at in range(len(lines)) if list(lines[at : at + len(old)]) == old]
    if not fits:
        raise ValueError(f"no lines like those of the hunk at line {near}")
    return min(fits, key=lambda at: abs(at + 1 - near))


def _changed_lines(hunk: Sequence[str], at: int) -> Iterator[tuple[int, bool]]:
    """For each changed line an index, and whether the old line of that index is changed. A new line
    stands behind it."""
    for line in hunk:
        if line[0] == "+":
            yield at - 1, False
            continue
        if line[0] == "-":
            yield at, True
        at += 1


def _head(lines: Sequence[str], place: int, own: bool) -> str | None:
    """The first line of the definition around a place; None between definitions."""
    for index in range(place, -1, -1):
        line = lines[index]
        if BEGINS.match(line) and not NOT_ONE.match(line):
            ended = line.endswith(";") and not (own and index == place)
            return None if ended else line
        if line.startswith("}") and not (own and index == place):
            return None
    return None
