"""`kit test`: runs a lab's public tests in simulation, and explains failures to the student."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.markup import escape

from failslow.base import console, parallel
from failslow.base.console import FAILED, PASSED, SKIPPED
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.build.gtest import WROTE, GradedTest, Options, Outcome
from failslow.build.recipe import OWN
from failslow.extras.commands import parsers, saves
from failslow.extras.commands.parsers import Commands, add
from failslow.extras.journal import entries as journal
from failslow.extras.shared import test_names
from failslow.extras.shared.sims import Sims, sims_of
from failslow.grade import last_steps, prerequisites
from failslow.lab import unwritten
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.submission import Submission, collect, root_of

LAST_STEPS = 20
ENDLESS = " never waits: one step used more than "
"""In the last words of a process with an endless loop: framework/testkit/endless_step.cc."""


@dataclass(frozen=True)
class Request:
    """`pattern`: a part, a test, a suite, or a name with `*`; or the directory alone.
    `seeds`: runs each test with the seeds from 1 to this; None for the seed that it has.
    `measured`: the measured part instead of the tests. `all_whole`: prints each failure whole.
    `watches`: runs again after each save."""

    lab: str = ""
    pattern: str | None = None
    directory: Path | None = None
    seeds: int | None = None
    measured: bool = False
    all_whole: bool = False
    watches: bool = False


def add_to(commands: Commands) -> None:
    parser = add(commands, "test", "run a lab's public tests", run, Request)
    parser.add_argument("lab", nargs="?", metavar="LAB")
    text = "a part, a test, a suite, or a name with * (all tests)"
    parser.add_argument("pattern", nargs="?", metavar="FILTER", help=text)
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    text = "run each test with the seeds from 1 to N"
    parser.add_argument("--seeds", type=parsers.positive, metavar="N", help=text)
    text = "print each failure whole (the first)"
    parser.add_argument("--all", dest="all_whole", action="store_true", help=text)
    text = "run again after each save, failed tests first"
    parser.add_argument("--watch", dest="watches", action="store_true", help=text)
    text = "measure what slow replicas cost instead: one seed, 3 replicas, your own code"
    parser.add_argument("--slow", dest="measured", action="store_true", help=text)


def run(kit: Kit, request: Request) -> int:
    """0 when all pass, 1 when one fails; CannotDo for a pattern that names no test. With `watches`
    0 after an interrupt."""
    if request.pattern and not request.directory and _is_directory(request.pattern):
        request = replace(request, directory=Path(request.pattern), pattern=None)
    labs = load_labs(kit)
    if not request.lab:
        named = ", ".join(f"{lab.id} ({lab.title})" for lab in labs.by_id.values())
        raise CannotDo(f"name a lab: {named}")
    if request.measured:
        if request.pattern or request.seeds or request.watches:
            raise CannotDo("--slow measures the whole lab once: no FILTER, --seeds or --watch")
        from failslow.extras.commands import slow  # imports much that tests do not need

        code = slow.run(kit, request.lab, request.directory)
        _keep(kit, replace(request, pattern="--slow"), "failed" if code else "passed")
        return code
    if request.watches:
        return _watch(kit, labs, request)
    outcomes = _run_once(kit, labs, request)
    return 0 if all(outcome.passed for outcome in outcomes.values()) else 1


def _watch(kit: Kit, labs: Labs, request: Request) -> int:
    tree, failed = request.directory or kit.labs, list[str]()
    # A wrong word ends here, and waits for no save.
    _wanted(kit, labs.get(request.lab), request.pattern)
    collect(kit, labs, tree, request.lab)

    def run_again() -> None:
        outcomes = _run_once(kit, load_labs(kit), request, failed)
        failed[:] = [test.name for test, outcome in outcomes.items() if not outcome.passed]

    names = [each.directory for each in labs.closure(labs.get(request.lab))]
    roots = {root_of(tree, labs), kit.labs}
    saves.watch([root / name for root in roots for name in names], run_again)
    return 0


def _run_once(
    kit: Kit, labs: Labs, request: Request, first: Sequence[str] = ()
) -> dict[GradedTest, Outcome]:
    """`first`: names of tests that run and are printed before others."""
    lab = request.lab
    wanted = _wanted(kit, labs.get(lab), request.pattern)
    submission = collect(kit, labs, request.directory or kit.labs, lab)
    suffix = f" {request.directory}" if request.directory else ""
    lacks = _print_remarks(kit, labs, labs.get(lab), submission)
    printer = _Printer(request, suffix, brief=lacks and not (request.pattern or request.all_whole))
    try:
        sims = sims_of(kit, labs, labs.get(lab), submission)
    except BadSubmission:
        _keep(kit, request, "does not compile")
        raise
    tests = [test for test in sims.tests() if wanted is None or test.name in wanted]
    if not tests:
        raise CannotDo(f"{lab} has no public tests")
    place = {part.id: number for number, part in enumerate(sims.lab.parts)}
    public = [test for test in tests if not is_own(test)]
    public.sort(key=lambda test: (test.name not in first, place.get(test.part, 0)))
    own = sorted(filter(is_own, tests), key=lambda test: test.name not in first)
    with console.progress(f"Testing {lab}") as advance:
        testing = _Testing(sims, request.seeds, printer, advance)
        outcomes = [*prerequisites.run(sims.lab, public, testing.run_all), *testing.run_all(own)]
    found = dict(zip([*public, *own], outcomes, strict=True))
    for test, outcome in found.items():
        if outcome.skipped_because:
            printer.outcome(test, outcome)
    if request.watches and all(outcome.passed for outcome in outcomes):
        console.stdout().clear()
    printer.counts(found)
    _keep(kit, request, f"{sum(each.passed for each in found.values())} of {len(found)}")
    return found


def _keep(kit: Kit, request: Request, result: str) -> None:
    """A line of the student's journal."""
    seed, what = f"1 to {request.seeds}" if request.seeds else "", request.pattern or ""
    place = request.directory
    journal.add_step(kit, "test", request.lab, place, what=what, seed=seed, result=result)


