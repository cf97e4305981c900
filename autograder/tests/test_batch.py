"""`kit grade --batch`: a folder of submissions, the stored results, the summary, and a cluster."""

import contextlib
import csv
import dataclasses
import json
import os
import shutil
import signal
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster

from failslow.base import process
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.batch import command, folder, job, machines, result_store, summary
from failslow.extras.batch.folder import Handed
from failslow.extras.batch.job import Done, Job
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from fakes import eventually, write_submission
from running import Expect, Said


class Course:
    """A folder of submissions, graded into `out`."""

    def __init__(self, expect: Expect, directory: Path) -> None:
        self._expect = expect
        self.folder = directory / "handed-in"
        self.out = directory / "graded"
        self.folder.mkdir()

    def hand_in(self, name: str, behaviour: str = "") -> None:
        tree = self.folder / name.removesuffix(".zip")
        shutil.rmtree(tree, ignore_errors=True)
        write_submission(tree, behaviour)
        if name.endswith(".zip"):
            shutil.make_archive(str(tree), "zip", tree)
            shutil.rmtree(tree)

    def grade(self, code: int, *more: object) -> dict[str, dict[str, str]]:
        """The rows of the summary, by name."""
        self.said: Said = self._expect(
            code, "grade", "--batch", self.folder, "--out", self.out, *more
        )
        with (self.out / "summary.csv").open(newline="") as file:
            return {row["name"]: row for row in csv.DictReader(file)}

    def results(self) -> list[Path]:
        return sorted((self.out / "results").iterdir())


