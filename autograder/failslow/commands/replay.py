"""`kit replay`: runs one test in simulation, prints its numbered history, and draws it.

An instructor's kit has the hidden tests, so an instructor may name one.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from failslow import atomic, console
from failslow.commands.grade import submission_in
from failslow.commands.sims import Sims, sims_of
from failslow.errors import CannotDo
from failslow.gtest import GradedTest, Outcome
from failslow.kit import Kit
from failslow.labs import Shown, load_labs
from failslow.replay import page, recording, trace

PAGE = "replay.html"
TRACE = "replay.trace.json"


@dataclass(frozen=True)
class Request:
    """Without a `seed` the test uses its own. Without a `directory` the kit's labs are replayed."""

    lab: str
    test: str
    seed: int | None
    directory: Path | None
    out: Path


def run(kit: Kit, request: Request) -> int:
    """0 when the test passes, 1 when it fails; CannotDo for an unknown test."""
    if request.out.exists() and not request.out.is_dir():
        raise CannotDo(f"--out: {request.out} is not a directory")
    sims, test = _find(kit, request)
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as scratch:
        record = Path(scratch) / "record"
        outcome = sims.run(test, request.seed, record)
        print(outcome.history, end="")
        if record.is_file():
            _write(request.out, sims, test, outcome, record)
    return _verdict(request.test, outcome)


def _find(kit: Kit, request: Request) -> tuple[Sims, GradedTest]:
    """The test, and the built suites that contain it. Public suites are searched first."""
    labs = load_labs(kit)
    lab = labs.get(request.lab)
    with submission_in(kit, labs, request.directory or kit.labs, lab.id) as submission:
        for hidden in (False, True):
            sims = sims_of(kit, labs, lab, submission, hidden)
            for test in sims.tests():
                if test.name == request.test:
                    return sims, test
    raise CannotDo(f"{lab.id} has no public test '{request.test}' (./kit test {lab.id} lists them)")


def _write(out: Path, sims: Sims, test: GradedTest, outcome: Outcome, record: Path) -> None:
    """The page and the trace; nothing if the test made no cluster to record."""
    worlds = recording.read(record)
    if not worlds:
        return
    shows: tuple[Shown, ...] = sims.lab.cluster.shows if sims.lab.cluster else ()
    subject = page.Subject(
        lab=f"{sims.lab.id}: {sims.lab.title}",
        test=test.name,
        property=test.description,
        seed=outcome.seed,
        passed=outcome.passed,
        failures=outcome.failures,
    )
    atomic.write_text(out / TRACE, trace.document(worlds, shows))
    atomic.write_text(out / PAGE, page.document(subject, worlds, shows))
    console.note(f"Wrote {out / PAGE}: open it in a browser")
    console.note(f"Wrote {out / TRACE}: for https://ui.perfetto.dev")


def _verdict(name: str, outcome: Outcome) -> int:
    seed_text = f" with seed {outcome.seed}" if outcome.seed else ""
    if outcome.passed:
        console.note(f"{name} passed{seed_text}")
        return 0
    for failure in outcome.failures:
        console.note(failure)
    console.note(f"{name} failed{seed_text}")
    return 1
