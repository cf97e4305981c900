"""The budget of graded runs, and the feedback of titles alone."""

import json
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import Kit
from failslow.extras.commands import gradescope
from failslow.extras.release import run_budget
from failslow.extras.release.assignment import Assignment
from failslow.grade.results import TITLE_ALONE
from fakes import write_submission
from running import Expect

NOON = datetime(2026, 12, 1, 12, tzinfo=timezone(timedelta(hours=-5)))


def at(hours: float) -> str:
    return (NOON + timedelta(hours=hours)).isoformat(timespec="microseconds")


def decide(now_h: float, *earlier_h: float) -> run_budget.Budget:
    """Four runs a day; submissions at these hours from noon on."""
    previous = [{"submission_time": at(h), "results": {"score": h or None}} for h in earlier_h]
    return run_budget.decide(4, {"created_at": at(now_h), "previous_submissions": previous})


@pytest.mark.parametrize(
    ("now_h", "earlier_h", "left"),
    [
        (0.0, (), 3),
        (0.3, (0.2, 0.0, 0.1), 0),
        (8.0, (0.0, 0.1, 0.2), 1),
        (48.0, (0.0, 0.1, 0.2), 3),
    ],
)
def test_four_a_day_are_four_at_once_and_one_each_six_hours(
    now_h: float, earlier_h: tuple[float, ...], left: int
) -> None:
    assert (decide(now_h, *earlier_h).graded, decide(now_h, *earlier_h).left) == (True, left)


def test_a_refused_submission_costs_nothing_and_keeps_the_last_graded_result() -> None:
    times = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    found = decide(1.0, *times)
    assert (found.graded, found.kept) == (False, {"score": 0.3}), "two were refused after it"
    assert found.next_at == NOON + timedelta(hours=6)
    assert decide(6.0, *times).graded
    assert not decide(5.99, *times).graded
    assert not decide(7.0, 6.5, 0.0, 0.1, 0.2, 0.3).graded, "in the order of time"
    assert decide(0.25, *times).graded, "a regrade of the third: the others came later"


def test_an_error_of_the_grader_costs_nothing() -> None:
    previous = [{"submission_time": at(0), "results": None}]
    metadata = {"created_at": "2026-12-01T17:20:00Z", "previous_submissions": previous}
    assert run_budget.decide(4, metadata).left == 3


def test_a_student_keeps_the_score_and_reads_when_the_next_run_is(kit: Kit, tmp_path: Path) -> None:
    kit.assignment.parent.mkdir(parents=True)
    kit.assignment.write_text(Assignment("lab1", 10, 2).file_text)
    earlier: list[dict[str, Any]] = []

    def grade(hour: float, behaviour: str = "") -> dict[str, Any]:
        metadata = {"created_at": at(hour), "previous_submissions": earlier}
        (tmp_path / run_budget.METADATA).write_text(json.dumps(metadata))
        shutil.rmtree(tmp_path / "submission", ignore_errors=True)
        tree = write_submission(tmp_path / "submission", behaviour)
        assert gradescope.main([str(tree), str(tmp_path / "results")], kit) == 0
        result: dict[str, Any] = json.loads((tmp_path / "results" / "results.json").read_text())
        earlier.append({"submission_time": at(hour), "results": result})
        return result

    assert "0 are left" in (grade(0, "SYNTAX"), grade(1, "FAIL:Quorum.Late"))[1]["output"]
    for hour in (2, 3):
        refused = grade(hour)
        assert (refused["score"], len(refused["tests"])) == (
            90,
            len(earlier[1]["results"]["tests"]),
        )
        assert "one more at 2026-12-02 00:00 -0500. Not graded." in refused["output"]
    assert grade(12)["score"] == 100


def test_without_its_file_or_with_another_form_a_submission_is_graded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_budget.of(2, tmp_path / "mine") is None
    assert capfd.readouterr().err == ""
    for text in ('{"previous_submissions": []}', "[]", "{"):
        (tmp_path / run_budget.METADATA).write_text(text)
        assert run_budget.of(2, tmp_path / "mine") is None
        assert "is not kept" in capfd.readouterr().err


def test_the_file_of_an_assignment_has_its_budget(expect: Expect, tracked: Kit) -> None:
    expect(0, "release", "gradescope", tracked.root / "a.zip", "--runs-a-day", 6)
    assert json.loads(Assignment(None, 10, 6).file_text)["runs_a_day"] == 6
    assert "'0' is not" in expect(2, "release", "gradescope", "b.zip", "--runs-a-day", 0).reason


def test_titles_alone_tell_no_more_of_a_hidden_test(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Quorum.Late FAIL:Secret.Nesting")

    def output(hidden: bool) -> str:
        gradescope.main([str(tree), str(tmp_path / "out")], kit)
        tests = json.loads((tmp_path / "out" / "results.json").read_text())["tests"]
        lost = [each for each in tests if each.get("max_score") and not each["score"]]
        (found,) = [e["output"] for e in lost if bool(e["extra_data"].get("hidden")) == hidden]
        return str(found)

    full = output(False)
    assert TITLE_ALONE not in (full, output(True))
    lab = kit.labs / "lab1-quorum-event" / "lab.yaml"
    lab.write_text(lab.read_text() + "visibility: {feedback: titles}\n")
    assert (output(False), output(True)) == (full, TITLE_ALONE)
