"""`kit test`: runs a lab's public tests in simulation, and explains failures to the student."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from failslow import console, gates, parallel
from failslow.commands.sims import Sims, sims_of
from failslow.console import FAILED, PASSED, SKIPPED
from failslow.errors import CannotDo
from failslow.gtest import GradedTest, Outcome
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.submission import collect

HISTORY_LINES = 20


def run(kit: Kit, lab: str, directory: Path | None) -> int:
    """0 when all pass, 1 when one fails."""
    labs = load_labs(kit)
    submission = collect(kit, labs, directory or kit.labs, lab)
    sims = sims_of(kit, labs, labs.get(lab), submission)
    tests = sims.tests()
    if not tests:
        raise CannotDo(f"{lab} has no public tests")
    with console.progress(f"Testing {lab}") as advance:

        def run_all(runnable: Sequence[GradedTest]) -> Sequence[Outcome]:
            return parallel.run_all(runnable, sims.run, advance)

        outcomes = gates.run(sims.lab, tests, run_all)
    suffix = f" {directory}" if directory else ""
    for test, outcome in zip(tests, outcomes, strict=True):
        _print_outcome(sims, test, outcome, suffix)
    passed = sum(outcome.passed for outcome in outcomes)
    console.stdout().print(f"{passed} of {len(tests)} public tests passed")
    return 0 if passed == len(tests) else 1


def _print_outcome(sims: Sims, test: GradedTest, outcome: Outcome, suffix: str) -> None:
    out = console.stdout()
    verdict = PASSED if outcome.passed else SKIPPED if outcome.skipped_because else FAILED
    out.print(f"{verdict} [bold]{escape(test.name)}[/bold] {escape(test.description)}")
    if outcome.passed:
        return
    if outcome.skipped_because:
        out.print(_indented(outcome.skipped_because) + "\n", markup=False, soft_wrap=True)
        return
    for failure in outcome.failures:
        out.print(_indented(failure), markup=False, soft_wrap=True)
    if outcome.history:
        out.print("  The last steps:", style="dim")
        tail = outcome.history.splitlines()[-HISTORY_LINES:]
        out.print(_indented("\n".join(tail)), markup=False, soft_wrap=True)
    seed = f" --seed {outcome.seed}" if outcome.seed else ""
    replay = f"./kit replay {sims.lab.id} {test.name}{seed}{suffix}"
    out.print(f"  Seed {outcome.seed or 'default'}; see every step: {replay}\n", markup=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
