"""Grades a submission: from a tree of files to rows with scores. Prints progress only.

The order is fixed (labs by id, tests in the order of their binary). So two grades of one submission
are identical.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from failslow import (
    console,
    course_key,
    crash_stack,
    deadline,
    determinism,
    gates,
    gtest,
    last_steps,
    parallel,
    violations,
    voids,
    walls,
)
from failslow.compile import build_submission
from failslow.course_key import CourseKey
from failslow.diagnosis import answers, runs, scoring
from failslow.errors import CannotDo
from failslow.gtest import GradedTest, Outcome
from failslow.kit import Kit
from failslow.labs import Lab, Labs
from failslow.measurement import sweep_table, ungraded
from failslow.measurement.measure import Measurement, measure
from failslow.measurement.scoring import Row
from failslow.measurement.settings import SUBMIT, Graded, Settings, load_settings
from failslow.measurement.sweep import Cell
from failslow.recipe import Recipe, load_recipe
from failslow.submission import AnswerFile, Submission

NO_VERDICT = "The grader has no verdict on this test, after two runs."
TOO_LATE = "The grading ended before this test did."
MISSING = "Its points are missing for now; your instructor is told."


@dataclass(frozen=True)
class TestRow:
    """One graded line of a report.

    `output` is for the student, `detail` for the instructor only. `test_id` is empty for a line
    without a GoogleTest. `passed` is the verdict on the line alone. `void`: the reason if its part
    is void, or "". `no_verdict`: why the grader has none, or "".
    """

    __test__ = False  # not a pytest class, despite its name

    lab: str
    test_id: str
    title: str
    part: str
    score: float
    max_score: float
    passed: bool
    hidden: bool
    output: str
    detail: str = ""
    trace_hash: str = ""
    seed: str = ""
    void: str = ""
    no_verdict: str = ""

    @property
    def earned(self) -> bool:
        """All points of the line."""
        return self.passed and not self.void and self.score == self.max_score


@dataclass(frozen=True)
class LabGrade:
    """All rows of one lab, and its measurement if it has one. `void`: the ids of void parts."""

    lab: Lab
    rows: tuple[TestRow, ...]
    measurement: Measurement | None = None
    void: frozenset[str] = frozenset()

    @property
    def score(self) -> float:
        return round(sum(row.score for row in self.rows), 2)

    @property
    def max_score(self) -> float:
        return sum(row.max_score for row in self.rows)


@dataclass(frozen=True)
class Grade:
    """`key`: the hidden seeds derive from it."""

    labs: tuple[LabGrade, ...]
    key: CourseKey = course_key.DEVELOPMENT

    @property
    def score(self) -> float:
        return round(sum(lab.score for lab in self.labs), 2)

    @property
    def max_score(self) -> float:
        return sum(lab.max_score for lab in self.labs)

    @property
    def full_marks(self) -> bool:
        return all(row.earned for row in self.rows)

    @property
    def rows(self) -> list[TestRow]:
        return [row for lab in self.labs for row in lab.rows]

    @property
    def losses(self) -> str:
        """'3 of 41 lines lost points: 12 points in all.'"""
        lost = sum(1 for row in self.rows if not row.earned)
        points = round(self.max_score - self.score, 2)
        return f"{lost} of {len(self.rows)} lines lost points: {points:g} points in all."

    @property
    def without_verdict(self) -> list[TestRow]:
        return [row for row in self.rows if row.no_verdict]


@dataclass(frozen=True)
class Scope:
    """The parts to grade. The defaults grade everything; `kit check` grades mutants by parts.

    `tests`: only these ids (None: all, and then points must add up to those of lab.yaml).
    `gates`: skip the tests of a part when a test that the part needs fails.
    `rows`: only the measured rows whose ids begin so, each with one slow set (None: all, and what
    is measured without points).
    `seeds`: the number of seeds of most measured runs; None for the number in the settings.
    `shrink`: a failing plan of faults is shown as short as can be.
    `diagnosis`: judge the answers of a lab's diagnosis.
    `isolate`: a test without a verdict costs its own points; otherwise it ends the grade.
    `end`: the deadline. What has no verdict by then has none.
    """

    tests: frozenset[str] | None = None
    measurement: bool = True
    determinism: bool = True
    gates: bool = True
    rows: tuple[str, ...] | None = None
    seeds: int | None = None
    shrink: bool = True
    diagnosis: bool = True
    isolate: bool = False
    end: float = deadline.NONE


def grade(
    kit: Kit,
    labs: Labs,
    submission: Submission,
    scope: Scope | None = None,
    key: CourseKey = course_key.DEVELOPMENT,
    recipe: Recipe | None = None,
) -> Grade:
    """Builds and grades. The kit itself must be built already. `recipe`: other than the kit's.

    Raises BadSubmission when it does not compile, CouldNotGrade when a test gave no verdict (see
    Scope.isolate) or a measured run no result.
    """
    scope = scope or Scope()
    recipe = recipe or load_recipe(kit)
    targets = [recipe.replica(lab) for lab in submission.labs]
    around = walls.of_compiler(kit)
    programs = build_submission(kit, labs, submission, recipe, targets, walls=around, end=scope.end)
    graded = []
    for lab in submission.labs:
        replica = programs / f"{lab.id}_replica"
        in_lines = crash_stack.behind_walls(kit, around, replica)
        grader = _LabGrader(kit, lab, replica, scope, key, in_lines)
        given = submission.answers.get(lab.id) if scope.diagnosis else None
        diagnosis = [] if given is None else [*diagnosis_rows(kit, lab, given, key)]
        graded.append(grader.grade(diagnosis))
    return Grade(tuple(graded), key)


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
        """`in_lines`: see crash_stack.behind_walls."""
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
        void = voids.of_lab(self._lab, wanted, outcomes, differs)
        because = self._why_not_measured(wanted, outcomes, void)
        measurement = None if because else self._measure()
        if measurement and measurement.differs:
            differs = measurement.differs
            void = voids.of_lab(self._lab, wanted, outcomes, differs)
        rows = [_determinism_row(self._lab, differs)] if self._scope.determinism else []
        told = violations.Told()
        rows += [
            _test_row(self._lab, test, outcome, void.get(test.part, ""), told)
            for test, outcome in zip(wanted, outcomes, strict=True)
        ]
        rows += diagnosis
        if because:
            rows.append(_skipped_measurement(self._lab, because))
        if measurement:
            rows += _measurement_rows(self._lab, measurement, void)
        return LabGrade(self._lab, tuple(rows), measurement, frozenset(void))

    def _binary(self, suite: str) -> Path:
        return self._kit.binary(f"{suite}_sealed")

    def _tests(self) -> list[GradedTest]:
        tests = gtest.list_all({suite: self._binary(suite) for suite in self._lab.suites})
        check_points(self._lab, tests, self._settings)
        gates.check(self._lab, tests)
        return tests

    def _is_wanted(self, test: GradedTest) -> bool:
        return self._scope.tests is None or test.name in self._scope.tests

    def _run_tests(self, tests: list[GradedTest]) -> list[Outcome]:
        with console.progress(f"Testing {self._lab.id}") as advance:

            def run_all(runnable: Sequence[GradedTest]) -> Sequence[Outcome]:
                return parallel.run_all(runnable, self._run_test, advance)

            return gates.run(self._lab, tests, run_all) if self._scope.gates else [*run_all(tests)]

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
        if self._lab.measurement is None or not (self._scope.measurement and self._scope.gates):
            return ""
        part = self._lab.part(self._lab.measurement.part)
        return void.get(part.id) or gates.reason(
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
        return measure(
            self._kit,
            self._lab,
            self._replica,
            settings,
            seed_of,
            self._scope.seeds,
            with_ungraded=wanted is None,
            isolate=self._scope.isolate,
            end=self._scope.end,
        )


def check_points(lab: Lab, tests: Sequence[GradedTest], settings: Settings | None) -> None:
    """CannotDo unless the points of every part's tests add up to the part's points in lab.yaml.

    `settings`: of the lab's measurement, whose rows have points, too.
    """
    sums: dict[str, float] = {part.id: 0 for part in lab.parts}
    for test in tests:
        sums[lab.part(test.part).id] += test.points
    if lab.measurement and settings:
        sums[lab.measurement.part] += settings.total_points
    if lab.diagnosis:
        sums[lab.diagnosis.part] += scoring.points(lab)
    for part in lab.parts:
        if sums[part.id] != part.points:
            raise CannotDo(
                f"{lab.id}: the tests of part '{part.id}' add up to {sums[part.id]:g} points,"
                f" lab.yaml says {part.points}"
            )
    names = [test.name for test in tests]
    if len(set(names)) < len(names):
        raise CannotDo(f"{lab.id}: two graded tests have the same name")


def _test_row(
    lab: Lab, test: GradedTest, outcome: Outcome, void: str, told: violations.Told
) -> TestRow:
    """`void`: the reason if the test's part is void. A test that fails keeps its own reason."""
    void = void if outcome.passed else ""
    failure = "\n\n".join(outcome.failures)
    seeded = f"Seed {outcome.seed}.\n{failure}" if outcome.seed and test.hidden else failure
    return TestRow(
        lab=lab.id,
        test_id=test.name,
        # A hidden test's name would reveal its scenario; a student sees only its property.
        title=test.description if test.hidden else f"{test.name}: {test.description}",
        part=test.part,
        score=float(test.points) if outcome.passed and not void else 0.0,
        max_score=float(test.points),
        passed=outcome.passed,
        hidden=test.hidden,
        output=void or outcome.skipped_because or _student_output(lab, test, outcome, told),
        detail="" if void or outcome.passed or outcome.skipped_because else seeded,
        no_verdict=outcome.no_verdict,
        trace_hash=outcome.trace_hash,
        seed=outcome.seed,
        void=void,
    )


