"""`kit test`: runs a lab's public tests in simulation, and explains failures to the student."""

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from failslow import console, gates, parallel, test_names
from failslow.commands import slow
from failslow.commands.sims import Sims, sims_of
from failslow.console import FAILED, PASSED, SKIPPED
from failslow.errors import CannotDo
from failslow.gtest import GradedTest, Options, Outcome
from failslow.kit import Kit
from failslow.labs import Lab, load_labs
from failslow.recipe import OWN
from failslow.submission import collect

HISTORY_LINES = 20


def run(
    kit: Kit,
    lab: str,
    pattern: str | None = None,
    directory: Path | None = None,
    seeds: int | None = None,
    measured: bool = False,
) -> int:
    """0 when all pass, 1 when one fails; CannotDo for a pattern that names no test.

    `pattern`: a test, a suite, or a name with `*`; or the directory alone.
    `seeds`: runs each test with the seeds from 1 to this; None for the seed that it has.
    `measured`: the measured part instead of the tests.
    """
    if pattern and not directory and _is_directory(pattern):
        pattern, directory = None, Path(pattern)
    if measured:
        if pattern or seeds:
            raise CannotDo("--slow measures the whole lab with one seed: it takes no FILTER")
        return slow.run(kit, lab, directory)
    labs = load_labs(kit)
    wanted = _wanted(kit, labs.get(lab), pattern) if pattern else None
    submission = collect(kit, labs, directory or kit.labs, lab)
    sims = sims_of(kit, labs, labs.get(lab), submission)
    tests = [test for test in sims.tests() if wanted is None or test.name in wanted]
    if not tests:
        raise CannotDo(f"{lab} has no public tests")
    with console.progress(f"Testing {lab}") as advance:

        def run_all(runnable: Sequence[GradedTest]) -> Sequence[Outcome]:
            return _run_seeds(sims, runnable, seeds, advance)

        public = [test for test in tests if not is_own(test)]
        own = [test for test in tests if is_own(test)]
        outcomes = [*gates.run(sims.lab, public, run_all), *run_all(own)]
    suffix = f" {directory}" if directory else ""
    for test, outcome in zip([*public, *own], outcomes, strict=True):
        _print_outcome(sims, test, outcome, suffix)
    each = f", each with {seeds} seeds" if seeds else ""
    for some, words in ((outcomes[: len(public)], "public"), (outcomes[len(public) :], "own")):
        if some:
            passed = sum(outcome.passed for outcome in some)
            console.stdout().print(f"{passed} of {len(some)} {words} tests passed{each}")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _is_directory(word: str) -> bool:
    """No test's name has a slash: a directory with one may be missing."""
    return "/" in word or Path(word).is_dir()


def _wanted(kit: Kit, lab: Lab, pattern: str) -> list[str]:
    """Read from the sources: a misspelt name is told before anything is compiled."""
    return test_names.chosen(
        test_names.declared(kit.labs / lab.directory / "tests"), pattern, lab.id
    )


def is_own(test: GradedTest) -> bool:
    """Whether the student wrote it: it has no part, and no points."""
    return test.suite.endswith(OWN)


def _run_seeds(
    sims: Sims, tests: Sequence[GradedTest], seeds: int | None, advance: console.Advance
) -> list[Outcome]:
    """Of each test the outcome with the first seed that fails, or with the first."""
    numbers = range(1, seeds + 1) if seeds else [None]
    jobs = [(test, number) for test in tests for number in numbers]
    found = parallel.run_all(
        jobs, lambda job: sims.run(job[0], Options(seed=job[1])), advance, lambda job: job[0].name
    )
    of_test = [found[at : at + len(numbers)] for at in range(0, len(found), len(numbers))]
    return [next((each for each in some if not each.passed), some[0]) for some in of_test]


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
    if outcome.said:
        out.print("  Your replicas wrote to std::cerr:", style="dim")
        out.print(_indented(outcome.said), markup=False, soft_wrap=True)
    if outcome.history:
        out.print("  The last steps:", style="dim")
        tail = outcome.history.splitlines()[-HISTORY_LINES:]
        out.print(_indented("\n".join(tail)), markup=False, soft_wrap=True)
    seed = f" --seed {outcome.seed}" if outcome.seed else ""
    replay = f"./kit replay {sims.lab.id} {test.name}{seed}{suffix}"
    shown = f"Seed {outcome.seed}; see" if outcome.seed else "See"
    out.print(f"  {shown} every step: {replay}\n", markup=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
