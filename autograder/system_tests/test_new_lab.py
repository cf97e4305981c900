"""`kit new-lab` in a copy of the checkout: the lab is whole, and nothing else has changed.

The copy that is compiled has no other lab: nothing outside the new lab's folders names one.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.cli import main
from failslow.extras.release import tree
from failslow.lab.labs import load_labs

NAME = "lab10-read-leases"
ID = "lab10"
FOLDERS = (
    f"labs/{NAME}/",
    f"reference-solutions/{NAME}/",
    f"autograder/hidden/{NAME}/",
    f"handouts/{NAME}",
)
PLACES = ("labs", "reference-solutions", "autograder/hidden")


@pytest.fixture(scope="module")
def before(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> tuple[Kit, dict[str, str]]:
    """A copy of the checkout with the new lab, and the files that it had without."""
    root = tmp_path_factory.mktemp("new-lab") / "kit"
    for name in tree.tracked(kit):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(kit.root / name, root / name)
    files = _digests(root)
    assert main(["new-lab", NAME], Kit(root)) == 0
    return Kit(root), files


@pytest.fixture(scope="module")
def copy(before: tuple[Kit, dict[str, str]]) -> Kit:
    return before[0]


@pytest.fixture(scope="module")
def alone(copy: Kit) -> Kit:
    """The copy without the other labs, so that no more is compiled than the new lab needs."""
    for lab in load_labs(copy).by_id.values():
        for place in PLACES if lab.id != ID else ():
            shutil.rmtree(copy.root / place / lab.directory)
    shutil.rmtree(copy.reference / "tests")
    shutil.rmtree(copy.root / "tools")
    return copy


def _digests(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def _points(kit: Kit, out: Path, *arguments: str) -> float:
    """The points of 100."""
    code = main(["grade", *arguments, "--lab", ID, "--out", str(out)], kit)
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert code == (0 if content["score"] == 100 else 1)
    return content["score"]


def test_a_new_lab_changes_nothing_outside_its_folders(
    before: tuple[Kit, dict[str, str]],
) -> None:
    kit, files = before
    after = _digests(kit.root)
    assert files.items() <= after.items()
    added = after.keys() - files.keys()
    assert {folder for folder in FOLDERS if any(name.startswith(folder) for name in added)} == {
        *FOLDERS
    }
    assert [name for name in added if not name.startswith(FOLDERS)] == []


def test_a_tenth_lab_comes_after_the_others(copy: Kit) -> None:
    assert list(load_labs(copy).by_id)[-1] == ID


def test_its_handout_agrees_with_its_reference(copy: Kit) -> None:
    argv = [sys.executable, "-I", "-m", "pytest", "tests/test_handouts.py"]
    done = process.run(argv, cwd=copy.root / "autograder", merge_errors=True)
    assert done.exit_code == 0, done.output


def test_the_handbook_has_a_page_of_it(copy: Kit) -> None:
    assert main(["site", "build"], copy) == 0
    page = f"labs/{NAME}.html"
    assert "<h1" in (copy.handbook / page).read_text(encoding="utf-8")
    assert page in (copy.handbook / "index.html").read_text(encoding="utf-8"), "it is listed"


@pytest.mark.full
def test_its_reference_has_full_marks_the_starter_none_and_its_mutant_is_caught(
    alone: Kit, tmp_path: Path
) -> None:
    assert _points(alone, tmp_path, str(alone.reference)) == 100
    assert _points(alone, tmp_path, str(alone.labs)) == 0
    mutant = alone.reference / NAME / "mutants" / "counts-the-dead.patch"
    assert _points(alone, tmp_path, str(mutant)) == 50
