"""`kit check`: the same submission gets the same result again."""

from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import Kit
from failslow.extras.check import repeated
from failslow.extras.check.repeated import Subject
from failslow.extras.check.step import Context

LINE = {"name": "lab1: a wait", "score": 2.0, "output": ""}


def result(**line: object) -> dict[str, Any]:
    return {"score": 2.0, "tests": [LINE, LINE | line]}


@pytest.mark.parametrize(
    ("third", "said"),
    [
        (result(), None),
        (result(score=1.5), "'lab1: a wait' has another score: 2.0, 1.5"),
        (result(output="late"), "'lab1: a wait' has another output: '', 'late'"),
        (result() | {"score": 1.0}, "another score"),
        (result() | {"tests": [LINE]}, "another tests"),
    ],
)
def test_the_third_of_four_gradings(
    kit: Kit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    third: dict[str, Any],
    said: str | None,
) -> None:
    made = iter([result(), result(), third, result()])
    monkeypatch.setattr(repeated, "_result", lambda *_: next(made))
    subject = Subject("mine", tmp_path, None)
    counts = repeated._again(Context(kit, False, tmp_path), [subject], 4)
    assert counts.passed == (4 if said is None else 3)
    assert counts.problems == ([] if said is None else [f"mine, grading 2 (busy): {said}"])
