"""`kit submit`: the file that a student hands in."""

import os
import zipfile
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.commands import submit
from failslow.lab.labs import load_labs
from failslow.lab.submission import FILE_BYTES_MAX, collect
from running import Expect

LAB1 = ("lab1-quorum-event/quorum_event.cc", "lab1-quorum-event/quorum_event.h")
RAFT = "lab2-raft/raft.cc"


@pytest.fixture
def work(kit: Kit) -> Kit:
    """A checkout with a student's files in labs/, and other files beside them."""
    for name in (*LAB1, RAFT, "lab2-raft/notes.txt"):
        source(kit, name).parent.mkdir(exist_ok=True)
        source(kit, name).write_text(f"// {name}\n")
    return kit


def source(kit: Kit, name: str) -> Path:
    lab, file = name.split("/")
    return kit.labs / lab / "src" / file


def contents(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        return {each: archive.read(each).decode() for each in archive.namelist()}


def test_the_file_holds_the_listed_files_and_nothing_else(
    work: Kit, expect: Expect, tmp_path: Path
) -> None:
    said = expect(0, "submit", "--out", tmp_path / "mine.zip")
    names = [*LAB1, RAFT]
    assert contents(tmp_path / "mine.zip") == {name: f"// {name}\n" for name in names}
    assert said.out.splitlines() == names
    assert said.err == f"Wrote {tmp_path / 'mine.zip'} (3 files)\n"


def test_a_lab_comes_with_those_that_it_needs(work: Kit, expect: Expect, tmp_path: Path) -> None:
    expect(0, "submit", "lab1", "--out", tmp_path / "one.zip")
    assert list(contents(tmp_path / "one.zip")) == [*LAB1]
    expect(0, "submit", "lab2", "--out", tmp_path / "two.zip")
    assert list(contents(tmp_path / "two.zip")) == [*LAB1, RAFT]


def test_the_grader_takes_what_was_handed_in(work: Kit, expect: Expect, tmp_path: Path) -> None:
    expect(0, "submit", "--out", tmp_path / "mine.zip")
    with zipfile.ZipFile(tmp_path / "mine.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    taken = collect(work, load_labs(work), tmp_path / "unpacked")
    assert [lab.id for lab in taken.labs] == ["lab1", "lab2"]
    assert taken.files[RAFT] == f"// {RAFT}\n".encode()


def test_the_same_work_gives_the_same_bytes(work: Kit, expect: Expect, tmp_path: Path) -> None:
    expect(0, "submit", "--out", tmp_path / "a.zip")
    for name in (*LAB1, RAFT):
        os.utime(source(work, name), (0, 0))
        source(work, name).chmod(0o600)
    expect(0, "submit", "--out", tmp_path / "b.zip")
    content = (tmp_path / "a.zip").read_bytes()
    assert content == (tmp_path / "b.zip").read_bytes()
    assert content.count(b"\x00\x00\x21\x00") >= 6, "1980-01-01 in each header"


def test_each_problem_is_a_line(work: Kit, expect: Expect, tmp_path: Path) -> None:
    source(work, LAB1[0]).unlink()
    source(work, LAB1[1]).write_bytes(b" " * (FILE_BYTES_MAX + 1))
    source(work, RAFT).unlink()
    os.mkfifo(source(work, RAFT))
    said = expect(2, "submit", "--out", tmp_path / "mine.zip")
    assert said.reason == "kit: 3 files cannot be handed in; nothing was written"
    assert sorted(said.err.splitlines()[1:]) == [
        "labs/lab1-quorum-event/src/quorum_event.cc is missing or unreadable:"
        " No such file or directory",
        "labs/lab1-quorum-event/src/quorum_event.h is larger than 1 MiB",
        "labs/lab2-raft/src/raft.cc is not a regular file",
    ]
    assert not (tmp_path / "mine.zip").exists()


def test_one_problem_is_the_reason(work: Kit, expect: Expect, tmp_path: Path) -> None:
    source(work, RAFT).unlink()
    said = expect(2, "submit", "lab2", "--out", tmp_path / "mine.zip")
    assert said.err == (
        "kit: labs/lab2-raft/src/raft.cc is missing or unreadable: No such file or directory\n"
    )
    expect(0, "submit", "lab1", "--out", tmp_path / "mine.zip")


def test_a_link_is_refused(work: Kit, expect: Expect, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("not mine")
    source(work, RAFT).unlink()
    source(work, RAFT).symlink_to(tmp_path / "elsewhere")
    said = expect(2, "submit", "--out", tmp_path / "mine.zip")
    assert said.reason == (
        "kit: labs/lab2-raft/src/raft.cc is a symbolic link; hand in the file itself"
    )


def test_the_answers_of_a_diagnosis_are_handed_in(work: Kit) -> None:
    lab = load_labs(work).get("lab2")
    assert submit.listed(lab) == ("raft.cc",)
    real = load_labs(Kit(Path(__file__).resolve().parents[2])).get("lab4")
    assert "diagnosis.yaml" in submit.listed(real)
    assert set(real.files) < set(submit.listed(real))
