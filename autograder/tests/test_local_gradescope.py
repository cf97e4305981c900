"""`kit grade --as gradescope`, with scripts that log what they see, and an engine that is one.

The submission is the result: run_autograder copies its header to results.json.
"""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.grade import results
from failslow.lab import course_key
from fakes import write_program, write_submission
from running import Expect

SETUP = """#!/bin/sh
cd "${AUTOGRADER:-/autograder}/source" && echo built >> log
"""
RUN = """#!/bin/sh
here=${AUTOGRADER:-/autograder}
cat "$here/source/course.key" "$here/source/autograder/gradescope/assignment.json" \
  >> "$here/source/log"
: > "$here/source/course.key"
cp "$here/submission/lab1-quorum-event/quorum_event.h" "$here/results/results.json"
"""
ENGINE = """
import os, pathlib, shutil, subprocess, sys
here = pathlib.Path(__file__).parent
image, container = here / "image", here / "container"
word, *rest = sys.argv[1:]
with (here / "calls").open("a") as calls:
    calls.write(" ".join([word, *rest]) + "\\n")
if word == "image":
    sys.exit(not image.exists())
elif word == "build":
    shutil.copytree(".", image / "source")
    subprocess.run([image / "source/setup.sh"], env={"AUTOGRADER": str(image)}, check=True)
elif word == "create":
    shutil.copytree(image, container)
    (container / "results").mkdir()
    print("c0ffee")
elif word == "cp":
    source, to = (each.replace("c0ffee:/autograder", str(container)) for each in rest)
    if source.endswith("/."):
        shutil.copytree(source, to, dirs_exist_ok=True)
    else:
        shutil.copy(source, to)
elif word == "start":
    program = container / "source/run_autograder"
    sys.exit(subprocess.run([program], env={"AUTOGRADER": str(container)}).returncode)
elif word == "rm":
    shutil.rmtree(container)
"""


@pytest.fixture
def scripts(tracked: Kit) -> Path:
    directory = tracked.root / "autograder" / "gradescope"
    (directory / "setup.sh").write_text(SETUP)
    (directory / "run_autograder").write_text(RUN)
    return directory


@pytest.fixture
def without_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path / "bin" / "docker", "import sys\nsys.exit('no engine')")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of the engine: its calls, its image, its container."""
    write_program(tmp_path / "bin" / "docker", ENGINE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path / "bin"


Submit = Callable[[str], Path]


@pytest.fixture
def submit(tmp_path: Path) -> Submit:
    def write(result: str) -> Path:
        tree = tmp_path / "mine"
        if not tree.exists():
            write_submission(tree)
        (tree / "lab1-quorum-event" / "quorum_event.h").write_text(result)
        return tree

    return write


def result(score: float, most: float) -> str:
    content = results.rejection("", "", course_key.DEVELOPMENT)
    content["score"] = score
    content["extra_data"]["max_score"] = most
    return json.dumps(content)


def test_a_plain_tree_is_built_once_and_gets_key_and_assignment(
    tracked: Kit,
    scripts: Path,
    without_engine: None,
    submit: Submit,
    expect: Expect,
    tmp_path: Path,
) -> None:
    key = course_key.make(tmp_path / "course.key")
    out = tmp_path / "out"
    words = ("--as", "gradescope", "--key", tmp_path / "course.key", "--out", out)
    said = expect(0, "grade", submit(result(20, 20)), *words, "--lab", "lab1", "--minutes", 20)
    assert said.out == "20 of 20 points\n"
    assert "No Docker engine answers" in said.err
    assert json.loads((out / "results.json").read_text())["score"] == 20
    said = expect(1, "grade", submit(result(5, 20)), *words)
    assert said.out == "5 of 20 points\n"
    (tree,) = (tracked.build / "as-gradescope").iterdir()
    assert (tree / "source" / "log").read_text() == (
        f'built\n{key.file_text}{{"lab": "lab1", "minutes": 20}}\n'
        f'{key.file_text}{{"lab": null, "minutes": 10}}\n'
    )
    (scripts / "setup.sh").write_text(SETUP + "# changed\n")
    expect(0, "grade", submit(result(20, 20)), *words)
    (changed,) = (tracked.build / "as-gradescope").iterdir()
    assert changed != tree, "another kit is built anew, and the old tree is removed"


def test_a_container_of_the_smallest_size_grades(
    tracked: Kit, scripts: Path, engine: Path, submit: Submit, expect: Expect, tmp_path: Path
) -> None:
    words = ("--as", "gradescope", "--out", tmp_path / "out", "--lab", "lab1")
    for score, code in ((20, 0), (7, 1)):
        expect(code, "grade", submit(result(score, 20)), *words)
        assert json.loads((tmp_path / "out" / "results.json").read_text())["score"] == score
    calls = (engine / "calls").read_text().splitlines()
    assert len([call for call in calls if call.startswith("build")]) == 1
    (first, _) = (call for call in calls if call.startswith("create"))
    assert "--cpus 0.5 --memory 768m --memory-swap 768m --network none" in first
    assert not (engine / "container").exists()
    assert stat.S_IMODE((engine / "image/source/setup.sh").stat().st_mode) == 0o755
    assert not (engine / "image/source/course.key").exists(), "an image is for every course"


@pytest.mark.parametrize("place", ["without_engine", "engine"])
def test_a_grader_without_a_result_is_told(
    place: str,
    scripts: Path,
    submit: Submit,
    expect: Expect,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    request.getfixturevalue(place)
    (scripts / "run_autograder").write_text("#!/bin/sh\necho broken; exit 2\n")
    words = ("--as", "gradescope", "--out", tmp_path / "out")
    said = expect(2, "grade", submit(result(20, 20)), *words)
    assert "the grader left no result" in said.reason
    assert "broken" in said.err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "bin" / "container").exists()


@pytest.mark.usefixtures("without_engine")
def test_a_build_that_fails_shows_why_and_is_not_kept(
    tracked: Kit, scripts: Path, submit: Submit, expect: Expect, tmp_path: Path
) -> None:
    (scripts / "setup.sh").write_text("#!/bin/sh\necho no compiler; exit 3\n")
    words = ("--as", "gradescope", "--out", tmp_path / "out")
    said = expect(2, "grade", submit(result(20, 20)), *words)
    assert "Building the autograder: exit code 3" in said.reason
    assert "no compiler" in said.err
    assert not [*(tracked.build / "as-gradescope").rglob(".built")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--batch"], "no --batch, no --seeds"),
        (["--seeds", "1"], "no --batch, no --seeds"),
        (["--minutes", "1.5"], "a whole number from 2 to 40"),
        (["--minutes", "41"], "a whole number from 2 to 40"),
        (["--lab", "lab9"], "lab9"),
    ],
)
def test_words_that_an_assignment_cannot_have(
    tracked: Kit, expect: Expect, tmp_path: Path, words: list[str], reason: str
) -> None:
    tree = write_submission(tmp_path / "mine")
    said = expect(2, "grade", tree, "--as", "gradescope", *words)
    assert reason in said.reason