@pytest.fixture
def course(expect: Expect, tmp_path: Path) -> Course:
    return Course(expect, tmp_path)


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the submissions that were graded, in order."""
    names: list[str] = []
    run = job.run

    def counted(each: Job) -> Done:
        names.append(each.name)
        return run(each)

    monkeypatch.setattr(job, "run", counted)
    return names


def test_each_submission_has_a_row(course: Course) -> None:
    course.hand_in("ada")
    course.hand_in("bob.zip", "FAIL:Quorum.Late")
    course.hand_in("cy", "SYNTAX")
    (course.folder / "notes.txt").write_text("not a submission")
    rows = course.grade(1)
    assert [*rows] == ["ada", "bob", "cy"]
    assert (rows["ada"]["score"], rows["ada"]["max_score"]) == ("100", "100")
    assert (rows["bob"]["score"], rows["bob"]["remark"]) == ("90", "")
    reason = "quorum_event.cc:3:1: error: expected unqualified-id"
    assert (rows["cy"]["score"], rows["cy"]["max_score"]) == ("0", "100")
    assert rows["cy"]["remark"] == (
        f"cannot be built: the submission does not compile: lab1-quorum-event/{reason}"
    )
    assert "3 submissions: 2 graded, 1 that cannot be built, 1 with a remark" in course.said.out
    page = (course.out / "summary.html").read_text()
    result = json.loads((course.out / "results" / f"{rows['bob']['key']}.json").read_text())
    assert f'<a href="results/{rows["bob"]["key"]}.json">bob</a>' in page
    assert result["score"] == 90


def test_the_listed_files_are_kept_to_be_compared(course: Course) -> None:
    course.hand_in("ada.zip", "mine")
    course.grade(0)
    sources = course.out / "sources"
    files = sorted(str(file.relative_to(sources)) for file in sources.rglob("*.*"))
    assert files == [f"ada/lab1-quorum-event/quorum_event.{end}" for end in ("cc", "h")]
    assert (sources / files[0]).read_text() == "// mine\n"


def test_nothing_is_graded_twice(course: Course, graded: list[str]) -> None:
    course.hand_in("ada")
    course.hand_in("bob", "FAIL:Quorum.Late")
    first = course.grade(0)
    assert sorted(graded) == ["ada", "bob"]
    files = [path.stat().st_mtime_ns for path in course.results()]
    assert course.grade(0) == first
    assert sorted(graded) == ["ada", "bob"]
    assert [path.stat().st_mtime_ns for path in course.results()] == files


def test_equal_submissions_are_graded_once(course: Course, graded: list[str]) -> None:
    for name in ("ada", "bob.zip", "cy"):
        course.hand_in(name)
    rows = course.grade(0)
    assert len(graded) == len(course.results()) == 1
    assert {row["score"] for row in rows.values()} == {"100"}
    said = "3 submissions: 3 graded, 2 equal to another one, compiled and graded with it"
    assert said in course.said.out
    assert said in (course.out / "summary.html").read_text()


@pytest.mark.parametrize("other", [("--seeds", 1), ("--key", "KEY")])
def test_other_terms_are_another_grade(
    course: Course, graded: list[str], tmp_path: Path, other: tuple[object, ...]
) -> None:
    course.hand_in("ada")
    course.grade(0)
    course_key.make(tmp_path / "KEY")
    course.grade(0, *(tmp_path / "KEY" if word == "KEY" else word for word in other))
    assert graded == ["ada", "ada"]


def test_a_changed_submission_shows_its_grade_before(course: Course) -> None:
    course.hand_in("ada")
    course.hand_in("bob")
    course.grade(0)
    course.hand_in("bob", "FAIL:Quorum.Late")
    rows = course.grade(0)
    assert (rows["ada"]["before"], rows["bob"]["before"]) == ("", "100")
    assert "bob: 100 -> 90" in course.said.out
    assert "1 with another score than before" in course.said.out


def test_an_error_of_the_grader_replaces_no_grade(course: Course, kit: Kit) -> None:
    course.hand_in("ada", "FAIL:Quorum.Late")
    course.grade(0)
    course.hand_in("bob")
    kit.binary("lab1_public_sealed").unlink()
    rows = course.grade(1)
    assert (rows["ada"]["score"], rows["bob"]["score"]) == ("90", "")
    for row in rows.values():
        assert row["remark"].startswith("grader error: exit code 2: ")
        assert "missing from the kit's build" in row["remark"]


def test_a_missing_verdict_replaces_no_grade_and_is_graded_again(
    course: Course, graded: list[str]
) -> None:
    course.hand_in("ada")
    course.grade(0)
    course.hand_in("ada", "SEGFAULT:Quorum.Late")
    course.hand_in("bob", "SEGFAULT:Quorum.Votes")
    rows = course.grade(1)
    assert rows["ada"]["score"] == "100"
    assert rows["ada"]["remark"].endswith("grade again; the grade before is kept")
    assert rows["bob"]["score"] == "60"
    assert rows["bob"]["remark"] == "no verdict on 1 tests: grade again"
    assert course.grade(1) == rows
    assert sorted(graded) == ["ada", "ada", "ada", "bob", "bob"]


def test_a_batch_that_was_ended_goes_on(
    course: Course, graded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"student-{number}" for number in range(5)]
    for number, name in enumerate(names):
        course.hand_in(name, f"number {number}")
    here = machines.here

    def ends_after_two(count: int) -> machines.Machines:
        def run_all(jobs: list[Job]) -> Iterator[tuple[Job, Done]]:
            for number, each in enumerate(here(count)(jobs)):
                if number == 2:
                    raise CannotDo("the machine goes down")
                yield each

        return run_all

    with monkeypatch.context() as patch:
        patch.setattr(machines, "here", ends_after_two)
        rows = course.grade(2)
    assert [row["remark"] for row in rows.values()].count("not graded yet") == 3
    assert len(course.results()) == 2
    done = len(graded)
    rows = course.grade(0)
    assert [*rows] == names
    assert {row["score"] for row in rows.values()} == {"100"}
    assert len(graded) == done + 3


def test_an_interrupt_says_how_to_go_on(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(jobs: list[Job]) -> Iterator[tuple[Job, Done]]:
        raise KeyboardInterrupt
        yield

    course.hand_in("ada")
    monkeypatch.setattr(machines, "here", lambda _: interrupted)
    monkeypatch.setattr(process, "_stopping", threading.Event())  # of this test alone
    said = course._expect(130, "grade", "--batch", course.folder, "--out", course.out)
    assert said.err.splitlines()[-1] == "kit: interrupted; the same command goes on where it was"


def test_gradings_side_by_side_have_cores_of_their_own(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = []
    monkeypatch.setattr(
        job, "run", lambda each: shares.append(each.cores) or Done(None, "not today")
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 4})
    for name in ("ada", "bob", "cy"):
        course.hand_in(name, name)
    course.grade(1, "--jobs", 2)
    assert {*shares} <= {(0, 2, 4), (1, 3)}
    said = course._expect(2, "grade", "--batch", course.folder, "--jobs", 6)
    assert "6 gradings need as many cores, and there are 5" in said.reason


STARTS_A_GRADING = """
import sys
from pathlib import Path
from failslow.extras.batch import job
root, path = sys.argv[1:]
job.run(job.Job(root=root, name="ada", path=path, lab=None, seeds=None, minutes=5, secret="00"))
"""


def test_a_grading_ends_with_its_batch(kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "ada", "STAYS:Quorum.Late")
    argv = [sys.executable, "-I", "-c", STARTS_A_GRADING, str(kit.root), str(tree)]

    def of_the_kit() -> list[str]:
        """The commands that run now for this checkout."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().split("\0")
                if str(kit.root) in "".join(words) or (entry / "cwd").readlink() == kit.root:
                    found.append(" ".join(words))
        return found

    with process.background(argv):
        eventually(lambda: any("--gtest_filter=Quorum.Late" in each for each in of_the_kit()))
    eventually(lambda: of_the_kit() == [])


