"""One test as a replay shows it: found, drawn, and its verdict in words."""

import gzip
import textwrap
from pathlib import Path

from failslow.base import atomic, console, printable
from failslow.base.kit import Kit
from failslow.build.gtest import WROTE, GradedTest, Outcome
from failslow.extras.replay import (
    explanation,
    field_names,
    html_report,
    recording,
    rows,
    scripts,
    trace,
    unrecorded,
)
from failslow.extras.shared import sims as simulations
from failslow.extras.shared.sims import Sims
from failslow.extras.shared.solution import submission_in
from failslow.lab.labs import Lanes, load_labs
from failslow.lab.shown import Shown

PAGE = "replay.html"
TRACE = "replay.trace.json.gz"


def find(kit: Kit, lab_id: str, name: str | None, directory: Path) -> tuple[Sims, GradedTest]:
    """The test, and the built suites that contain it. Without a name: the test that explores."""
    labs = load_labs(kit)
    lab = labs.get(lab_id)
    if name:
        simulations.check_name(kit, lab, name)
    with submission_in(kit, labs, directory, lab.id) as submission:
        if name is None:
            sims = simulations.exploration_of(kit, labs, lab, submission)
            return sims, sims.tests()[0]
        return simulations.find(kit, labs, lab, submission, name)


def write_drawing(out: Path, sims: Sims, test: GradedTest, outcome: Outcome, record: Path) -> None:
    """The page and the trace; nothing if the test made no cluster to record."""
    worlds = worlds_of(sims, outcome, record)
    if not worlds:
        return
    view = sims.lab.cluster
    shows: tuple[Shown, ...] = view.shows if view else ()
    draw(out, subject_of(sims, test, outcome), worlds, shows, view.lanes if view else None)


def worlds_of(sims: Sims, outcome: Outcome, record: Path) -> list[recording.World]:
    """The recorded clusters of a test, with the names of fields and all problems."""
    worlds = recording.read(record) if record.is_file() else []
    field_names.name(worlds, field_names.read(sims.headers))
    scripts.put_in_words(worlds)
    unrecorded.add(worlds, outcome.failures, outcome.ended_process)
    if view := sims.lab.cluster:
        rows.fold(worlds, view.folds)
    return worlds


def subject_of(sims: Sims, test: GradedTest, outcome: Outcome) -> html_report.Subject:
    return html_report.Subject(
        lab=f"{sims.lab.id}: {sims.lab.title}",
        test=test.name,
        property=test.description,
        seed=outcome.seed,
        passed=outcome.passed,
        failures=(*outcome.failures, *_said(outcome)) if outcome.failures else (),
    )


def _said(outcome: Outcome) -> list[str]:
    said = outcome.said.rstrip()
    return [f"{WROTE}\n{textwrap.indent(said, '  ')}"] if said else []


def draw(
    out: Path,
    subject: html_report.Subject,
    worlds: list[recording.World],
    shows: tuple[Shown, ...] = (),
    lanes: Lanes | None = None,
) -> None:
    """Prints what led to the failure. Writes the page and the trace, and says so."""
    told = "".join(explanation.in_words(worlds[recording.most_telling(worlds)]))
    print(printable.text(told), end="")
    atomic.write_bytes(out / TRACE, gzip.compress(trace.document(worlds, shows).encode(), mtime=0))
    atomic.write_text(out / PAGE, html_report.document(subject, worlds, shows, lanes))
    console.note(f"Wrote {out / PAGE}: open it in a browser")
    console.note(f"Wrote {out / TRACE}: for https://ui.perfetto.dev")


def verdict(name: str, outcome: Outcome) -> int:
    """The exit code; says what failed."""
    for text in (*outcome.failures, *_said(outcome)):
        console.note(text)
    seed_text = f" with seed {outcome.seed}" if outcome.seed else ""
    if outcome.passed:
        console.note(f"{name} passed{seed_text}")
        return 0
    console.note(f"{name} failed{seed_text}")
    return 1
