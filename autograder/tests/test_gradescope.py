"""Unattended grading: students learn of their own mistakes, instructors of the kit's."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.extras.commands.gradescope import main
from failslow.lab import course_key
from fakes import write_program, write_submission


class Container:
    """Grades submissions into `out`, as the autograder's container does."""

    def __init__(self, kit: Kit, directory: Path) -> None:
        self._kit = kit
        self._directory = directory
        self.out = directory / "out"

    def grade(self, behaviour: str = "", code: int = 0) -> dict[str, Any]:
        """The content of results.json; empty if there is none."""
        tree = self._directory / "mine"
        shutil.rmtree(tree, ignore_errors=True)
        return self.run(write_submission(tree, behaviour), code)

    def run(self, tree: Path, code: int = 0) -> dict[str, Any]:
        shutil.rmtree(self.out, ignore_errors=True)
        assert main([str(tree), str(self.out)], self._kit) == code
        return json.loads((self.out / "results.json").read_text()) if self.out.exists() else {}


@pytest.fixture
def container(kit: Kit, tmp_path: Path) -> Container:
    return Container(kit, tmp_path)


def test_a_grade_is_a_result_even_when_points_are_lost(container: Container) -> None:
    assert container.grade("FAIL:Quorum.Late")["score"] == 90


def test_a_submission_that_does_not_compile_is_told_why(container: Container) -> None:
    content = container.grade("SYNTAX")
    assert content["score"] == 0
    assert "expected unqualified-id" in content["tests"][0]["output"]
    assert content["output"].startswith(course_key.DEVELOPMENT.mark)


def test_the_compilers_words_are_withheld_where_it_has_no_walls(
    kit: Kit, container: Container, tmp_path: Path
) -> None:
    write_program(kit.binary(sandbox.LAYERS), """print('{"Landlock": false}')""")
    content = json.dumps(container.grade("SYNTAX"))
    assert "words are withheld" in content
    assert "unqualified-id" not in content
    (tmp_path / "mine" / "lab1-quorum-event" / "quorum_event.h").unlink()
    assert "quorum_event.h is missing" in json.dumps(container.run(tmp_path / "mine"))


def test_could_not_grade_leaves_no_result(kit: Kit, container: Container) -> None:
    kit.binary("lab1_public_sealed").unlink()
    assert container.grade(code=2) == {}
    assert not container.out.exists()


def test_a_submission_cannot_read_the_key_of_its_container(kit: Kit, container: Container) -> None:
    key = course_key.make(kit.course_key)
    assert container.grade("SYNTAX")["extra_data"]["course_key"] == key.fingerprint
    assert kit.course_key.read_bytes() == b""
    assert container.grade("SYNTAX", code=2) == {}
    assert not container.out.exists()
