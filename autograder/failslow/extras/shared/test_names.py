"""The names of a lab's tests, read from their sources: a misspelt name costs no compilation."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from failslow.base.errors import CannotDo

__test__ = False  # not for pytest, despite its name

DECLARATION = re.compile(
    r'^(?:GRADED|OWN)_TEST\(\s*(\w+)\s*,\s*(\w+)(?:\s*,\s*"([\w-]+)"\s*,\s*\d)?', re.MULTILINE
)
"""An own test has no part, and its third word is a sentence."""

LIKENESS = 0.6
"""The least likeness of a suggestion, as difflib measures it."""
SUGGESTIONS = 3


def declared(directory: Path) -> dict[str, str]:
    """The part of each test in the directory's sources by SUITE.NAME; "" for a student's own."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.cc"))]
    found = [each for text in texts for each in DECLARATION.findall(text)]
    return {f"{suite}.{name}": part for suite, name, part in found}


def chosen(parts: Mapping[str, str], pattern: str, lab: str) -> list[str]:
    """The tests that the pattern names: a part in any case, a test, a suite, or a name with `*` and
    `?`. `parts`: as `declared` returns it.

    CannotDo if there is none, with suggestions.
    """
    found = [
        name
        for name, part in parts.items()
        if fnmatchcase(name, pattern) or pattern == _suite(name) or pattern.lower() == part.lower()
    ]
    if not found:
        raise CannotDo(f"{lab} has no public test '{pattern}'{_suggestion(parts, pattern)}")
    return found


def _suggestion(parts: Mapping[str, str], pattern: str) -> str:
    """By the case-blind whole name; of a word alone by a part, a suite, or the last part of a name,
    which people remember."""
    wholes = {name.lower(): name for name in parts}
    groups = {each.lower(): each for each in [*map(_suite, parts), *parts.values()] if each}
    lasts = {name.split(".")[1].lower(): name for name in parts}
    word = pattern.lower().removesuffix(".*")
    for known in (wholes, lasts) if "." in word else (groups, lasts, wholes):
        same = [word] if word in known else []
        close = same or get_close_matches(word, known, n=SUGGESTIONS, cutoff=LIKENESS)
        if close:
            return f": did you mean {' or '.join(repr(known[each]) for each in close)}?"
    return f"; it has {', '.join(sorted(groups.values()))}"


def _suite(name: str) -> str:
    return name.partition(".")[0]
