"""results.json: a grade in Gradescope's format.

Only `execution_time` may differ between two grades of one submission on one machine; on two, the
walls may. Hidden tests' names and
failures go to `extra_data`, which Gradescope does not show to students.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from failslow import atomic, yaml_file
from failslow.course_key import CourseKey
from failslow.errors import CannotDo
from failslow.grading import Grade, LabGrade, TestRow
from failslow.report import load_name

FILE_NAME = "results.json"


def document(grade: Grade, seconds: float, walls: Mapping[str, bool]) -> dict[str, Any]:
    """The document, validated against the schema; CannotDo if the kit made a wrong one.

    `walls`: those of this machine, as `walls.of_this_machine` has them.
    """
    content = {
        "score": grade.score,
        "execution_time": round(seconds),
        "output": _summary(grade),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _test(f"{lab_number}.{number}", row)
            for lab_number, lab in enumerate(grade.labs, start=1)
            for number, row in enumerate(lab.rows, start=1)
        ],
        "extra_data": {
            "max_score": grade.max_score,
            "course_key": _name(grade.key),
            "walls": dict(walls),
            "without_verdict": {row.test_id: row.no_verdict for row in grade.without_verdict},
            "capacity": {lab.lab.id: _capacities(lab) for lab in grade.labs if lab.measurement},
            "strengths": {
                lab.lab.id: list(lab.measurement.strengths) for lab in grade.labs if lab.measurement
            },
            "trace_hashes": {lab.lab.id: _trace_hashes(lab) for lab in grade.labs},
        },
    }
    return validated(content)


def rejection(message: str, detail: str, key: CourseKey) -> dict[str, Any]:
    """The document for a submission that cannot be built: 0 points and the reason."""
    test = {
        "name": "The submission can be built",
        "number": "1.1",
        "score": 0.0,
        "max_score": 0.0,
        "status": "failed",
        "output": f"{message}\n\n{detail}".strip(),
        "output_format": "text",
        "visibility": "visible",
        "extra_data": {},
    }
    return validated(
        {
            "score": 0.0,
            "execution_time": 0,
            "output": _marked(key, "The submission was not graded: it cannot be built."),
            "output_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "tests": [test],
            "extra_data": {"course_key": _name(key)},
        }
    )


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


def as_text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _summary(grade: Grade) -> str:
    lines = [
        f"{lab.lab.id} {lab.lab.title}: {lab.score:g} of {lab.max_score:g}" for lab in grade.labs
    ]
    if missing := without_verdict(grade):
        lines.append(missing)
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


def _test(number: str, row: TestRow) -> dict[str, Any]:
    return {
        "name": f"{row.lab}: {row.title}",
        "number": number,
        "score": row.score,
        "max_score": row.max_score,
        "status": "passed" if row.passed and not row.void else "failed",
        "output": row.output,
        "output_format": "text",
        "visibility": "visible",
        "tags": [row.lab, row.part],
        "extra_data": {
            "id": row.test_id,
            "hidden": row.hidden,
            "detail": row.detail,
            "seed": row.seed,
            "trace_hash": row.trace_hash,
        },
    }


def _capacities(lab: LabGrade) -> dict[str, float]:
    assert lab.measurement is not None
    return {load_name(*load): value for load, value in lab.measurement.capacities.items()}


def _trace_hashes(lab: LabGrade) -> dict[str, str]:
    hashes = {row.test_id: row.trace_hash for row in lab.rows if row.trace_hash}
    return hashes | (lab.measurement.trace_hashes if lab.measurement else {})
