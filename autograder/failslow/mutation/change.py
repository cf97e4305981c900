"""A change of one place of a source file, and how it is named without a line number."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from failslow.mutation.syntax import Source


@dataclass(frozen=True)
class Change:
    """`text` replaces the bytes [start, end) of a file.

    `before` and `after` are the lines around it, without the space that lays them out. They, the
    file and the function name the change as long as these lines stay.
    """

    file: str
    function: str
    operator: str
    start: int
    end: int
    text: str
    line: int
    before: str
    after: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return self.file, self.function, self.before, self.after


def make(source: Source, operator: str, function: str, span: tuple[int, int], text: str) -> Change:
    """The text keeps the number of lines, so that line numbers below stay the same."""
    start, end = span
    lost = source.text.count(b"\n", start, end)
    text += "\n" * (lost - text.count("\n"))
    first = source.text.rfind(b"\n", 0, start) + 1
    last = source.text.find(b"\n", end)
    last = len(source.text) if last < 0 else last
    before = source.text[first:last].decode()
    after = (source.text[first:start] + text.encode() + source.text[end:last]).decode()
    line = source.text.count(b"\n", 0, start) + 1
    return Change(
        source.name, function, operator, start, end, text, line, _joined(before), _joined(after)
    )


def applied(text: bytes, change: Change) -> bytes:
    return text[: change.start] + change.text.encode() + text[change.end :]


def shuffled(changes: Iterable[Change], seed: int) -> list[Change]:
    """In an order of the seed. A change elsewhere in the sources moves none of them: the order is
    by a hash of what each change is. So a sample is the beginning of every larger sample."""
    numbered: dict[tuple[str, ...], int] = {}
    keys = {}
    for change in changes:
        what = (*change.identity, change.operator)
        numbered[what] = numbered.get(what, 0) + 1
        text = "\0".join((str(seed), *what, str(numbered[what])))
        keys[change] = hashlib.sha256(text.encode()).digest()
    return sorted(keys, key=keys.__getitem__)


def _joined(text: str) -> str:
    return " ".join(text.split())
