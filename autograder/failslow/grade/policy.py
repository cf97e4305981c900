"""The points of a verdict, and the sentences about it for a student and an instructor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from failslow.base import deadline
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import determinism
from failslow.build.assertions import without_place
from failslow.build.gtest import GradedTest, Outcome
from failslow.grade import last_steps, violations
from failslow.grade.diagnosis import answers, course, runs, scoring
from failslow.grade.model import TestRow
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab
from failslow.lab.submission import AnswerFile
from failslow.measurement import sweep_table, ungraded
from failslow.measurement.explain import Report
from failslow.measurement.measure import Measurement
from failslow.measurement.runs import NORMAL
from failslow.measurement.scoring import Row
from failslow.measurement.settings import SUBMIT, Graded, Settings
from failslow.measurement.sweep import Cell

NO_VERDICT = "The grader has no verdict on this test, after two runs."
TOO_LATE = "The grading ended before this test did."
ENDED_EARLY = (deadline.OUT_OF_TIME, deadline.INTERRUPTED)
MISSING = "Its points are missing for now; your instructor is told."


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


def test_row(
    lab: Lab, test: GradedTest, outcome: Outcome, void: str, told: violations.Reported
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
        cause=void or outcome.skipped_because or _cause(outcome),
        no_verdict=outcome.no_verdict,
        trace_hash=outcome.trace_hash,
        seed=outcome.seed,
        void=void,
    )


def _cause(outcome: Outcome) -> str:
    """The violated invariants, or the first line of the failure: tests that share it have one
    mistake in common."""
    if not outcome.failures:
        return ""
    names = violations.invariants_alone(outcome.failures)
    if names:
        return f"{' and '.join(names)} violated"
    return without_place(outcome.failures[0]).partition("\n")[0]


def _student_output(lab: Lab, test: GradedTest, outcome: Outcome, told: violations.Reported) -> str:
    if outcome.passed:
        return ""
    if outcome.no_verdict:
        return _without_verdict(outcome.no_verdict)
    failure, costs = told.once(test, outcome)
    part = next(part.title for part in lab.parts if part.id == test.part)
    see = f"See {lab.handout}, '{part}'"
    if test.hidden:
        # The rest of a violation's sentence would reveal the scenario.
        if outcome.rule and violations.invariants_alone(outcome.failures):
            return f"Violated while this was tested: {outcome.rule}.\n{costs}{see}"
        if outcome.unbuilt:
            why = f"Not tested, because its situation does not come up: {test.description}"
            return f"{why}\nWhat prevents it: {outcome.unbuilt}\n{see}"
        rule = f"Violated: {outcome.rule}.\n" if outcome.rule else ""
        words = f"{outcome.told}\n" if outcome.told else ""
        return f"Does not hold: {test.description}\n{words}{rule}{costs}{see}"
    steps = last_steps.before_death("\n\n".join(outcome.failures), outcome.history)
    return f"{failure}\n{steps}{costs}{see}; run it yourself: ./kit test {lab.id} {test.name}"


def _without_verdict(reason: str) -> str:
    """For the student, who is not told the grader's reason."""
    return f"{TOO_LATE if reason in ENDED_EARLY else NO_VERDICT} {MISSING}"


def determinism_row(lab: Lab, differs: str) -> TestRow:
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
    ours = course.fingerprint(key)
    of_others = read.material not in ("", ours)
    if of_others:
        read = answers.Answers(material=read.material)
    for judged in scoring.judge(read, runs.observe(kit, lab, key)):
        lines = [*complaints, *judged.lines]
        if of_others:
            lines = [f"the answers are to material {read.material}, and this course's is {ours}"]
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


def measurement_rows(lab: Lab, measurement: Measurement, void: Mapping[str, str]) -> list[TestRow]:
    assert lab.measurement is not None
    because = void.get(lab.measurement.part, "")
    rows = []
    for row, told in zip(measurement.rows, measurement.reports, strict=True):
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
                output=because or _report(lab, row, told, missing),
                detail="" if row.passed else f"{told.text}\n{told.figures}".strip(),
                cause=because or ("" if missing else told.cause),
                missed=told.missed,
                void=because,
                no_verdict=missing,
            )
        )
    return [*rows, _ungraded_row(lab, measurement.ungraded)] if measurement.ungraded else rows


def _report(lab: Lab, row: Row, told: Report, missing: str) -> str:
    if missing:
        return _without_verdict(missing)
    if row.passed:
        return told.text
    replay = f"\nSee the run that shows it: {told.replay}" if told.replay else ""
    text = f"{told.text}{replay}"
    return f"{text}\nSee {lab.handout}; measure it yourself: ./kit test {lab.id} --slow"


def _ungraded_row(lab: Lab, cells: Sequence[Cell]) -> TestRow:
    """For information. It cannot fail: a slow leader slows its followers down."""
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
    if row.fault == NORMAL:
        return f"No slow replica: {mix}{row.replicas} replicas"
    return f"Slow {row.victim}: {mix}{row.replicas} replicas, {row.fault}"


def interrupted_measurement(lab: Lab) -> TestRow:
    reason = deadline.INTERRUPTED
    row = skipped_measurement(lab, _without_verdict(reason))
    return replace(row, no_verdict=reason, detail=reason, cause="")


def skipped_measurement(lab: Lab, because: str) -> TestRow:
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
        cause=because,
    )
