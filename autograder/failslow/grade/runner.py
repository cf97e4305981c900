"""Grades a submission: from a tree of files to rows with scores. Prints progress only.

The order is fixed (labs by id, tests in the order of their binary). So two grades of one submission
are identical.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from failslow.base import console, deadline, parallel
from failslow.base.kit import Kit
from failslow.build import compile, crash_stack, determinism, gtest, sandbox
from failslow.build.compile import build_submission
from failslow.build.gtest import GradedTest, Outcome
from failslow.build.recipe import Recipe, load_recipe
from failslow.grade import penalties, policy, prerequisites, violations
from failslow.grade.model import Grade, LabGrade, Scope, TestRow
from failslow.lab import course_key, unwritten
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab, Labs
from failslow.lab.submission import Submission
from failslow.measurement.measure import Measurement, Options, measure
from failslow.measurement.settings import load_settings


@dataclass(frozen=True)
class Steps:
    """Called around the grade of each lab. `before` builds what the lab needs of the kit, unless
    that is built already. `after` may show the grade, before the next lab begins. `is_built`:
    whether `before` would build nothing."""

    before: Callable[[Lab], None] = lambda lab: None
    after: Callable[[LabGrade], None] = lambda graded: None
    is_built: Callable[[Lab], bool] = lambda lab: True


def grade(
    kit: Kit,
    labs: Labs,
    submission: Submission,
    scope: Scope | None = None,
    key: CourseKey = course_key.DEVELOPMENT,
    recipe: Recipe | None = None,
    steps: Steps = Steps(),
) -> Grade:
    """Compiles and grades, one lab after the other. `recipe`: other than the kit's.

    Raises BadSubmission when it does not compile, CouldNotGrade when a test gave no verdict (see
    Scope.isolate) or a measured run no result, KeyboardInterrupt unless Scope.keeps_partial.
    """
    scope = scope or Scope()
    graded: list[LabGrade] = []
    partial = ""
    with parallel.threads(1) as beside:
        programs = _Programs(kit, labs, submission, recipe, scope.end, steps, beside)
        if scope.end != deadline.NONE:
            # A lab must compile even if the tests of those before it have taken all the time.
            for lab in submission.labs:
                programs.replica(lab)
        for lab, then in zip(submission.labs, [*submission.labs[1:], None], strict=True):
            replica = programs.replica(lab)
            if then:
                programs.begin(then)
            in_lines = crash_stack.in_sandbox(kit, sandbox.of_compiler(kit), replica)
            grader = _LabGrader(kit, lab, replica, scope, key, in_lines)
            given = submission.answers.get(lab.id) if scope.diagnosis else None
            diagnosis = [] if given is None else [*policy.diagnosis_rows(kit, lab, given, key)]
            missing = unwritten.remarks(kit, labs, lab, submission)
            missing += unwritten.copies(kit, labs, lab, submission)
            lab_grade = replace(grader.grade(diagnosis), missing=tuple(missing))
            if grader.interrupted and not graded and not _has_verdict(lab_grade):
                raise KeyboardInterrupt
            graded.append(lab_grade)
            steps.after(graded[-1])
            if grader.interrupted:
                partial = _partial(lab, then)
                break
    return Grade(tuple(graded), key, partial)


def _has_verdict(graded: LabGrade) -> bool:
    return any(row.max_score and not row.no_verdict for row in graded.rows)


def _partial(lab: Lab, then: Lab | None) -> str:
    rest = f", and nothing from {then.id} on was graded" if then else ""
    return f"PARTIAL: the grading was interrupted in {lab.id}{rest}."


class _Programs:
    """The replicas of a submission, each built when it is asked for first."""

    def __init__(
        self,
        kit: Kit,
        labs: Labs,
        submission: Submission,
        recipe: Recipe | None,
        end: float,
        steps: Steps,
        beside: Executor,
    ) -> None:
        """`beside`: runs what is built beside the tests of another lab."""
        self._kit = kit
        self._labs = labs
        self._submission = submission
        self._recipe = recipe
        self._end = end
        self._steps = steps
        self._beside = beside
        self._begun: dict[str, Future[Path]] = {}
        self._replicas: dict[str, Path] = {}

    def begin(self, lab: Lab) -> None:
        """Builds the replica beside other work. `replica` waits for it, and raises its
        errors. Does nothing where the kit must be built first."""
        if lab.id not in self._replicas and self._steps.is_built(lab):
            self._begun[lab.id] = self._beside.submit(self._build, lab, alone=False)

    def replica(self, lab: Lab) -> Path:
        if lab.id not in self._replicas:
            self._steps.before(lab)
            begun = self._begun.get(lab.id)
            self._replicas[lab.id] = begun.result() if begun else self._build(lab)
        return self._replicas[lab.id]

    def _build(self, lab: Lab, alone: bool = True) -> Path:
        self._recipe = self._recipe or load_recipe(self._kit)
        target = self._recipe.replica(lab)
        options = compile.Options(alone, sandbox.of_compiler(self._kit), self._end)
        programs = build_submission(
            self._kit, self._labs, self._submission, self._recipe, [target], options
        )
        return programs / target.name


class _LabGrader:
    def __init__(
        self,
        kit: Kit,
        lab: Lab,
        replica: Path,
        scope: Scope,
        key: CourseKey,
        in_lines: Callable[[str], str],
    ) -> None:
        """`in_lines`: see crash_stack.in_sandbox."""
        self.interrupted = False
        self._in_lines = in_lines
        self._kit = kit
        self._lab = lab
        self._replica = replica
        self._scope = scope
        self._key = key
        self._settings = load_settings(kit, lab) if lab.measurement else None

    def grade(self, diagnosis: Sequence[TestRow]) -> LabGrade:
        """`diagnosis`: the rows of the lab's diagnosis, which no test can void."""
        tests = self._tests()
        wanted = [test for test in tests if self._is_wanted(test)]
        outcomes = self._run_tests(wanted)
        differs = next((outcome.differs for outcome in outcomes if outcome.differs), "")
        void = penalties.of_lab(self._lab, wanted, outcomes, differs)
        because = self._why_not_measured(wanted, outcomes, void)
        measurement = None if because else self._measure_unless_interrupted()
        if measurement and measurement.differs:
            differs = measurement.differs
            void = penalties.of_lab(self._lab, wanted, outcomes, differs)
        rows = [policy.determinism_row(self._lab, differs)] if self._scope.determinism else []
        told = violations.Reported(penalties.costs(self._lab, wanted, outcomes))
        rows += [
            policy.test_row(self._lab, test, outcome, void.get(test.part, ""), told)
            for test, outcome in zip(wanted, outcomes, strict=True)
        ]
        rows += diagnosis
        if because:
            rows.append(policy.skipped_measurement(self._lab, because))
        elif self.interrupted and self._settings and self._scope.measurement and not measurement:
            rows.append(policy.interrupted_measurement(self._lab))
        if measurement:
            rows += policy.measurement_rows(self._lab, measurement, void)
        return LabGrade(self._lab, tuple(rows), measurement, frozenset(void))

    def _binary(self, suite: str) -> Path:
        return self._kit.binary(f"{suite}_sealed")

    def _tests(self) -> list[GradedTest]:
        tests = gtest.list_all({suite: self._binary(suite) for suite in self._lab.suites})
        policy.check_points(self._lab, tests, self._settings)
        prerequisites.check(self._lab, tests)
        return tests

    def _is_wanted(self, test: GradedTest) -> bool:
        return self._scope.tests is None or test.name in self._scope.tests

    def _run_tests(self, tests: list[GradedTest]) -> list[Outcome]:
        with console.progress(f"Testing {self._lab.id}", self._kit.paces) as advance:
            ended = 0

            def run_all(runnable: Sequence[GradedTest]) -> Sequence[Outcome]:
                nonlocal ended
                found = self._run_all(
                    runnable, lambda done, _, now: advance(ended + done, len(tests), now)
                )
                ended += len(runnable)
                return found

            return (
                prerequisites.run(self._lab, tests, run_all)
                if self._scope.prerequisites
                else [*run_all(tests)]
            )

    def _run_all(self, tests: Sequence[GradedTest], advance: console.Advance) -> list[Outcome]:
        """After an interrupt the tests that have not ended have no verdict."""
        found: dict[str, Outcome] = {}

        def ended(test: GradedTest, outcome: Outcome) -> None:
            found[test.name] = outcome

        try:
            if not self.interrupted:
                parallel.run_all(tests, self._run_test, advance, ended=ended)
        except KeyboardInterrupt:
            self._end_early()
        reason = deadline.INTERRUPTED
        without = Outcome((reason,), no_verdict=reason)
        return [found.get(test.name, without) for test in tests]

    def _measure_unless_interrupted(self) -> Measurement | None:
        try:
            return None if self.interrupted else self._measure()
        except KeyboardInterrupt:
            self._end_early()
            return None

    def _end_early(self) -> None:
        """Raises the interrupt again unless a partial grade is wanted."""
        if not self._scope.keeps_partial:
            raise KeyboardInterrupt
        self.interrupted = True

    def _run_test(self, test: GradedTest) -> Outcome:
        run = gtest.run_and_shrink if self._scope.shrink else gtest.run_test
        if self._scope.determinism:
            memory = course_key.seed(self._key, f"memory of {self._lab.id} {test.name}", 0)
            run = partial(determinism.run_with_twins, run, seed=memory)
        if self._scope.isolate:
            run = partial(gtest.run_again_without_verdict, run)
        outcome = run(self._binary(test.suite), test.name, self._options(test))
        return replace(outcome, failures=tuple(map(self._in_lines, outcome.failures)))

    def _options(self, test: GradedTest) -> gtest.Options:
        """Only hidden tests have seeds of the course: students run public tests themselves."""
        purpose = f"hidden test {self._lab.id} {test.name}"
        seed = course_key.seed(self._key, purpose, 0) if test.hidden else None
        return gtest.Options(replica=self._replica, seed=seed, deadline=self._scope.end)

    def _why_not_measured(
        self, tests: list[GradedTest], outcomes: list[Outcome], void: Mapping[str, str]
    ) -> str:
        if self._lab.measurement is None or not (
            self._scope.measurement and self._scope.prerequisites
        ):
            return ""
        part = self._lab.part(self._lab.measurement.part)
        return void.get(part.id) or prerequisites.reason(
            part,
            {test.name: test for test in tests},
            {test.name: outcome for test, outcome in zip(tests, outcomes, strict=True)},
        )

    def _measure(self) -> Measurement | None:
        if self._settings is None or not self._scope.measurement:
            return None
        settings, wanted = self._settings, self._scope.rows
        if wanted is not None:
            settings = settings.brief(lambda row: row.id.startswith(wanted))
        seed_of = partial(course_key.seed, self._key)
        options = Options(
            seeds=self._scope.seeds,
            with_ungraded=self._scope.ungraded and wanted is None,
            isolate=self._scope.isolate,
            end=self._scope.end,
        )
        return measure(self._kit, self._lab, self._replica, settings, seed_of, options)