def _student_output(lab: Lab, test: GradedTest, outcome: Outcome, told: violations.Told) -> str:
    if outcome.passed:
        return ""
    if outcome.no_verdict:
        return _without_verdict(outcome.no_verdict)
    costs = f"{voids.costs(lab, test.part, outcome.violated)}\n" if outcome.violated else ""
    failure, costs = told.once(test, outcome, costs)
    part = next(part.title for part in lab.parts if part.id == test.part)
    see = f"See {lab.handout}, '{part}'"
    if test.hidden:
        # The rest of a violation's sentence would reveal the scenario.
        if outcome.rule and violations.invariants_alone(outcome.failures):
            return f"Violated while this was tested: {outcome.rule}.\n{costs}{see}"
        rule = f"Violated: {outcome.rule}.\n" if outcome.rule else ""
        return f"Does not hold: {test.description}\n{rule}{costs}{see}"
    steps = last_steps.before_death("\n\n".join(outcome.failures), outcome.history)
    return f"{failure}\n{steps}{costs}{see}; run it yourself: ./kit test {lab.id} {test.name}"


def _without_verdict(reason: str) -> str:
    """For the student, who is not told the grader's reason."""
    return f"{TOO_LATE if reason == deadline.OUT_OF_TIME else NO_VERDICT} {MISSING}"


