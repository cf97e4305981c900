"""A change of one place of a source file, and how it is named without a line number."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from failslow.mutation.syntax import Source

SHOWN = 160
"""Characters of a long statement that a report shows."""


@dataclass(frozen=True)
class Change:
    """`text` replaces the bytes [start, end) of a file.

    `before` and `after` are the lines around it, without the space that lays them out. They, the
    file and the function name the change as long as these lines stay. `shown` is the line as
    `git diff --word-diff` writes it: [-old-]{+new+}.
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
    shown: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return self.file, self.function, self.before, self.after


def make(source: Source, operator: str, function: str, span: tuple[int, int], text: str) -> Change:
    """The text keeps the number of lines, so that line numbers below stay the same."""
    start, end = span
    lost = source.text.count(b"\n", start, end)
    first = source.text.rfind(b"\n", 0, start) + 1
    last = source.text.find(b"\n", end)
    last = len(source.text) if last < 0 else last
    left, old, right = (
        source.text[begin:stop].decode() for begin, stop in ((first, start), span, (end, last))
    )
    return Change(
        file=source.name,
        function=function,
        operator=operator,
        start=start,
        end=end,
        text=text + "\n" * (lost - text.count("\n")),
        line=source.text.count(b"\n", 0, start) + 1,
        before=_joined(left + old + right),
        after=_joined(left + text + right),
        shown=_joined(left + _marked("[-", old, "-]") + _marked("{+", text, "+}") + right),
    )


def _marked(begin: str, text: str, end: str) -> str:
    """Nothing for no text. A long text is cut off."""
    text = _joined(text)
    if len(text) > SHOWN:
        text = f"{text[: SHOWN - 4]} ..."
    return f"{begin}{text}{end}" if text else ""


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
