"""Unattended grading: students learn of their own mistakes, instructors of the kit's."""

import json
from pathlib import Path

from failslow.gradescope import main
from failslow.kit import Kit
from fakes import write_submission


def test_a_grade_is_a_result_even_when_points_are_lost(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Quorum.Late")
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    assert json.loads((tmp_path / "out" / "results.json").read_text())["score"] == 90


def test_a_submission_that_does_not_compile_is_told_why(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "SYNTAX")
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["score"] == 0
    assert "expected unqualified-id" in content["tests"][0]["output"]


def test_could_not_grade_leaves_no_result(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "EXIT3:Quorum.Late")
    assert main([str(tree), str(tmp_path / "out")], kit) == 2
    assert not (tmp_path / "out").exists()
