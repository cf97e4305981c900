"""The name of one measured run in a command: `slow:3/net-slow,flapping,1,1289.5/s`.

First the row, as in a report but for "measurement/". The words after it may come in any order, and
each may be missing: the shape of the fault, the profile, the load, the strength, the slow followers
(1+2), and the rate in operations per second.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from failslow.base.errors import CannotDo
from failslow.measurement.runs import (
    CAPACITY,
    DEAD,
    LOADS,
    NORMAL,
    PROFILES,
    SHAPES,
    Plan,
    Run,
)
from failslow.measurement.settings import Graded, Seeds, Settings

PREFIX = "slow:"
_ROW = "measurement/"
_PLACES = re.compile(r"\d+(\+\d+)*")
_RATE = re.compile(r"(\d+(\.\d+)?(e[+-]?\d+)?)/s")


@dataclass(frozen=True)
class Named:
    """`rate` in operations per second; None if the name has none."""

    row: Graded
    run: Run
    rate: float | None


def name_of(row: Graded, run: Run, rate: float) -> str:
    """`run`: of this row, or without its fault."""
    places = ["+".join(map(str, run.places))] if run.places else []
    words = [run.shape, run.profile, run.load, run.fault, *places, f"{rate!r}/s"]
    return ",".join([PREFIX + row.id.removeprefix(_ROW), *words])


def parse(name: str, settings: Settings, seed_of: Seeds, seed: int | None) -> Named:
    """The run of a name. The row's first run decides what it leaves open. CannotDo for no run."""
    first, *words = name.removeprefix(PREFIX).split(",")
    rows = {row.id.removeprefix(_ROW): row for row in settings.rows}
    if first not in rows:
        raise CannotDo(f"there is no measured row '{first}': {', '.join(rows)}")
    row = rows[first]
    run = Plan(settings.drawn(seed_of), seed_of, 1).slow(row)[0]
    run = run if seed is None else replace(run, seed=seed)
    presets = [strength.preset for strength in settings.strengths[row.fault]]
    presets += [each for world in settings.worlds.values() for each in world.instead.values()]
    rate = None
    for word in words:
        if found := _RATE.fullmatch(word):
            rate = float(found[1])
        else:
            run = _with_word(run, word, presets)
    if any(place >= run.replicas for place in run.places):
        raise CannotDo(f"{run.replicas} replicas have no such followers: '{name}'")
    return Named(row, run.with_fault(run.fault), rate)


def _with_word(run: Run, word: str, presets: Sequence[str]) -> Run:
    if word in SHAPES:
        return replace(run, shape=word)
    if word in PROFILES:
        return replace(run, profile=word)
    if word in LOADS | {CAPACITY}:
        return replace(run, load=word)
    if word in (*presets, NORMAL, DEAD):
        return replace(run, fault=word)
    if _PLACES.fullmatch(word):
        return replace(run, places=tuple(map(int, word.split("+"))))
    known = sorted([*SHAPES, *PROFILES, *LOADS, *presets, NORMAL, DEAD])
    raise CannotDo(f"'{word}' says nothing of a measured run: {', '.join(known)}, 1+2, 900/s")
