"""A column of a cluster's status. It needs nothing but Python: containers show columns, too."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One value of the latest observation of a kind, by its place.

    `words`: names of its values. `figure`: the places of a measured value and of its threshold, in
    us. `at`: that of its time, in ns of CLOCK_MONOTONIC. `marks`: a change is a mark in a replay.
    """

    name: str
    kind: int
    value: int
    words: tuple[str, ...] = ()
    figure: tuple[int, ...] = ()
    at: int | None = None
    marks: bool = False

    @property
    def is_health(self) -> bool:
        return bool(self.figure) or self.marks

    def in_words(self, value: int) -> str | int:
        return self.words[value] if value < len(self.words) else value

    def cell(self, values: Sequence[int], now_ns: int) -> str | int | None:
        """All of an observation. None without one."""
        if self.value >= len(values):
            return None
        word = self.in_words(values[self.value])
        if self.figure:
            measured, threshold = (values[place] / 1000 for place in self.figure)
            sign = ">" if measured > threshold else "<="
            return f"{word}: {measured:.2f} {sign} {threshold:.2f} ms"
        if self.at is not None:
            return f"{word}, {(now_ns - values[self.at]) / 1e9:.0f} s ago"
        return word