def test_a_grading_whose_batch_is_gone_already_does_not_begin(kit: Kit, tmp_path: Path) -> None:
    each = Job(str(kit.root), "ada", str(tmp_path), None, None, 5, "00")
    (tmp_path / job.FILE_NAME).write_text(json.dumps(dataclasses.asdict(each)))
    argv = [sys.executable, "-I", "-m", job.__name__, tmp_path, "1"]
    done = process.run(argv, cwd=kit.root)
    assert done.exit_code == job.INTERRUPTED
    assert not (tmp_path / "results.json").exists()


# ---- wrong input ----


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--on", "moon"), "'moon' is neither here, nor a class and a number of workers"),
        (("--on", "distributed.LocalCluster"), "nor a class and a number of workers"),
        (("--on", "distributed.LocalCluster:0"), "nor a class and a number of workers"),
        (("--on", "distributed.Moon:2"), "--on distributed.Moon:2: "),
        (("--on", "tcp://127.0.0.1:1"), "tcp://127.0.0.1:1 is not encrypted"),
        (("--on", "distributed.LocalCluster:1"), "is not encrypted"),
        (("--on", "moon.Cluster:2"), "--on moon.Cluster:2: No module named 'moon'"),
        (("--on", "tls://127.0.0.1:1"), "--on tls://127.0.0.1:1: "),
        (("--jobs", "0"), "'0' is not a positive number"),
        (("--json",), "--json is of one submission"),
        (("--lab", "lab9"), "unknown lab 'lab9'"),
    ],
)
def test_wrong_words_grade_nothing(
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.setattr(machines, "REACH_S", 0.2)
    course.hand_in("ada")

    def build(*arguments: object, **more: object) -> None:
        pytest.fail("it builds before it refuses")

    monkeypatch.setattr(cmake, "build", build)
    said = course._expect(2, "grade", "--batch", course.folder, "--out", course.out, *words)
    assert reason in said.reason
    assert not course.out.exists()


def test_options_of_a_batch_need_a_batch(course: Course, expect: Expect) -> None:
    course.hand_in("ada")
    said = expect(2, "grade", course.folder / "ada", "--jobs", 2)
    assert "add --batch" in said.reason


def test_a_folder_without_submissions(course: Course, expect: Expect) -> None:
    assert "holds no submission" in expect(2, "grade", "--batch", course.folder).reason
    course.hand_in("ada")
    course.hand_in("ada.zip")
    course.hand_in("ada")
    assert "holds both ada/ and ada.zip" in expect(2, "grade", "--batch", course.folder).reason


def test_a_file_that_is_no_summary_is_not_overwritten(course: Course, expect: Expect) -> None:
    course.hand_in("ada")
    course.out.mkdir()
    (course.out / "summary.csv").write_text("my own notes\nabout Ada\n")
    said = expect(2, "grade", "--batch", course.folder, "--out", course.out)
    assert "is no summary of a batch; move it away" in said.reason
    assert (course.out / "summary.csv").read_text() == "my own notes\nabout Ada\n"


def _unpacked(kit: Kit, path: Path) -> list[str]:
    with folder.tree_of(Handed("x", path), load_labs(kit)) as tree:
        return sorted(str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file())


def test_a_fifo_and_a_link_are_rejected_and_hang_nobody(course: Course) -> None:
    course.hand_in("ada")
    os.mkfifo(course.folder / "bob.zip")
    (course.folder / "cy").symlink_to(course.folder / "ada")
    (course.folder / "dan.zip").write_text("PK")
    rows = course.grade(1)
    assert (rows["ada"]["score"], rows["dan"]["score"]) == ("100", "0")
    assert rows["dan"]["remark"].startswith("cannot be built: dan.zip is no zip file that can be")
    assert "bob.zip is no regular file" in rows["bob"]["remark"]
    assert "cy is a symbolic link" in rows["cy"]["remark"]


def test_only_listed_files_leave_a_zip_file(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lab1-quorum-event/quorum_event.h", "//")
        archive.writestr("lab2-raft/src/raft.cc", "//")
        for name in ("../escaped", "/absolute", "lab1-quorum-event/other.cc"):
            archive.writestr(name, "no")
    assert _unpacked(kit, path) == ["lab1-quorum-event/quorum_event.h", "lab2-raft/src/raft.cc"]
    assert not (tmp_path / "escaped").exists()


def _bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lab2-raft/raft.cc", bytes(folder.FILE_BYTES_MAX + 1))


def _damaged(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lab2-raft/raft.cc", "// " * 999)
    content = bytearray(path.read_bytes())
    content[60:70] = b"0123456789"
    path.write_bytes(content)


def _damaged_lzma(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("lab2-raft/raft.cc", "// " * 999)
    content = bytearray(path.read_bytes())
    content[60:64] = bytes(each ^ 0xFF for each in content[60:64])
    path.write_bytes(content)


def _no_utf8(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lab2-raft/\u00e9\u00e9", "")
    path.write_bytes(path.read_bytes().replace("\u00e9\u00e9".encode(), b"\xff\xfe\xff\xfe"))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_damaged_lzma, "x.zip is no zip file that can be read"),
        (_no_utf8, "x.zip is no zip file that can be read"),
        (_bomb, "lab2-raft/raft.cc is larger than 1 MiB"),
        (_damaged, "x.zip is no zip file that can be read"),
        (lambda path: path.write_text("PK"), "x.zip is no zip file that can be read"),
    ],
)
def test_a_bad_zip_file_is_its_students(
    kit: Kit, tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    make(tmp_path / "x.zip")
    with pytest.raises(BadSubmission, match=reason):
        _unpacked(kit, tmp_path / "x.zip")


NAME = "lab1-quorum-event/quorum_event.cc"
HOSTILE = b"/../../../ESCAPED/\x1b[31m\nx".ljust(len(NAME), b"y")
"""Has the length of NAME. Replaces NAME's bytes where a reader of the archive compares them."""


def test_words_in_an_archive_are_no_file_name_and_no_command(course: Course) -> None:
    path = course.folder / f"{'long' * 30}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(NAME, "//")
    path.write_bytes(path.read_bytes().replace(NAME.encode(), HOSTILE, 1))
    before = {each.name for each in course.folder.parent.iterdir()}
    (row,) = course.grade(1).values()
    assert row["score"] == "0"
    assert "\x1b" not in row["remark"] + course.said.out
    assert "\n" not in row["remark"]
    assert {each.name for each in course.folder.parent.iterdir()} - before == {"graded"}
    assert [each.stem.isalnum() for each in course.results()] == [True]


def test_a_name_that_is_no_text_is_a_row(course: Course) -> None:
    course.hand_in("ada")
    (course.folder / "ada").rename(course.folder / os.fsdecode(b"\xff\x1bname"))
    (name,) = course.grade(0)
    assert name.startswith("??name-")


def test_names_that_differ_in_blanks_are_two(course: Course) -> None:
    for name in ("Ada  Lee", "Ada Lee", " .."):
        course.hand_in(name)
    assert sorted(course.grade(0)) == [" ..", "Ada  Lee", "Ada Lee"]


def test_an_archive_without_the_lab_is_judged_once(course: Course, graded: list[str]) -> None:
    with zipfile.ZipFile(course.folder / "ada.zip", "w") as archive:
        archive.writestr("essay.txt", "")
    first = course.grade(1)
    assert "holds no submission of lab1-quorum-event/" in first["ada"]["remark"]
    assert course.grade(1) == first
    assert graded == ["ada"]


@pytest.mark.parametrize("above", ["labs/", "ada-final/", "ada-final/labs/"])
def test_the_labs_may_be_below_a_directory(course: Course, above: str) -> None:
    with zipfile.ZipFile(course.folder / "ada.zip", "w") as archive:
        archive.writestr("__MACOSX/._ada", "")
        for end in ("h", "cc"):
            archive.writestr(f"{above}lab1-quorum-event/src/quorum_event.{end}", "//\n")
    assert course.grade(0)["ada"]["score"] == "100"


def test_another_kit_grades_again(
    course: Course, graded: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(result_store, "PACKAGE", package)
    course.hand_in("ada")
    course.grade(0)
    (package / "scoring.py").write_text("LIMIT = 0.05\n")
    course.grade(0)
    assert graded == ["ada", "ada"]


def test_names_are_neither_formulas_nor_markup(tmp_path: Path) -> None:
    summary.write(tmp_path, [summary.Row("=1+1", 3.0, 4.0), summary.Row("<b>", remark="<i>")])
    assert "\n'=1+1,3,4,,,\n" in (tmp_path / "summary.csv").read_text()
    page = (tmp_path / "summary.html").read_text()
    assert "&lt;b&gt;" in page
    assert "<i>" not in page
    assert [*summary.read(tmp_path)] == ["=1+1", "<b>"]
    names = ["=x", "'=x", "''=x", "'x", "x'=", "'"]
    summary.write(tmp_path, [summary.Row(name) for name in names])
    assert [*summary.read(tmp_path)] == names


def test_a_test_that_a_submission_exhausts_has_a_verdict(course: Course) -> None:
    course.hand_in("ada")
    course.grade(0)
    course.hand_in("ada", "EXHAUSTS:Quorum.Late")
    row = course.grade(0)["ada"]
    assert (row["score"], row["before"], row["remark"]) == ("90", "100", "")


# ---- a cluster ----


@contextlib.contextmanager
def certificates(directory: Path) -> Iterator[None]:
    """Dask's configuration with a certificate of its own: connections are encrypted."""
    key, certificate = str(directory / "key.pem"), str(directory / "certificate.pem")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    done = process.run([*words, "-keyout", key, "-out", certificate], merge_errors=True)
    assert done.exit_code == 0, done.output
    tls = {"ca-file": certificate}
    for role in ("client", "scheduler", "worker"):
        tls |= {f"{role}.key": key, f"{role}.cert": certificate}
    settings: dict[str, object] = {f"distributed.comm.tls.{name}": tls[name] for name in tls}
    with dask.config.set(settings | {"distributed.comm.require-encryption": True}):
        yield


def test_a_cluster_grades_although_workers_die(kit: Kit, tmp_path: Path) -> None:
    jobs = [
        Job(
            root=str(kit.root),
            name=f"student-{number}",
            path=str(write_submission(tmp_path / f"student-{number}", f"number {number}")),
            lab=None,
            seeds=None,
            minutes=5,
            secret=course_key.DEVELOPMENT.secret.hex(),
        )
        for number in range(8)
    ]
    with (
        certificates(tmp_path),
        LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path
        ) as workers,
        Client(workers) as client,
    ):
        pids = [*client.run(os.getpid).values()]
        found = {}
        with machines.cluster(workers.scheduler_address) as on:
            for each, done in on(jobs):
                if not found:
                    for pid in pids[:2]:
                        os.kill(pid, signal.SIGKILL)
                found[each.name] = done
    assert len(found) == 8
    assert all(done.result and done.result["score"] == 100 for done in found.values()), found


def test_a_batch_on_a_cluster_has_the_same_summary(course: Course) -> None:
    for number in range(3):
        course.hand_in(f"student-{number}", f"number {number}")
    here = course.grade(0)
    shutil.rmtree(course.out)
    with certificates(course.folder.parent):
        assert course.grade(0, "--on", "distributed.LocalCluster:2") == here
    assert command.RESULTS in {path.name for path in course.out.iterdir()}
