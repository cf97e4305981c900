"""Counts that prove that a fault has an effect: what a replica did, and what of it was slowed.

A file of two numbers, which one process writes and others read (tools/slow_syncs writes one, too).
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = struct.Struct("=qq")
LINKS, SYNCS, STOPS = ("links", "syncs", "stops")
"""Bytes that it sent, and those that came late; syncs, and those that lasted longer; looks at it,
and those that found it stopped at work."""


@dataclass(frozen=True)
class Count:
    all: int = 0
    slowed: int = 0

    def __sub__(self, other: "Count") -> "Count":
        return Count(self.all - other.all, self.slowed - other.slowed)


def read(path: Path) -> Count:
    """Zero for a file that is not there yet."""
    try:
        return Count(*_NUMBERS.unpack_from(path.read_bytes()))
    except (OSError, struct.error):
        return Count()


class CountFile:
    """The writer. It goes on with the numbers that are there."""

    def __init__(self, path: Path) -> None:
        self._count = read(path)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def add(self, all_: int, slowed: int) -> None:
        self._count = Count(self._count.all + all_, self._count.slowed + slowed)
        os.pwrite(self._file, _NUMBERS.pack(self._count.all, self._count.slowed), 0)

    def close(self) -> None:
        os.close(self._file)
