"""Writes the material of a course's diagnosis: a directory that students get.

It holds labels, never variants: neither in a name nor in a text.
"""

import json
import tempfile
from pathlib import Path

from failslow.base import atomic, console, parallel
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.diagnosis import html_pages
from failslow.extras.replay import html_report as replay_page
from failslow.extras.replay import recording
from failslow.grade.diagnosis import runs
from failslow.grade.diagnosis.answers import FIELDS, as_text
from failslow.grade.diagnosis.course import Subject, fingerprint
from failslow.grade.diagnosis.runs import SLOW, Observed
from failslow.grade.diagnosis.scoring import shows
from failslow.grade.diagnosis.vocabulary import labels
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab

INDEX = "index.html"
REPLAY = "replay.html"
REPLAY_SECONDS = 5


def write(kit: Kit, lab: Lab, key: CourseKey, out: Path) -> Path:
    """Returns the page to begin with. CannotDo if the directory cannot be written, or if a label of
    this course cannot be diagnosed."""
    assert lab.diagnosis is not None
    observed = runs.observe(kit, lab, key)
    right_answers(observed)
    for each in observed:
        for run in each.runs:
            stem = out / each.subject.label / run.name
            atomic.write_text(
                stem.with_suffix(".html"), html_pages.run_page(each.subject.label, run)
            )
            atomic.write_text(stem.with_suffix(".json"), _as_json(run))
    subjects = [each.subject for each in observed]
    with console.progress("Recording") as advance:
        parallel.run_all(
            subjects, lambda each: _replay(kit, lab, each, out), advance, lambda each: each.label
        )
    template = out / lab.diagnosis.file
    if not template.exists():  # a student's answers may be there
        atomic.write_text(
            template, as_text([(label, {}) for label in labels(lab)], fingerprint(key))
        )
    atomic.write_text(out / INDEX, html_pages.index_page(observed, REPLAY))
    return out / INDEX


def right_answers(observed: tuple[Observed, ...], material: str = "") -> str:
    """The file of answers that has all points."""
    return as_text([(each.subject.label, _right(each)) for each in observed], material)


def _right(observed: Observed) -> dict[str, str]:
    truth = observed.subject.truth
    right = {name: getattr(truth, name) for name in FIELDS}
    (slow,) = [run for run in observed.runs if run.name == SLOW]
    shown = [each.id for each in slow.evidence if shows(each, observed)]
    if not shown:
        raise CannotDo(f"no observation of {observed.subject.label} shows what it is")
    return right | {"evidence": shown[0]}


def _as_json(run: runs.Run) -> str:
    numbers = [{"number": each.id} | each.item for each in run.evidence]
    rest = {
        name: value
        for name, value in run.observed.items()
        if name not in ("warnings", "graph", "own_waits")
    }
    return json.dumps(rest | {"observations": numbers}, indent=1) + "\n"


def _replay(kit: Kit, lab: Lab, subject: Subject, out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="failslow-diagnose-") as scratch:
        record = Path(scratch) / "record"
        runs.perform(kit, subject, slow=True, seconds=REPLAY_SECONDS, record=record)
        worlds = recording.read(record)
    shown = lab.cluster.shows if lab.cluster else ()
    heading = replay_page.Subject(
        lab=f"{lab.id}: {lab.title}",
        test=f"{subject.label} with a slow follower",
        property="The first seconds of a run.",
        seed=str(subject.seed),
        passed=True,
        failures=(),
    )
    atomic.write_text(out / subject.label / REPLAY, replay_page.document(heading, worlds, shown))
