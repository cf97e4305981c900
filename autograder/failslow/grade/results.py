"""results.json: a grade in Gradescope's format.

Only `execution_time` may differ between two grades of one submission on one machine; on two, the
sandbox may. Hidden tests' names and failures go to `extra_data`, which Gradescope does not show to
students.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from failslow.base import atomic, yaml_file
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.grade import leaderboard, result_suite
from failslow.grade.model import Grade, LabGrade, TestRow
from failslow.grade.report import load_name
from failslow.grade.result_suite import Line
from failslow.grade.result_text import as_text, fitting
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import TITLES, VISIBLE, Lab
from failslow.measurement import raw_samples

FILE_NAME = "results.json"

VISIBILITIES = (VISIBLE, "after_due_date", "after_published", "hidden")
"""From the least strict to the strictest."""

WITHHELD = (
    "The submission does not compile. The compiler's words are withheld, because no sandbox stands"
    " around the compiler on this machine. Try ./kit test."
)

TITLE_ALONE = "No points. Your course shows no more of a hidden test than its sentence."

SUBTOTALS = "0"
"""Begins the numbers of the parts' sub-totals, by which the platform sorts."""


def document(grade: Grade, seconds: float, sandbox: Mapping[str, bool]) -> dict[str, Any]:
    """The document, validated against the schema; CannotDo if the kit made a wrong one.

    `sandbox`: those of this machine, as `sandbox.of_this_machine` has them.
    """
    lines = [line for number, lab in _numbered(grade) for line in _subtotals(number, lab)]
    lines += [line for number, lab in _numbered(grade) for line in _lines(number, lab)]
    content = result_suite.document(
        lines, [column for lab in grade.labs for column in leaderboard.columns(lab)]
    )
    content |= {
        "score": grade.score,
        "execution_time": round(seconds),
        "output": _summary(grade),
        "output_format": "text",
        "extra_data": {
            "max_score": grade.max_score,
            "course_key": _name(grade.key),
            "partial": grade.partial,
            "sandbox": dict(sandbox),
            "without_verdict": {row.test_id: row.no_verdict for row in grade.without_verdict},
            "capacity": {lab.lab.id: _capacities(lab) for lab in grade.labs if lab.measurement},
            "strengths": {
                lab.lab.id: list(lab.measurement.strengths) for lab in grade.labs if lab.measurement
            },
            "runs": {
                lab.lab.id: {row.graded.id: row.runs for row in lab.measurement.rows}
                for lab in grade.labs
                if lab.measurement
            },
            "samples": {
                lab.lab.id: raw_samples.table(lab.measurement.samples)
                for lab in grade.labs
                if lab.measurement
            },
        },
    }
    return validated(fitting(content))


def rejection(message: str, detail: str, key: CourseKey) -> dict[str, Any]:
    """The document for a submission that cannot be built: 0 points and the reason."""
    output = f"{message}\n\n{detail}".strip()
    line = Line("The submission can be built", "1.1.1", False, output, 0.0, 0.0)
    content = result_suite.document([line], []) | {
        "score": 0.0,
        "execution_time": 0,
        "output": _marked(key, "The submission was not graded: it cannot be built."),
        "output_format": "text",
        "extra_data": {"course_key": _name(key), "rejected": message},
    }
    return validated(fitting(content))


def rejection_of(kit: Kit, error: BadSubmission, key: CourseKey) -> dict[str, Any]:
    """Without a sandbox the compiler may have read hidden files: its words are withheld."""
    if error.detail and not sandbox.of_this_machine(kit)[sandbox.LANDLOCK]:
        return rejection(WITHHELD, "", key)
    return rejection(str(error), error.detail, key)


def validated(content: dict[str, Any]) -> dict[str, Any]:
    complaint = yaml_file.first_complaint(content, "results")
    if complaint:
        raise CannotDo(f"the kit made an invalid {FILE_NAME}: {complaint}")
    return content