def _determinism_row(lab: Lab, differs: str) -> TestRow:
    return TestRow(
        lab=lab.id,
        test_id=determinism.TEST_ID,
        title="Determinism: the same submission, test and seed behave the same",
        part=determinism.TEST_ID,
        score=0.0,
        max_score=0.0,
        passed=not differs,
        hidden=False,
        output=differs,
        detail=differs,
    )


def diagnosis_rows(kit: Kit, lab: Lab, given: AnswerFile, key: CourseKey) -> Iterator[TestRow]:
    """One row for each label. The first one has what is wrong with the file."""
    assert lab.diagnosis is not None
    if isinstance(given, str):
        read = answers.Answers({}, [given])
    else:
        read = answers.read(given, lab.diagnosis.file, lab)
    complaints = [*read.complaints]
    for judged in scoring.judge(read, runs.observe(kit, lab, key)):
        lines = [*complaints, *judged.lines]
        complaints = []
        yield TestRow(
            lab=lab.id,
            test_id=f"diagnosis/{judged.label}",
            title=f"Diagnosis of {judged.label}",
            part=lab.diagnosis.part,
            score=judged.score,
            max_score=scoring.LABEL_POINTS,
            passed=judged.passed,
            hidden=False,
            output="\n".join([*lines, f"See {lab.handout}"]) if lines else "",
        )


def _measurement_rows(lab: Lab, measurement: Measurement, void: Mapping[str, str]) -> list[TestRow]:
    assert lab.measurement is not None
    because = void.get(lab.measurement.part, "")
    rows = []
    for row, text in zip(measurement.rows, measurement.reports, strict=True):
        missing = measurement.no_verdict.get(row.graded.id, "")
        rows.append(
            TestRow(
                lab=lab.id,
                test_id=row.graded.id,
                title=_title(row.graded),
                part=lab.measurement.part,
                score=0.0 if because or missing else row.score,
                max_score=float(row.points),
                passed=row.passed and not missing,
                hidden=False,
                output=because or _report(lab, row, text, missing),
                detail="" if row.passed else text,
                void=because,
                no_verdict=missing,
            )
        )
    return [*rows, _ungraded_row(lab, measurement.ungraded)] if measurement.ungraded else rows


def _report(lab: Lab, row: Row, text: str, missing: str) -> str:
    if missing:
        return _without_verdict(missing)
    return text if row.passed else f"{text}\nSee {lab.handout}"


def _ungraded_row(lab: Lab, cells: Sequence[Cell]) -> TestRow:
    """For information. It cannot fail: a slow leader slows every Raft down."""
    assert lab.measurement is not None
    text = "\n".join(map(sweep_table.line, cells))
    return TestRow(
        lab=lab.id,
        test_id="ungraded",
        title=f"For information: {ungraded.title(lab.measurement.roles)}",
        part=lab.measurement.part,
        score=0.0,
        max_score=0.0,
        passed=True,
        hidden=False,
        output=text,
    )


def _title(row: Graded) -> str:
    mix = "" if row.mix == SUBMIT else f"load '{row.mix}', "
    return f"Slow {row.victim}: {mix}{row.replicas} replicas, {row.fault}"


def _skipped_measurement(lab: Lab, because: str) -> TestRow:
    assert lab.measurement is not None
    part = lab.part(lab.measurement.part)
    return TestRow(
        lab=lab.id,
        test_id="measurement",
        title="Slow follower",
        part=part.id,
        score=0.0,
        max_score=float(part.points),
        passed=False,
        hidden=False,
        output=because,
        detail=because,
    )
