"""Runs the programs of the variants, and numbers their observations: the evidence."""

import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from failslow.base import console, parallel
from failslow.base.kit import Kit
from failslow.grade.diagnosis import programs
from failslow.grade.diagnosis.course import Subject, subjects
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab

HEALTHY, SLOW = "healthy", "slow"
SECONDS = {HEALTHY: 10, SLOW: 20}
"""The virtual time of a run: two windows of verification, and four."""

WARNING, EDGE, WAIT = "w", "e", "o"
"""Prefixes of the numbers of warnings, edges of the graph, and waits for nothing of a peer."""

OWN_WAIT = "own-wait"
PATH_WAIT = "path-wait"
"""Waits of the last kind: of them all, and of those during which a client waits, too."""
RED_EDGE = "red-edge"

Item = dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """One observation. `kind`: of a warning its own, of an edge its color and "-edge", or a wait's.

    `replica`: whose it is, or none of them, if it is a client's.
    """

    id: str
    kind: str
    replica: int
    coroutine: str
    event: str
    item: Item


@dataclass(frozen=True)
class Run:
    """The observations of one run of a subject. `name`: HEALTHY or SLOW."""

    name: str
    observed: Item
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Observed:
    """A subject with its two runs."""

    subject: Subject
    runs: tuple[Run, ...]

    @property
    def evidence(self) -> dict[str, Evidence]:
        return {each.id: each for run in self.runs for each in run.evidence}


_lock = threading.Lock()


def observe(kit: Kit, lab: Lab, key: CourseKey) -> tuple[Observed, ...]:
    """The runs of all subjects, in their order. Runs each once in the life of this process.

    Requires: the kit is built. CouldNotGrade if a run fails.
    """
    with _lock:  # grades side by side share the runs
        return _observe(kit, lab, key)


@lru_cache(maxsize=2)
def _observe(kit: Kit, lab: Lab, key: CourseKey) -> tuple[Observed, ...]:
    jobs = [(each, name) for each in subjects(kit, lab, key) for name in SECONDS]
    with console.progress(f"Running the variants of {lab.id}") as advance:
        runs = parallel.run_all(
            jobs, lambda job: _run(kit, *job), advance, lambda job: f"{job[0].label}, {job[1]}"
        )
    found: dict[Subject, list[Run]] = {}
    for (subject, _), run in zip(jobs, runs, strict=True):
        found.setdefault(subject, []).append(run)
    return tuple(Observed(subject, tuple(of)) for subject, of in found.items())


def _run(kit: Kit, subject: Subject, name: str) -> Run:
    observed = perform(kit, subject, name == SLOW, SECONDS[name])
    return Run(name, observed, numbered(f"{subject.label}/{name}", observed))


def perform(
    kit: Kit, subject: Subject, slow: bool, seconds: int, record: Path | None = None
) -> Item:
    """One run. CouldNotGrade if it fails."""
    follower = subject.slow if slow else None
    options = programs.Options(subject.seed, subject.leader, follower, seconds, record)
    what = f"the diagnosis of {subject.label}"
    return programs.perform(kit, subject.truth.variant, what, options)


def numbered(prefix: str, observed: Item) -> tuple[Evidence, ...]:
    """Every observation of a run, with its number: 'A/slow/w3'."""
    found = []
    for number, item in enumerate(observed["warnings"], start=1):
        name = f"{prefix}/{WARNING}{number}"
        found.append(_evidence(name, item["kind"], item["replica"], item["wait"], item))
    for number, item in enumerate(observed["graph"]["edges"], start=1):
        kind = f"{item['color']}-edge"
        found.append(_evidence(f"{prefix}/{EDGE}{number}", kind, item["from"], item["event"], item))
    for number, item in enumerate(observed["own_waits"], start=1):
        name = f"{prefix}/{WAIT}{number}"
        kind = PATH_WAIT if item["on_path"] else OWN_WAIT
        found.append(_evidence(name, kind, item["replica"], item["event"], item))
    return tuple(found)


def _evidence(name: str, kind: str, replica: int, event: str, item: Item) -> Evidence:
    return Evidence(name, kind, replica, item["coroutine"], event, item)