def write(directory: Path, content: dict[str, Any]) -> Path:
    """Writes the file whole or not at all; CannotDo when the directory cannot be written."""
    path = directory / FILE_NAME
    atomic.write_text(path, as_text(content))
    return path


def _numbered(grade: Grade) -> Iterator[tuple[int, LabGrade]]:
    return enumerate(grade.labs, start=1)


def _subtotals(number: int, graded: LabGrade) -> Iterator[Line]:
    """One line for each part, without points of its own: those of the tests count."""
    for at, part in enumerate(graded.lab.parts, start=1):
        rows = [row for row in graded.rows if row.part == part.id]
        score, most = sum(row.score for row in rows), sum(row.max_score for row in rows)
        lost = sum(1 for row in rows if not row.earned)
        yield Line(
            name=f"{graded.lab.id}, {part.title}: {score:g} of {most:g}",
            number=f"{SUBTOTALS}.{number}.{at}",
            passed=lost == 0,
            output=f"{lost} of {len(rows)} lines lost points." if lost else "",
            visibility=max(
                (_visibility(graded.lab, row) for row in rows),
                key=VISIBILITIES.index,
                default=VISIBLE,
            ),
            tags=(graded.lab.id, part.id),
        )


def _lines(number: int, graded: LabGrade) -> Iterator[Line]:
    places = {part.id: at for at, part in enumerate(graded.lab.parts, start=1)}
    counts: dict[int, int] = {}
    for row in graded.rows:
        place = places.get(row.part, 0)
        counts[place] = counts.get(place, 0) + 1
        extra = {
            "id": row.test_id,
            "hidden": row.hidden,
            "detail": row.detail,
            "seed": row.seed,
            "trace_hash": row.trace_hash,
        }
        yield Line(
            name=f"{row.lab}: {row.title}",
            number=f"{number}.{place}.{counts[place]}",
            passed=row.passed and not row.void,
            output=_output(graded.lab, row),
            score=row.score,
            max_score=row.max_score,
            visibility=_visibility(graded.lab, row),
            tags=(row.lab, row.part),
            extra_data={name: value for name, value in extra.items() if value},
        )


def _output(lab: Lab, row: TestRow) -> str:
    """A missing verdict is the grader's: its words always stay."""
    told = lab.visibility.feedback != TITLES or not row.hidden or row.earned or row.no_verdict
    return row.output if told else TITLE_ALONE


def _visibility(lab: Lab, row: TestRow) -> str:
    if lab.measurement and row.part == lab.measurement.part:
        return lab.visibility.measured
    return lab.visibility.hidden if row.hidden else lab.visibility.public


def _summary(grade: Grade) -> str:
    """Without the sums of a lab some of whose lines are not shown at once."""
    lines = [
        f"{lab.lab.id} {lab.lab.title}: {lab.score:g} of {lab.max_score:g}"
        for lab in grade.labs
        if lab.lab.visibility.shows_all
    ]
    if all(lab.lab.visibility.shows_all for lab in grade.labs):
        lines.append(grade.losses)
    lines += [remark for lab in grade.labs for remark in lab.missing]
    lines += [each for each in (grade.partial, without_verdict(grade)) if each]
    return _marked(grade.key, "\n".join(lines))


def without_verdict(grade: Grade) -> str:
    """A sentence about tests without a verdict; "" if there are none."""
    count = len(grade.without_verdict)
    if count == 0:
        return ""
    points = sum(row.max_score for row in grade.without_verdict)
    return f"The grader has no verdict on {count} of the tests ({points:g} points): grade again."


def _marked(key: CourseKey, text: str) -> str:
    return f"{key.mark}\n{text}" if key.mark else text


def _name(key: CourseKey) -> str:
    return "development" if key.is_development else key.fingerprint


def _capacities(lab: LabGrade) -> dict[str, float]:
    assert lab.measurement is not None
    return {load_name(*load): value for load, value in lab.measurement.capacities.items()}
