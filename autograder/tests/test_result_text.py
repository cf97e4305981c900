"""results.json fits the platform's limit, whatever was submitted."""

import copy
from typing import Any

import pytest

from failslow.grade.result_text import CHARACTERS_MAX, CUT, as_text, fitting

LINES = {"lab1": 75, "lab2": 140, "all": 700}
"""More than a grade of these labs has. All seven have 550."""


def worst(lines: int, text: int = 5000) -> dict[str, Any]:
    """A submission that fails every test with long words, and has no verdict anywhere."""
    tests = [
        {
            "name": f"lab7: {'A property of a quorum system that is told at length, ' * 3}{number}",
            "score": 0.0,
            "max_score": 12.5,
            "status": "failed",
            "number": f"7.10.{number}",
            "output": "x" * text,
            "tags": ["lab7"],
            "extra_data": {
                "id": f"{'ARatherLongSuite' * 3}.{'WithALongName' * 4}{number}",
                "hidden": True,
                "seed": str(2**63 - 1),
                "trace_hash": "0123456789abcdef",
                "detail": "y" * text,
            },
        }
        for number in range(lines)
    ]
    silent = {test["extra_data"]["id"]: "no verdict after two runs, " * 4 for test in tests}
    data = {"samples": {"lab7": ["z" * text]}, "runs": {"lab7": silent}, "without_verdict": silent}
    return {"tests": tests, "output": "w" * 200_000, "score": 0.0, "extra_data": data}


@pytest.mark.parametrize("labs", LINES)
def test_the_worst_submission_fits(labs: str) -> None:
    content = fitting(worst(LINES[labs]))
    assert len(as_text(content)) <= CHARACTERS_MAX
    assert len(content["tests"]) == LINES[labs]
    assert all(test["name"].startswith("lab7: A property") for test in content["tests"])


def test_a_result_that_fits_stays_whole() -> None:
    content = worst(3, text=100) | {"output": ""}
    assert fitting(copy.deepcopy(content)) == content


def test_passed_tests_lose_their_data_before_a_failure_loses_a_word() -> None:
    content = worst(300, text=10) | {"output": "", "extra_data": {}}
    assert len(as_text(content)) > CHARACTERS_MAX
    for test in content["tests"][1:]:
        test["status"] = "passed"
    content["tests"][0]["output"] = "why it failed " * 100
    failed = copy.deepcopy(content["tests"][0])
    fitted = fitting(content)
    assert fitted["tests"][0]["output"] == failed["output"]
    assert fitted["tests"][0]["extra_data"]["id"] == failed["extra_data"]["id"]
    assert {str(test["extra_data"]) for test in fitted["tests"][1:]} == {"{}"}


def test_texts_that_are_cut_say_so() -> None:
    content = fitting(worst(100))
    assert {test["output"].endswith(CUT) for test in content["tests"]} == {True}
