"""Crash sequences (document 003, section 5.1): runs of our SAUCR and of what it is compared with.

The results, with its other figures, are a JSON document: it is printed, and the handbook draws it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from failslow.extras.for_labs import CannotDo, Kit, programs

from . import performance
from .published import (
    AT_ONCE,
    DISK,
    GAPS,
    MEMORY,
    NO_MINORITY,
    OTHERS,
    SAUCR,
    SEQUENCES,
    VR,
)

LAB = "lab6"
RUN = (MEMORY, DISK, SAUCR)
"""The systems that run. Each is also the name of its variant; SAUCR is the reference."""

CRASHES = {GAPS: "gaps", AT_ONCE: "at-once"}
"""By their words in the table, those of the programs."""

PER_SHARE = 50

CORRECT = "correct"
UNAVAILABLE = "unavailable"
LOST = "data loss"

Json = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """Every n-th sequence runs."""

    every: int

    @property
    def seeds(self) -> performance.Seeds:
        return performance.FULL if self == FULL else performance.QUICK


QUICK = Scale(every=10)
FULL = Scale(every=1)


@dataclass(frozen=True)
class Share:
    """The sequences `numbers` of one system. `crashes`: GAPS or AT_ONCE."""

    system: str
    replicas: int
    crashes: str
    numbers: range

    def of_program(self) -> programs.Run:
        words = (
            f"--system={self.system}",
            f"--replicas={self.replicas}",
            f"--crashes={CRASHES[self.crashes]}",
            f"--first={self.numbers.start}",
            f"--count={len(self.numbers)}",
            f"--every={self.numbers.step}",
        )
        first = f"{self.replicas} replicas, {self.crashes}, from {self.numbers.start} on"
        return programs.Run(f"{self.system}, {first}", _program(self.system), words)


def measure(kit: Kit, scale: Scale) -> Json:
    """CannotDo if something does not build or run, and for a student's kit: it has no variants."""
    targets = [
        name for system in RUN for name in (_program(system), *performance.programs_of(system))
    ]
    programs.build(kit, targets, variants_of_lab=LAB)
    shares = plan(scale)
    of_programs = [share.of_program() for share in shares]
    found = programs.lines(kit, "Running the crash sequences", of_programs)
    for share, run, lines in zip(shares, of_programs, found, strict=True):
        if [each["number"] for each in lines] != list(share.numbers):
            raise CannotDo(f"{run.name}: no result: it has not run each of its sequences")
    cells = document(scale, dict(zip(shares, found, strict=True)))
    return cells | {"figures": performance.measure(kit, scale.seeds)}


def plan(scale: Scale) -> list[Share]:
    return [
        Share(system, replicas, crashes, numbers[first : first + PER_SHARE])
        for system, replicas, crashes in product(RUN, SEQUENCES, CRASHES)
        for numbers in [range(0, SEQUENCES[replicas], scale.every)]
        for first in range(0, len(numbers), PER_SHARE)
    ]


def document(scale: Scale, observed: Mapping[Share, Sequence[Json]]) -> Json:
    cells = []
    for system, replicas, crashes in product((MEMORY, VR, DISK, SAUCR), SEQUENCES, CRASHES):
        # The ideal model of VR looks at the states alone.
        of = (SAUCR if system == VR else system, replicas, crashes)
        seen = [
            each
            for share, lines in observed.items()
            if (share.system, share.replicas, share.crashes) == of
            for each in lines
        ]
        cells += _cells(system, replicas, crashes, seen)
    return {"scale": asdict(scale), "cells": cells}


def _program(system: str) -> str:
    """The target that makes it, and its file's name."""
    return f"sequences_{system}"


def _cells(system: str, replicas: int, crashes: str, seen: Sequence[Json]) -> list[Json]:
    """One, or for SAUCR's crashes at once two: by the ideal model's verdict."""
    if system != SAUCR or crashes == GAPS:
        return [_cell(system, replicas, crashes, seen)]
    few = [each for each in seen if each["ideal"] == UNAVAILABLE]
    others = [each for each in seen if each["ideal"] != UNAVAILABLE]
    return [_cell(system, replicas, OTHERS, others), _cell(system, replicas, NO_MINORITY, few)]


def _cell(system: str, replicas: int, scenario: str, seen: Sequence[Json]) -> Json:
    """`certain`, `possible`: sequences in which a log in memory must, or may, lose commands.
    `example`: the first that differs, or that breaks a rule of SAUCR."""
    verdicts = [each["vr" if system == VR else "verdict"] for each in seen]
    wrong = [each for each in seen if _differs(system, each)]
    broken = [each for each in seen if system in (DISK, SAUCR) and each["violation"]]
    return {
        "system": system,
        "replicas": replicas,
        "scenario": scenario,
        "total": len(seen),
        "correct": verdicts.count(CORRECT),
        "unavailable": verdicts.count(UNAVAILABLE),
        "lost": verdicts.count(LOST),
        "certain": sum(each["loss"] == "certain" for each in seen),
        "possible": sum(each["loss"] == "possible" for each in seen),
        "differ": len(wrong),
        "broken": len(broken),
        "example": _example((wrong + broken)[0]) if wrong or broken else "",
    }


def _differs(system: str, each: Json) -> bool:
    """From the ideal model of the system, which VR is itself."""
    if system == VR:
        return False
    if system != MEMORY or each["verdict"] == UNAVAILABLE:
        return bool(each["verdict"] != each["ideal"])
    return bool(each["loss"] == ("certain" if each["verdict"] == CORRECT else "none"))


def _example(each: Json) -> str:
    return (
        f"number {each['number']} ({each['states']}) is {each['verdict']},"
        f" {each['why'] or each['violation'] or 'which its model excludes'}"
    )
