"""`kit replay`: runs one test in simulation, prints its numbered history, and draws it.

An instructor's kit has the hidden tests, so an instructor may name one. Instead of a test one may
name a schedule that `kit explore` has written.
"""

import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

from failslow import atomic, console
from failslow.commands import sims as simulations
from failslow.commands.sims import Sims
from failslow.commands.solution import check_out, submission_in
from failslow.gtest import GradedTest, Options, Outcome
from failslow.kit import Kit
from failslow.labs import Lanes, Shown, load_labs
from failslow.replay import explanation, field_names, page, recording, scripts, trace, unrecorded

WROTE = "The run printed:"
PAGE = "replay.html"
TRACE = "replay.trace.json"

SHRINK_RUNS = 300
SHRINK_TIMEOUT_S = 600.0


def run(
    kit: Kit,
    lab: str,
    test: str,
    seed: int | None,
    directory: Path | None,
    out: Path,
    shrink: bool = False,
) -> int:
    """0 when the test passes, 1 when it fails; CannotDo for an unknown test.

    `test`: a test's name, or the file of a schedule. Without a `seed` the test uses its own.
    Without a `directory` the kit's labs are replayed.
    `shrink`: replays the shortest schedule of faults that fails as the test's own does.
    """
    check_out(out)
    schedule = Path(test).resolve() if Path(test).is_file() else None
    sims, found = find(kit, lab, None if schedule else test, directory or kit.labs)
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as scratch:
        record = Path(scratch) / "record"
        options = Options(seed=seed, record=record, schedule=schedule)
        if shrink:
            options = replace(options, shrink=SHRINK_RUNS, timeout_s=SHRINK_TIMEOUT_S)
        outcome = sims.run(found, options)
        print(outcome.history, end="")
        write_drawing(out, sims, found, outcome, record)
    if shrink and not outcome.shrinks and not outcome.ended_process:
        console.note(f"{test} has no random faults, so there was nothing to shrink")
    return verdict(test, outcome)


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
    return worlds


def subject_of(sims: Sims, test: GradedTest, outcome: Outcome) -> page.Subject:
    return page.Subject(
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
    subject: page.Subject,
    worlds: list[recording.World],
    shows: tuple[Shown, ...] = (),
    lanes: Lanes | None = None,
) -> None:
    """Prints what led to the failure. Writes the page and the trace, and says so."""
    print("".join(explanation.in_words(worlds[recording.most_telling(worlds)])), end="")
    atomic.write_text(out / TRACE, trace.document(worlds, shows))
    atomic.write_text(out / PAGE, page.document(subject, worlds, shows, lanes))
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
