"""The row of each wait in a drawing. Coroutines that live at the same time have different rows."""

import heapq
from collections.abc import Iterable, Sequence

from failslow.extras.replay.recording import Wait, World

NEVER = float("inf")


def fold(worlds: Iterable[World], names: Sequence[str]) -> None:
    """From now on all coroutines of one of these names are one, and so have one row."""
    for world in worlds:
        for wait in world.waits:
            if wait.name in names:
                wait.coroutine = -1 - names.index(wait.name)


def rows_of(waits: list[Wait]) -> list[int]:
    """The row of each wait, from 0 on for each replica. A coroutine stays in its row.

    Requires: `waits` in the order in which they began.
    """
    keys = [(wait.replica, wait.life, wait.coroutine) for wait in waits]
    lives: dict[tuple[int, int, int], tuple[float, float]] = {}
    for wait, key in zip(waits, keys, strict=True):
        begun = lives.get(key, (wait.start, 0))[0]
        lives[key] = begun, NEVER if wait.end is None else wait.end
    rows: dict[tuple[int, int, int], int] = {}
    busy: dict[
        int, list[tuple[float, int]]
    ] = {}  # by replica: the time at which a row becomes free, and the row
    free: dict[int, list[int]] = {}
    for key, (start, end) in lives.items():
        taken, idle = busy.setdefault(key[0], []), free.setdefault(key[0], [])
        while taken and taken[0][0] <= start:
            heapq.heappush(idle, heapq.heappop(taken)[1])
        rows[key] = heapq.heappop(idle) if idle else len(taken)
        heapq.heappush(taken, (end, rows[key]))
    return [rows[key] for key in keys]
