"""The reference's files: changes of an earlier lab's, and tuned ones laid over the plain ones."""

import subprocess
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import this_kit
from failslow.lab.labs import load_labs
from failslow.lab.reference import changed_files, fast_tree, starting_files, whole_files
from failslow.lab.submission import collect

PATCH = """\
--- a/early/log.cc
+++ b/late/log.cc
@@ -1,2 +1,2 @@
 int kept;
-int plain;
+int changed;
"""


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """The directory of a lab whose log.cc is a change of an earlier lab's."""
    for name in ("early", "late"):
        (tmp_path / name).mkdir()
    (tmp_path / "early" / "log.cc").write_text("int kept;\nint plain;\n")
    (tmp_path / "late" / "log.patch").write_text(PATCH)
    (tmp_path / "late" / "own.cc").write_text("int own;\n")
    return tmp_path / "late"


def test_a_patch_makes_a_file_of_an_earlier_labs(late: Path) -> None:
    assert changed_files(late) == {"log.cc": b"int kept;\nint changed;\n"}
    assert whole_files(late)["own.cc"] == b"int own;\n"


def test_a_patch_that_does_not_fit_is_refused(late: Path) -> None:
    (late.parent / "early" / "log.cc").write_text("int other;\n")
    with pytest.raises(CannotDo, match="does not fit"):
        changed_files(late)


def test_the_reference_is_collected_with_its_changes() -> None:
    kit = this_kit()
    files = collect(kit, load_labs(kit), kit.reference).files
    assert files["lab4-finalize/raft.cc"] != files["lab2-raft/raft.cc"]


def test_tuned_files_lie_over_the_labs_that_use_them() -> None:
    kit = this_kit()
    labs = load_labs(kit)
    with fast_tree(kit, labs) as tree:
        files = collect(kit, labs, tree).files
    plain = collect(kit, labs, kit.reference).files
    differ = {path.split("/")[0] for path, content in files.items() if plain[path] != content}
    assert differ == {"lab2-raft"}
    assert set(files) < set(plain)


def test_a_lab_begins_with_copies_of_the_lab_that_it_replaces() -> None:
    kit = this_kit()
    labs = load_labs(kit)
    assert starting_files(kit, labs, labs.get("lab5")) == {}
    copies = starting_files(kit, labs, labs.get("lab4"))
    answer = kit.reference / "lab2-raft"
    assert copies == {name: (answer / name).read_bytes() for name in ("raft.h", "raft.cc")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lab", "driver"),
    [("lab4", "lab2-raft/driver/make_raft.cc"), ("lab7", "lab7-adr/driver/make_raft.cc")],
)
def test_what_a_lab_begins_with_compiles_with_its_starters(
    lab: str, driver: str, tmp_path: Path
) -> None:
    kit = this_kit()
    labs = load_labs(kit)
    for name, content in starting_files(kit, labs, labs.get(lab)).items():
        (tmp_path / name).write_bytes(content)
    lab1 = kit.reference / labs.get("lab1").directory
    places = [tmp_path, kit.labs / labs.get(lab).directory / "src", lab1, kit.headers.parent]
    places += [kit.labs / "common" / "contract", *kit.labs.glob("lab*/contract")]
    argv = ["g++", "-std=c++20", "-fsyntax-only", *(f"-I{place}" for place in places)]
    done = subprocess.run(
        [*argv, kit.labs / driver, tmp_path / "raft.cc"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
