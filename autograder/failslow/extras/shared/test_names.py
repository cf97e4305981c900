"""The names of a lab's tests, read from their sources: a misspelt name costs no compilation."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from failslow.base.errors import CannotDo

__test__ = False  # not for pytest, despite its name

DECLARATION = re.compile(r"^(?:GRADED|OWN)_TEST\(\s*(\w+)\s*,\s*(\w+)", re.MULTILINE)

LIKENESS = 0.6
"""The least likeness of a suggestion, as difflib measures it."""


def declared(directory: Path) -> list[str]:
    """SUITE.NAME of each test in the directory's sources, graded or a student's own."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.cc"))]
    return [f"{suite}.{name}" for text in texts for suite, name in DECLARATION.findall(text)]


def chosen(names: Sequence[str], pattern: str, lab: str) -> list[str]:
    """Those that the pattern names: a test, a suite, or a name with `*` and `?`.

    CannotDo if there is none, with a suggestion.
    """
    found = [name for name in names if fnmatchcase(name, pattern) or _suite(name) == pattern]
    if not found:
        raise CannotDo(f"{lab} has no public test '{pattern}'{_suggestion(names, pattern)}")
    return found


def _suggestion(names: Sequence[str], pattern: str) -> str:
    """By the case-blind whole name; of a word alone by a suite, or by the last part, which people
    remember."""
    wholes = {name.lower(): name for name in names}
    suites = {_suite(name).lower(): _suite(name) for name in names}
    lasts = {name.split(".")[1].lower(): name for name in names}
    word = pattern.lower().removesuffix(".*")
    for known in (wholes, lasts) if "." in word else (suites, lasts, wholes):
        close = get_close_matches(word, known, n=1, cutoff=LIKENESS)
        if close:
            return f": did you mean '{known[close[0]]}'?"
    return f"; it has {', '.join(names)}"


def _suite(name: str) -> str:
    return name.partition(".")[0]
