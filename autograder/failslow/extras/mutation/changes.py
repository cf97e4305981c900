"""The changes that universalmutator makes of a source: each of one line."""

import contextlib
import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass

RULES = ("universal", "c_like", "cpp")
"""The rules that its own command takes for C++."""

NOT_CODE = (r"^\s*(?:#|namespace\b|\}  // namespace\b)", r"\bassert\(")
"""Lines that it leaves alone. An assertion is no behaviour of the program."""


@dataclass(frozen=True)
class Change:
    """`line` counts from 1. `before` and `after` are whole lines; `after` may be two."""

    file: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line}\n    - {old}\n    + {new}"


def changes_of(file: str, text: str) -> list[Change]:
    """In the order of the lines. None that touches only the text of a string."""
    # Only `kit check` installs it.
    from universalmutator import mutator

    lines = text.splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its progress
        found = mutator.mutants_regexp(
            lines, list(RULES), ignorePatterns=list(NOT_CODE), ignoreStringOnly=True
        )
    return [Change(file, number, lines[number - 1], after) for number, after, *_ in found]


def applied(text: str, change: Change) -> str:
    lines = text.splitlines(keepends=True)
    lines[change.line - 1] = change.after
    return "".join(lines)


def shuffled(changes: Iterable[Change], seed: int) -> list[Change]:
    """In an order of the seed. The order is by a hash of each change. So a sample is the beginning
    of every larger sample, and an edit elsewhere leaves it as it is."""

    def key(change: Change) -> bytes:
        words = (str(seed), change.file, change.before, change.after, str(change.line))
        return hashlib.sha256("\0".join(words).encode()).digest()

    return sorted(changes, key=key)
