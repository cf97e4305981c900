"""The parts of a grade, and the choice of those that are wanted."""

from dataclasses import dataclass

from failslow.base import deadline
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab
from failslow.measurement.measure import Measurement


@dataclass(frozen=True)
class TestRow:
    """One graded line of a report.

    `output` is for the student, `detail` for the instructor only. `test_id` is empty for a line
    without a GoogleTest. `passed` is the verdict on the line alone. `void`: the reason if its part
    is void, or "". `no_verdict`: why the grader has none, or "". `cause`: the same for lines that
    one mistake costs, for the instructor only, or "". `missed`: the figure of a measured line that
    is over its limit, or "".
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
    cause: str = ""
    missed: str = ""

    @property
    def earned(self) -> bool:
        """All points of the line."""
        return self.passed and not self.void and self.score == self.max_score


@dataclass(frozen=True)
class LabGrade:
    """All rows of one lab, and its measurement if it has one. `void`: the ids of void parts.
    `missing`: sentences about the functions of earlier labs that are not written."""

    lab: Lab
    rows: tuple[TestRow, ...]
    measurement: Measurement | None = None
    void: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return round(sum(row.score for row in self.rows), 2)

    @property
    def max_score(self) -> float:
        return sum(row.max_score for row in self.rows)


@dataclass(frozen=True)
class Grade:
    """`key`: the hidden seeds derive from it. `partial`: a sentence if the grade was interrupted,
    or ""."""

    labs: tuple[LabGrade, ...]
    key: CourseKey = course_key.DEVELOPMENT
    partial: str = ""

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
        unit = "point" if points == 1 else "points"
        return f"{lost} of {len(self.rows)} lines lost points: {points:g} {unit} in all."

    @property
    def without_verdict(self) -> list[TestRow]:
        return [row for row in self.rows if row.no_verdict]


@dataclass(frozen=True)
class Scope:
    """The parts to grade. The defaults grade everything; `kit check` grades mutants by parts.

    `tests`: only these ids (None: all, and then points must add up to those of lab.yaml).
    `prerequisites`: skip the tests of a part when a test that the part needs fails.
    `rows`: only the measured rows whose ids begin so, each with one slow set (None: all).
    `ungraded`: measure what has no points, too, if all rows are.
    `seeds`: the number of seeds of most measured runs; None for as many as a row needs.
    `shrink`: a failing plan of faults is shown as short as can be.
    `diagnosis`: judge the answers of a lab's diagnosis.
    `isolate`: a test without a verdict costs its own points; otherwise it ends the grade.
    `end`: the deadline. What has no verdict by then has none.
    `keeps_partial`: an interrupt ends the grade with the verdicts so far, if there are any.
    """

    tests: frozenset[str] | None = None
    measurement: bool = True
    determinism: bool = True
    prerequisites: bool = True
    rows: tuple[str, ...] | None = None
    ungraded: bool = True
    seeds: int | None = None
    shrink: bool = True
    diagnosis: bool = True
    isolate: bool = False
    end: float = deadline.NONE
    keeps_partial: bool = False
