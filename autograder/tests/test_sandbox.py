"""The sandbox around a submission, as grades and reports show them."""

import json
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.extras.commands import doctor
from fakes import write_program, write_submission
from running import Expect

HALF = """print('{"system calls": true, "user of its own": false, "Landlock": false}')"""


def test_a_grade_says_which_walls_stood(kit: Kit, expect: Expect, tmp_path: Path) -> None:
    write_program(kit.binary(sandbox.LAYERS), HALF)
    tree = write_submission(tmp_path / "mine")
    said = expect(0, "grade", tree, "--out", tmp_path / "out")
    assert "lacks: user of its own, Landlock. It runs as your user." in said.err
    result = json.loads((tmp_path / "out" / "results.json").read_text())
    assert result["extra_data"]["sandbox"] == {
        "system calls": True,
        "user of its own": False,
        "Landlock": False,
    }


UNKNOWN = "cannot find this machine's sandbox"
COMPILER = sandbox.COMPILER_SANDBOX


@pytest.mark.parametrize(
    ("program", "body", "reason"),
    [
        (sandbox.LAYERS, "print('no json')", UNKNOWN),
        (sandbox.LAYERS, "print('[]')", UNKNOWN),
        (sandbox.LAYERS, "import sys; sys.exit(3)", UNKNOWN),
        (COMPILER, None, "compiler_sandbox is missing from the kit's build"),
        (COMPILER, f"import sys; sys.exit({sandbox.CANNOT})", "cannot build the sandbox around"),
    ],
)
def test_without_walls_there_is_no_grade(
    kit: Kit, expect: Expect, tmp_path: Path, program: str, body: str | None, reason: str
) -> None:
    if body is None:
        kit.binary(program).unlink()
    else:
        write_program(kit.binary(program), body)
    said = expect(2, "grade", write_submission(tmp_path / "mine"), "--out", tmp_path / "out")
    assert reason in said.err
    assert not (tmp_path / "out" / "results.json").exists()


def test_what_was_compiled_without_walls_is_not_graded(
    kit: Kit, expect: Expect, tmp_path: Path
) -> None:
    tree = write_submission(tmp_path / "mine")
    said = expect(0, "grade", tree, "--out", tmp_path / "out")
    assert "wall" not in said.err, "all of them stand"
    (walled,) = kit.submissions.iterdir()
    expect(None, "test", "lab1", tree)
    assert len(list(kit.submissions.iterdir())) == 2
    assert "walled" in walled.name


def test_the_doctor_counts_the_walls(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(kit.binary(sandbox.LAYERS), HALF)
    (row,) = doctor._walls(kit)
    assert row[1] == "1 of 3"
    assert "Landlock" in row[2]
    kit.binary(sandbox.LAYERS).unlink()
    assert doctor._walls(kit) == []
    with pytest.raises(CannotDo, match=r"^sandbox_layers is missing"):
        sandbox.of_this_machine(kit)


def test_the_compiler_reads_the_system_and_what_it_is_given(kit: Kit, tmp_path: Path) -> None:
    given, own = tmp_path / "given", tmp_path / "own"
    argv = ["/opt/gcc/bin/g++", "-c", "mine.cc"]
    words = sandbox.of_compiler(kit).command(argv, [given], own)
    end = words.index("--")
    read = words[words.index("--read") + 1 : words.index("--write")]
    assert {"/usr/include", "/opt/gcc/bin", str(given)} <= {*read}
    assert not [each for each in read if each in ("/", "/usr") or each.startswith(str(kit.root))]
    assert words[words.index("--write") + 1 : end] == [str(own), "/dev/null"]
    assert words[end + 1 :] == argv
