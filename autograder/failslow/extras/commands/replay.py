"""`kit replay`: runs one test in simulation, prints its numbered history, and draws it.

An instructor's kit has the hidden tests, so an instructor may name one. Instead of a test one may
name a schedule that `kit explore` has written, or a measured run (replay_measured.py).
"""

import gzip
import tempfile
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import atomic, console, printable
from failslow.base.kit import Kit
from failslow.build.gtest import GradedTest, Options, Outcome
from failslow.extras.commands import sims as simulations
from failslow.extras.commands.sims import Sims
from failslow.extras.commands.solution import check_out, submission_in
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
from failslow.lab.labs import Lanes, load_labs
from failslow.lab.shown import Shown

WROTE = "The run printed:"
PAGE = "replay.html"
TRACE = "replay.trace.json.gz"

SHRINK_RUNS = 300
SHRINK_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Request:
    """`test`: a test's name, or the file of a schedule. Without a `seed` the test uses its own.
    Without a `directory` the kit's labs are replayed.
    `shrink`: replays the shortest schedule of faults that fails as the test's own does."""

    lab: str
    test: str
    seed: int | None
    directory: Path | None
    out: Path
    shrink: bool = False


def run(kit: Kit, wanted: Request) -> int:
    """0 when the test passes, 1 when it fails; CannotDo for an unknown test."""
    check_out(wanted.out)
    schedule = Path(wanted.test).resolve() if Path(wanted.test).is_file() else None
    sims, found = find(
        kit, wanted.lab, None if schedule else wanted.test, wanted.directory or kit.labs
    )
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as scratch:
        record = Path(scratch) / "record"
        options = Options(seed=wanted.seed, record=record, schedule=schedule)
        if wanted.shrink:
            options = replace(options, shrink=SHRINK_RUNS, timeout_s=SHRINK_TIMEOUT_S)
        outcome = sims.run(found, options)
        print(outcome.history, end="")
        write_drawing(wanted.out, sims, found, outcome, record)
    if wanted.shrink and not outcome.shrinks and not outcome.ended_process:
        console.note(f"{wanted.test} has no random faults, so there was nothing to shrink")
    return verdict(wanted.test, outcome)


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
    draw(out, subject_of(sims, test, outcome), worlds, shows, view and view.lanes)


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
