"""The files that are taken from a submitted tree, and the trees that are refused."""

import os
import shutil
from pathlib import Path

import pytest

from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import load_labs
from failslow.lab.submission import FILE_BYTES_MAX, collect
from fakes import write_submission


def test_takes_only_the_listed_files(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "lab1", "lab2")
    (tree / "lab2-raft" / "CMakeLists.txt").write_text("surprise")
    taken = collect(kit, load_labs(kit), tree)
    assert [lab.id for lab in taken.labs] == ["lab1", "lab2"]
    assert sorted(taken.files) == [
        "lab1-quorum-event/quorum_event.cc",
        "lab1-quorum-event/quorum_event.h",
        "lab2-raft/raft.cc",
    ]


def test_reads_the_starter_layout(kit: Kit) -> None:
    source = kit.labs / "lab1-quorum-event" / "src"
    source.mkdir()
    for name in ("quorum_event.h", "quorum_event.cc"):
        (source / name).write_text("starter")
    taken = collect(kit, load_labs(kit), kit.labs)
    assert [lab.id for lab in taken.labs] == ["lab1"], "the other one is absent"
    assert taken.files["lab1-quorum-event/quorum_event.cc"] == b"starter"


@pytest.mark.parametrize("above", ["labs", "mine", "mine/labs"])
def test_finds_the_labs_below_a_directory(kit: Kit, tmp_path: Path, above: str) -> None:
    write_submission(tmp_path / "handed-in" / above, "MINE")
    (tmp_path / "handed-in" / ".git").mkdir()
    taken = collect(kit, load_labs(kit), tmp_path / "handed-in")
    assert b"MINE" in taken.files["lab1-quorum-event/quorum_event.cc"]


def test_follows_no_link_to_the_labs(kit: Kit, tmp_path: Path) -> None:
    write_submission(tmp_path / "another" / "labs")
    for name, target in (("labs", "another/labs"), ("mine", "another")):
        tree = tmp_path / f"handed-in-{name}"
        tree.mkdir()
        (tree / name).symlink_to(tmp_path / target)
        with pytest.raises(BadSubmission, match="holds no submission"):
            collect(kit, load_labs(kit), tree)


def test_base_reference_substitutes_needed_labs_only(kit: Kit, tmp_path: Path) -> None:
    lab_yaml = kit.labs / "lab2-raft" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("base: submission", "base: reference"))
    tree = write_submission(tmp_path / "mine", "MINE", "MINE")
    files = collect(kit, load_labs(kit), tree).files
    assert b"MINE" in files["lab1-quorum-event/quorum_event.cc"]
    assert b"MINE" not in files["base/lab1-quorum-event/quorum_event.cc"]
    assert b"MINE" in files["lab2-raft/raft.cc"]


def test_refuses_what_is_missing(kit: Kit, tmp_path: Path) -> None:
    labs = load_labs(kit)
    with pytest.raises(CannotDo, match="no such directory"):
        collect(kit, labs, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadSubmission, match="holds no submission of lab1-quorum-event/"):
        collect(kit, labs, tmp_path / "empty")
    only_raft = tmp_path / "only-raft" / "lab2-raft"
    only_raft.mkdir(parents=True)
    (only_raft / "raft.cc").write_text("")
    with pytest.raises(BadSubmission, match="lab2 needs lab1, but lab1-quorum-event/ is missing"):
        collect(kit, labs, only_raft.parent)
    tree = write_submission(tmp_path / "mine")
    (tree / "lab1-quorum-event" / "quorum_event.h").unlink()
    with pytest.raises(BadSubmission, match=r"quorum_event.h is missing"):
        collect(kit, labs, tree)


def test_refuses_links_pipes_and_giants(kit: Kit, tmp_path: Path) -> None:
    labs = load_labs(kit)
    tree = write_submission(tmp_path / "mine")
    header = tree / "lab1-quorum-event" / "quorum_event.h"
    (tmp_path / "secret").write_text("hidden test")
    header.unlink()
    for target in (tmp_path / "secret", Path("quorum_event.cc"), header):
        header.symlink_to(target)
        with pytest.raises(BadSubmission, match=r"quorum_event\.h is a symbolic link|is missing"):
            collect(kit, labs, tree)
        header.unlink()
    os.link(tmp_path / "secret", header)
    with pytest.raises(BadSubmission, match=r"quorum_event\.h is a hard link"):
        collect(kit, labs, tree)
    header.unlink()
    os.mkfifo(header)
    with pytest.raises(BadSubmission, match="not a regular file"):
        collect(kit, labs, tree)
    header.unlink()
    header.write_bytes(b" " * (FILE_BYTES_MAX + 1))
    with pytest.raises(BadSubmission, match="larger than 1 MiB"):
        collect(kit, labs, tree)


def test_refuses_a_directory_that_is_a_link(kit: Kit, tmp_path: Path) -> None:
    labs = load_labs(kit)
    tree = write_submission(tmp_path / "mine")
    directory = tree / "lab1-quorum-event"
    directory.rename(tmp_path / "elsewhere")
    directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadSubmission, match=r"^lab1-quorum-event is a symbolic link"):
        collect(kit, labs, tree)
    assert collect(kit, labs, _link_to(tree, directory, tmp_path)).files, (
        "the tree itself may be one"
    )


def _link_to(tree: Path, directory: Path, tmp_path: Path) -> Path:
    directory.unlink()
    (tmp_path / "elsewhere").rename(directory)
    link = tmp_path / "link"
    link.symlink_to(tree)
    return link


def _catch_up(kit: Kit, to: Path) -> Kit:
    """A students' kit whose lab 2 is built on the course's lab 1."""
    lab_yaml = kit.labs / "lab2-raft" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("base: submission", "base: reference"))
    shutil.copytree(kit.labs, to / "labs")
    return Kit(to)


def test_a_students_kit_has_the_courses_lab_as_objects(kit: Kit, tmp_path: Path) -> None:
    students = _catch_up(kit, tmp_path / "students")
    given = students.catch_up("lab1-quorum-event")
    given.mkdir(parents=True)
    for name in ("quorum_event.h", "quorum_event.o"):
        (given / name).write_text("COURSE")
    tree = write_submission(tmp_path / "mine", "MINE", "MINE")
    files = collect(students, load_labs(students), tree, "lab2").files
    assert files["base/lab1-quorum-event/quorum_event.o"] == b"COURSE"
    assert files["base/lab1-quorum-event/quorum_event.h"] == b"COURSE"
    assert "base/lab1-quorum-event/quorum_event.cc" not in files


def test_a_students_kit_without_the_courses_lab_says_so(kit: Kit, tmp_path: Path) -> None:
    students = _catch_up(kit, tmp_path / "students")
    tree = write_submission(tmp_path / "mine", "MINE", "MINE")
    reason = "lab2 is built on the course's lab1, which this kit lacks .*: ask your instructor"
    with pytest.raises(CannotDo, match=reason):
        collect(students, load_labs(students), tree, "lab2")
