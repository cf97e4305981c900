"""`kit release gradescope`: the file to upload, and the lab of an assignment."""

import json
import zipfile
from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras.commands import grade, gradescope
from failslow.extras.release.assignment import Assignment
from failslow.extras.release.gradescope import program
from failslow.lab import course_key
from fakes import write_submission
from running import Expect


def test_the_file_has_what_gradescope_runs(tracked: Kit, expect: Expect, tmp_path: Path) -> None:
    key = course_key.make(tmp_path / "course.key")
    out = tmp_path / "lab1.zip"
    said = expect(
        0, "release", "gradescope", out, "--lab", "lab1", "--key", tmp_path / "course.key"
    )
    assert f"lab1, key {key.fingerprint}" in said.err
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
        assert {"setup.sh", "run_autograder", "driver.cc"} <= {*names}
        assert [name for name in names if name.startswith("labs/")] == [
            "labs/lab1-quorum-event/lab.yaml"
        ]
        assert not [name for name in names if name.startswith(("build/", ".git/"))]
        written = json.loads(archive.read("autograder/gradescope/assignment.json"))
        assert written == {"lab": "lab1", "minutes": 10}
        assert archive.read("course.key").decode() == (tmp_path / "course.key").read_text()
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
    assert modes["run_autograder"] == 0o755
    assert modes["driver.cc"] == 0o644
    first = out.read_bytes()
    expect(0, "release", "gradescope", out, "--lab", "lab1", "--key", tmp_path / "course.key")
    assert out.read_bytes() == first, "the same kit gives the same bytes"


def test_without_a_lab_and_a_key_of_its_own(tracked: Kit, expect: Expect, tmp_path: Path) -> None:
    out = tmp_path / "all.zip"
    said = expect(0, "release", "gradescope", out)
    assert "Development key" in said.err
    assert "all labs" in said.err
    expect(0, "release", "gradescope", out, "--minutes", 40)
    with zipfile.ZipFile(out) as archive:
        written = json.loads(archive.read("autograder/gradescope/assignment.json"))
        assert written == {"lab": None, "minutes": 40}


def test_bad_words_write_nothing(tracked: Kit, expect: Expect, tmp_path: Path) -> None:
    out = tmp_path / "none.zip"
    assert "unknown lab" in expect(2, "release", "gradescope", out, "--lab", "lab9").err
    for minutes in (1, 41, "ten"):
        said = expect(2, "release", "gradescope", out, "--minutes", minutes)
        assert f"'{minutes}' is no number from 2 to 40" in said.reason
    (tracked.root / "driver.cc").unlink()
    assert "driver.cc is missing" in expect(2, "release", "gradescope", out).err
    assert not out.exists()


def test_an_assignment_grades_its_lab_alone(kit: Kit, tmp_path: Path) -> None:
    kit.assignment.parent.mkdir(parents=True)
    kit.assignment.write_text(Assignment("lab1").file_text)
    tree = write_submission(tmp_path / "mine", "", "FAIL:Raft.Elects")
    assert gradescope.main([str(tree), str(tmp_path / "out")], kit) == 0
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["score"] == content["extra_data"]["max_score"] == 100


def test_a_grading_ends_before_the_platform_ends_it(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.assignment.parent.mkdir(parents=True)
    kit.assignment.write_text(Assignment("lab1", 7).file_text)
    given: list[grade.Options] = []
    monkeypatch.setattr(grade, "run", lambda _, options: given.append(options))
    assert gradescope.main([str(tmp_path), str(tmp_path / "out")], kit) == 0
    assert [options.minutes for options in given] == [6]


@pytest.mark.parametrize("text", ["lab9", '{"lab": "lab9", "minutes": 9}', '{"lab": "lab1"}'])
def test_an_assignment_that_is_wrong_grades_nothing(kit: Kit, tmp_path: Path, text: str) -> None:
    kit.assignment.parent.mkdir(parents=True)
    kit.assignment.write_text(text)
    tree = write_submission(tmp_path / "mine")
    assert gradescope.main([str(tree), str(tmp_path / "out")], kit) == 2
    assert not (tmp_path / "out").exists()


def test_an_assignment_has_its_lab_and_those_that_it_needs_and_nothing_that_tests_the_kit() -> None:
    names = {lab: {*program(this_kit(), lab)} for lab in ("lab1", "lab4", None)}
    assert not [name for name in names["lab1"] if "lab2" in name or "raft/" in name]
    assert "labs/lab2-raft/lab.yaml" in names["lab4"], "lab 4's given code includes lab 2's"
    assert "autograder/hidden/lab5-copilot/CMakeLists.txt" in names[None] - names["lab4"]
    for each in names.values():
        assert "autograder/hidden/lab1-quorum-event/votes_test.cc" in each
        assert not [name for name in each if "/mutants/" in name]
        assert not [name for name in each if name.startswith("autograder/attacks/")]
        assert len(each) < 1_000
