"""Unattended grading: students learn of their own mistakes, instructors of the kit's."""

import json
from pathlib import Path

from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.extras.commands.gradescope import main
from failslow.lab import course_key
from fakes import write_program, write_submission


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


def test_the_compilers_words_are_withheld_where_it_has_no_walls(kit: Kit, tmp_path: Path) -> None:
    write_program(kit.binary(sandbox.LAYERS), """print('{"Landlock": false}')""")
    tree = write_submission(tmp_path / "mine", "SYNTAX")
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    content = (tmp_path / "out" / "results.json").read_text()
    assert "words are withheld" in content
    assert "unqualified-id" not in content
    (tree / "lab1-quorum-event" / "quorum_event.h").unlink()
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    assert "quorum_event.h is missing" in (tmp_path / "out" / "results.json").read_text()


def test_could_not_grade_leaves_no_result(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine")
    kit.binary("lab1_public_sealed").unlink()
    assert main([str(tree), str(tmp_path / "out")], kit) == 2
    assert not (tmp_path / "out").exists()


def test_a_submission_cannot_read_the_key_of_its_container(kit: Kit, tmp_path: Path) -> None:
    key = course_key.make(kit.course_key)
    tree = write_submission(tmp_path / "mine", "SYNTAX")
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["extra_data"]["course_key"] == key.fingerprint
    assert kit.course_key.read_bytes() == b""
    assert main([str(tree), str(tmp_path / "second")], kit) == 2
    assert not (tmp_path / "second").exists()


def test_the_development_key_is_marked_even_without_a_grade(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "SYNTAX")
    assert main([str(tree), str(tmp_path / "out")], kit) == 0
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["output"].startswith(course_key.DEVELOPMENT.mark)
