"""`kit tour`: runs the handbook's example, a service of three replicas, and draws it. For lab 0."""

import tempfile
from pathlib import Path

from rich.markup import escape

from failslow.base import console
from failslow.base.console import FAILED, PASSED
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake, gtest
from failslow.build.gtest import Crashed, Options, Outcome
from failslow.extras.replay import field_names, html_report, one_test, recording
from failslow.extras.shared.solution import check_out

PROGRAM = "testkit_notes"
HEADERS = "framework/testkit/notes"
TESTS = {
    "Notes.ANoteIsOnEveryDiskSoonAfter": "A note is on all three disks after 100 ms.",
    "Notes.ASlowFollowerDelaysNobody": "A follower that is late by 400 ms delays no answer.",
    "Notes.FramesHeldForASlowFollowerAreReleased": "Nothing stays in memory for a slow follower.",
    "Notes.WithoutAMajorityTheAnswerIsNo": "Without a majority the answer is no.",
}
"""The tests of framework/testkit/notes/notes_test.cc, with the property that each one checks."""


def run(kit: Kit, test: str | None, out: Path) -> int:
    """0 when all tests pass, or the one; 1 when one fails. Only one test is drawn."""
    check_out(out)
    if test is not None and test not in TESTS:
        raise CannotDo(f"the tour has no test '{test}' (./kit tour lists them)")
    cmake.build(kit, targets=[PROGRAM])
    if test is not None:
        return _draw(kit, test, out)
    passed = [_run(kit, name, Options()).passed for name in TESTS]
    for name, each in zip(TESTS, passed, strict=True):
        verdict = PASSED if each else FAILED
        console.stdout().print(f"{verdict} [bold]{escape(name)}[/bold] {escape(TESTS[name])}")
    print(f"{sum(passed)} of {len(TESTS)} tests passed; ./kit tour TEST draws one")
    return 0 if all(passed) else 1


def _draw(kit: Kit, test: str, out: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="failslow-tour-") as scratch:
        record = Path(scratch) / "record"
        outcome = _run(kit, test, Options(record=record))
        worlds = recording.read(record) if record.is_file() else []
    print(outcome.history, end="")
    subject = html_report.Subject(
        lab="lab0: A tour",
        test=test,
        property=TESTS[test],
        seed=outcome.seed,
        passed=outcome.passed,
        failures=outcome.failures,
    )
    if worlds:
        field_names.name(worlds, field_names.read(sorted((kit.root / HEADERS).glob("*.h"))))
        one_test.draw(out, subject, worlds)
    return one_test.verdict(test, outcome)


def _run(kit: Kit, test: str, options: Options) -> Outcome:
    """A program that a change of the example breaks is a failed test."""
    try:
        return gtest.run_test(kit.preset("release") / "bin" / PROGRAM, test, options)
    except Crashed as crash:
        reason = f"the program ended without a verdict: {crash.how}\n{crash.detail}".rstrip()
        return Outcome((reason,), history=crash.history, ended_process=True)