def _print_remarks(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> bool:
    """Whether functions of a needed lab are not written."""
    missing = unwritten.remarks(kit, labs, lab, submission)
    for remark in [*missing, *unwritten.copies(kit, labs, lab, submission)]:
        console.stdout().print(remark, markup=False, soft_wrap=True)
    return bool(missing)


def _is_directory(word: str) -> bool:
    """No test's name has a slash: a directory with one may be missing."""
    return "/" in word or Path(word).is_dir()


def _wanted(kit: Kit, lab: Lab, pattern: str | None) -> list[str] | None:
    """None for all. Read from the sources: a misspelt name is told before anything is compiled."""
    declared = test_names.declared(kit.labs / lab.directory / "tests")
    return test_names.chosen(declared, pattern, lab.id) if pattern else None


def is_own(test: GradedTest) -> bool:
    """Whether the student wrote it: it has no part, and no points."""
    return test.suite.endswith(OWN)


class _Testing:
    """Runs tests side by side, each with every seed, and prints outcomes in the order of the tests.
    After an endless loop no other test begins: each would reach the same limit and say the same."""

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
        unprinted = deque(tests)

        def ended(job: tuple[GradedTest, int | None], outcome: Outcome) -> None:
            found[job[0].name].append(outcome)
            while unprinted and len(found[unprinted[0].name]) == len(self._seeds):
                test = unprinted.popleft()
                shown = self._of_seeds(found[test.name])
                if not shown.skipped_because:
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


@dataclass
class _Printer:
    """Prints a line for each test, and explains the first failure, or all. `suffix`: the directory
    in a command line. `brief`: explains none, since an earlier lab does."""

    request: Request
    suffix: str
    brief: bool
    in_short: int = 0
    """Failures that have a line alone."""
    is_explained: bool = False

    def outcome(self, test: GradedTest, outcome: Outcome) -> None:
        if outcome.passed and self.request.watches:
            return
        verdict = PASSED if outcome.passed else SKIPPED if outcome.skipped_because else FAILED
        text = outcome.skipped_because or test.description
        line = f"{verdict} [bold]{escape(test.name)}[/bold] {escape(text)}"
        console.stdout().print(line, soft_wrap=True)
        if outcome.passed or outcome.skipped_because:
            return
        if self.brief or (self.is_explained and not self.request.all_whole):
            self.in_short += 1
            return
        self.is_explained = True
        self._explain(test, outcome)

    def counts(self, outcomes: Mapping[GradedTest, Outcome]) -> None:
        kinds = ["own" if is_own(test) else "public" for test in outcomes]
        passed = [kind for kind, each in zip(kinds, outcomes.values(), strict=True) if each.passed]
        counts = [
            f"{passed.count(kind)} of {kinds.count(kind)} {kind} tests passed"
            for kind in dict.fromkeys(kinds)
        ]
        each = f", each with {self.request.seeds} seeds" if self.request.seeds else ""
        lines = [f"{', '.join(counts)}{each}"]
        if self.in_short:
            first = "First write the functions above. A" if self.brief else "Another"
            command = f"./kit test {self.request.lab} SUITE.NAME{self.suffix}"
            lines += [f"{first} failure whole: {command}; all: --all"]
        if self.request.watches:
            lines[-1] += f" ({saves.WAITS})"
        console.stdout().print("\n".join(lines), markup=False, soft_wrap=True)

    def _explain(self, test: GradedTest, outcome: Outcome) -> None:
        out = console.stdout()
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
        command = f"./kit replay {self.request.lab} {test.name}{seed}{self.suffix}"
        shown = f"Seed {outcome.seed}; see" if outcome.seed else "See"
        out.print(f"  {shown} every step: {command}\n", markup=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
