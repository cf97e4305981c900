"""`kit test`: runs a lab's public tests in simulation, and explains failures to the student."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape

from failslow.base import console, parallel
from failslow.base.console import FAILED, PASSED, SKIPPED
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.gtest import WROTE, GradedTest, Options, Outcome
from failslow.build.recipe import OWN
from failslow.extras.shared import test_names
from failslow.extras.shared.sims import Sims, sims_of
from failslow.grade import last_steps, prerequisites
from failslow.lab import unwritten
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.submission import Submission, collect

LAST_STEPS = 20
ENDLESS = " never waits: one step used more than "
"""In the last words of a process with an endless loop: framework/testkit/endless_step.cc."""


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
        directory, pattern = Path(pattern), None
    if measured:
        if pattern or seeds:
            raise CannotDo("--slow measures the whole lab with one seed: it takes no FILTER")
        from failslow.extras.commands import slow  # imports much that tests do not need

        return slow.run(kit, lab, directory)
    labs = load_labs(kit)
    wanted = _wanted(kit, labs.get(lab), pattern) if pattern else None
    submission = collect(kit, labs, directory or kit.labs, lab)
    suffix = f" {directory}" if directory else ""
    lacks = _print_remarks(kit, labs, labs.get(lab), submission)
    printer = _Printer(lab, suffix, brief=lacks and wanted is None)
    sims = sims_of(kit, labs, labs.get(lab), submission)
    tests = [test for test in sims.tests() if wanted is None or test.name in wanted]
    if not tests:
        raise CannotDo(f"{lab} has no public tests")
    public = [test for test in tests if not is_own(test)]
    own = [test for test in tests if is_own(test)]
    with console.progress(f"Testing {lab}") as advance:
        testing = _Testing(sims, seeds, printer, advance)
        outcomes = [*prerequisites.run(sims.lab, public, testing.run_all), *testing.run_all(own)]
    for test, outcome in zip([*public, *own], outcomes, strict=True):
        if outcome.skipped_because:
            printer.outcome(test, outcome)
    each = f", each with {seeds} seeds" if seeds else ""
    for some, words in ((outcomes[: len(public)], "public"), (outcomes[len(public) :], "own")):
        if some:
            passed = sum(outcome.passed for outcome in some)
            console.stdout().print(f"{passed} of {len(some)} {words} tests passed{each}")
    is_passed = all(outcome.passed for outcome in outcomes)
    if printer.brief and not is_passed:
        whole = f"./kit test {lab} SUITE.NAME{suffix}"
        hint = f"First write the functions above. A failure whole: {whole}"
        console.stdout().print(hint, markup=False, soft_wrap=True)
    return 0 if is_passed else 1


def _print_remarks(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> bool:
    """Whether functions of a needed lab are not written."""
    missing = unwritten.remarks(kit, labs, lab, submission)
    for remark in [*missing, *unwritten.copies(kit, labs, lab, submission)]:
        console.stdout().print(remark, markup=False, soft_wrap=True)
    return bool(missing)


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


class _Testing:
    """Runs tests side by side, each with every seed, and prints each outcome as it comes. After
    an endless loop no other test begins: each would reach the same limit and say the same."""

    def __init__(
        self, sims: Sims, seeds: int | None, printer: "_Printer", advance: console.Advance
    ) -> None:
        self._sims = sims
        self._seeds = range(1, seeds + 1) if seeds else [None]
        self._printer = printer
        self._advance = advance
        self._endless: list[str] = []  # tests

    def run_all(self, tests: Sequence[GradedTest]) -> list[Outcome]:
        """The outcome of each test with the first seed that fails, or with the first."""
        found: dict[str, list[Outcome]] = {test.name: [] for test in tests}

        def ended(job: tuple[GradedTest, int | None], outcome: Outcome) -> None:
            test, _ = job
            found[test.name].append(outcome)
            shown = self._of_seeds(found[test.name])
            if len(found[test.name]) == len(self._seeds) and not shown.skipped_because:
                self._printer.outcome(test, shown)

        jobs = [(test, seed) for test in tests for seed in self._seeds]
        parallel.run_all(jobs, self._run, self._advance, lambda job: job[0].name, ended)
        return [self._of_seeds(found[test.name]) for test in tests]

    def _run(self, job: tuple[GradedTest, int | None]) -> Outcome:
        test, seed = job
        if self._endless:
            because = f"Skipped because of the endless loop in {self._endless[0]}"
            return Outcome((because,), seed=str(seed or ""), skipped_because=because)
        outcome = self._sims.run(test, Options(seed=seed))
        if any(ENDLESS in failure for failure in outcome.failures):
            self._endless.append(test.name)
        return outcome

    @staticmethod
    def _of_seeds(outcomes: Sequence[Outcome]) -> Outcome:
        by_seed = sorted(outcomes, key=lambda each: (bool(each.skipped_because), _number(each)))
        return next((each for each in by_seed if not each.passed), by_seed[0])


def _number(outcome: Outcome) -> int:
    return int(outcome.seed or 0)


@dataclass(frozen=True)
class _Printer:
    """Explains outcomes. `suffix`: the directory in a command line. `brief`: a line for each, since
    an earlier lab explains them."""

    lab: str
    suffix: str
    brief: bool

    def outcome(self, test: GradedTest, outcome: Outcome) -> None:
        out = console.stdout()
        verdict = PASSED if outcome.passed else SKIPPED if outcome.skipped_because else FAILED
        out.print(f"{verdict} [bold]{escape(test.name)}[/bold] {escape(test.description)}")
        if outcome.passed or self.brief:
            return
        if outcome.skipped_because:
            out.print(_indented(outcome.skipped_because) + "\n", markup=False, soft_wrap=True)
            return
        for failure in outcome.failures:
            out.print(_indented(failure), markup=False, soft_wrap=True)
        if outcome.said:
            out.print(f"  {WROTE}", style="dim")
            out.print(_indented(outcome.said), markup=False, soft_wrap=True)
        if outcome.history:
            failure = "\n".join(outcome.failures)
            last = f"The last steps:\n{last_steps.of(outcome.history, LAST_STEPS)}"
            title, *steps = (last_steps.before_death(failure, outcome.history) or last).splitlines()
            out.print(f"  {title}", style="dim")
            out.print(_indented("\n".join(steps)), markup=False, soft_wrap=True)
        seed = f" --seed {outcome.seed}" if outcome.seed else ""
        command = f"./kit replay {self.lab} {test.name}{seed}{self.suffix}"
        shown = f"Seed {outcome.seed}; see" if outcome.seed else "See"
        out.print(f"  {shown} every step: {command}\n", markup=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
