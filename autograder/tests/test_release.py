"""`kit release students`: the tree, its history and its commands; nothing of an answer in them."""

import lzma
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from demands import some
from failslow.base import machine
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build import cmake, recipe
from failslow.extras.commands import tour
from failslow.extras.release import (
    catch_up,
    imports,
    leaks,
    processors,
    repository,
    students,
    tree,
)
from failslow.extras.site import readers
from failslow.lab import unwritten
from failslow.lab.labs import Labs, load_labs
from fakes import LAB1_YAML, LAB2_YAML
from running import Expect

KIT = this_kit()
REFERENCE = "reference-solutions/lab2-raft/raft.cc"
HIDDEN = "autograder/hidden/lab2-raft/elections_test.cc"
COMMANDS = {
    *("tour", "test", "replay", "debug", "explore", "submit", "journal", "diagnose"),
    *("cluster", "faults", "install", "doctor"),
}
LIBRARY = Path("labs/lab3-kv/answers") / machine.platform_name() / "kv_answers.tar.xz"
GIVEN_HALF = Path("labs/lab6-saucr/answers") / machine.platform_name() / "saucr_base.tar.xz"


def released_to(scratch: Path, *labs: str, with_clusters: bool = True) -> Kit:
    """This checkout's release, with a stand-in for the libraries of answers."""

    def build(_: Kit, name: str) -> dict[str, Path]:
        packed = scratch / f"{name}.tar.xz"
        packed.write_bytes(lzma.compress(b"!<arch>\n"))
        return {machine.platform_name(): packed}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processors, "check_compilers", lambda: None)
        patch.setattr(processors, "build_library", build)
        options = students.Options(labs or None, False, with_clusters)
        students.write(KIT, scratch / "kit", options, lambda _: None)
    return Kit(scratch / "kit")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    return released_to(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def first_labs(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    return released_to(tmp_path_factory.mktemp("first"), "lab2", "lab1")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """A release without clusters."""
    return released_to(tmp_path_factory.mktemp("simulated"), with_clusters=False)


@pytest.fixture(scope="module")
def secrets() -> Mapping[str, str]:
    return leaks.secret_lines(KIT)


def git(directory: Path, *words: str) -> str:
    argv = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(directory)]
    return subprocess.run([*argv, *words], check=True, capture_output=True, text=True).stdout


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """A small checkout with a secret, whose release needs no build."""
    kit = Kit(tmp_path / "checkout")
    secret = "".join(f"int the_secret_of_line_{number}();\n" for number in range(9))
    files = {
        "reference-solutions/lab1/quorum.cc": secret,
        "labs/lab1/src/quorum.cc": "// Write me.\n",
        "labs/lab1-quorum-event/lab.yaml": LAB1_YAML,
        "labs/lab2-raft/lab.yaml": LAB2_YAML,
        "autograder/failslow/__main__.py": "",
        students.COMMANDS: "# Commands\n",
        ".gitignore": "build/\n",
    }
    for name, text in files.items():
        write(kit.root / name, text)
    git(tmp_path, "init", "-q", str(kit.root))
    git(kit.root, "add", "--all")
    git(kit.root, "commit", "-q", "-m", "all")
    monkeypatch.setattr(processors, "check_compilers", lambda: None)
    return kit


def release(kit: Kit, out: Path, *labs: str, with_handbook: bool = False) -> students.Written:
    return students.write(kit, out, students.Options(labs or None, with_handbook), lambda _: None)


# --- The proof ---


def test_neither_the_tree_nor_its_history_holds_an_answer(
    released: Kit, secrets: Mapping[str, str]
) -> None:
    assert leaks.find(secrets, released.root) == []


def test_secret_lines_come_from_every_kind_of_answer(secrets: Mapping[str, str]) -> None:
    assert [name for name in tree.given(KIT) if tree.is_secret(name)] == []
    kinds = {
        "reference-solutions/lab1-quorum-event",
        "reference-solutions/lab5-copilot",
        "reference-solutions/lab2-raft/mutants",
        "reference-solutions/lab2-raft/alternatives",
        "reference-solutions/lab4-finalize/variants",
        "autograder/hidden/lab1-quorum-event",
        "labs/lab3-kv/answers",
        "labs/lab6-saucr/answers",
    }
    assert kinds <= {str(parent) for name in secrets.values() for parent in Path(name).parents}
    assert len(secrets) > 5000
    assert leaks.exposed_sources(KIT, secrets) == []


@pytest.mark.parametrize(
    "name",
    [
        REFERENCE,
        HIDDEN,
        "reference-solutions/lab1-quorum-event/mutants/quorum-off-by-one.patch",
        "reference-solutions/lab1-quorum-event/quorum_event.h",
        "autograder/hidden/lab4-finalize/diagnosis/diagnosis_run.cc",
        "labs/lab3-kv/answers/store_model.cc",
        "labs/lab6-saucr/answers/catch_up.h",
    ],
)
def test_a_copied_answer_is_found(name: str, secrets: Mapping[str, str], tmp_path: Path) -> None:
    shutil.copyfile(KIT.root / name, tmp_path / "innocent.txt")
    found = leaks.find(secrets, tmp_path)
    assert found
    assert {leak.place for leak in found} == {"innocent.txt"}


@pytest.mark.parametrize(
    ("name", "around"),
    [
        ("notes.md", "Do it like this: `{line}`, says the reference."),
        ("driver.cc", "  // {line}"),
        ("a.patch", "+  {line}"),
        ("page.html", '<p>So:</p><pre><code><span class="k">{html}</span></code></pre>'),
        ("search.json", '{{"text": "before\\n{line}\\nafter"}}'),
        ("lib.a", "\0{line}\0"),
    ],
)
def test_a_quoted_line_is_found(
    name: str, around: str, secrets: Mapping[str, str], tmp_path: Path
) -> None:
    line, source = next(
        (line, name)
        for line, name in secrets.items()
        if name.startswith("reference-solutions/") and name.endswith(".cc")
        if "<" in line and "&" in line and line.endswith(";")
    )
    escaped = line.replace("&", "&amp;").replace("<", "&lt;").replace("const", "<b>const</b>")
    write(tmp_path / name, around.format(line=line, html=escaped))
    (leak,) = leaks.find(secrets, tmp_path)
    assert (leak.place, leak.source, leak.line) == (name, source, line)


def test_an_answer_in_the_history_alone_is_found(
    secrets: Mapping[str, str], tmp_path: Path
) -> None:
    shutil.copyfile(KIT.root / HIDDEN, tmp_path / "test.cc")
    repository.commit(tmp_path, "2026-01-01T00:00:00+00:00", ["lab1"])
    git(tmp_path, "rm", "-q", "test.cc")
    git(tmp_path, "commit", "-q", "-m", "without it")
    found = leaks.find(secrets, tmp_path)
    assert found
    assert all(leak.place.startswith("git object ") for leak in found)


# --- The tree ---


def test_what_a_lab_gives_is_there_and_what_it_asks_is_not(released: Kit) -> None:
    for name in (
        "labs/lab2-raft/src/raft.cc",
        "labs/lab2-raft/tests/raft_test.cc",
        "labs/lab2-raft/testkit/raft_world.cc",
        "handouts/lab2-raft.md",
        "framework/include/depfast/event.h",
        "autograder/measure/main.cc",
        "autograder/failslow/measurement/measure.py",
        "labs/lab2-raft/slow_follower.yaml",
        str(LIBRARY),
    ):
        assert (released.root / name).is_file(), name
    for name in (
        "autograder/tests",
        "autograder/packages.sh",
        "autograder/failslow/grade/runner.py",
        "autograder/failslow/lab/course_key.py",
        "autograder/failslow/lab/mutants.py",
        "autograder/failslow/measurement/sweep.py",
        "cmake/changes.cmake",
        "framework/hosts/sealed/sandbox/compiler_sandbox_main.cc",
        "autograder/failslow/extras/release",
        "autograder/failslow/extras/live",
        "autograder/failslow/extras/cluster/containers.py",
        "docker-compose.yml",
        "tools/load",
    ):
        assert not (released.root / name).exists(), name


def test_files_keep_their_bytes_and_programs_stay_programs(released: Kit) -> None:
    name = "labs/lab2-raft/tests/raft_test.cc"
    assert (released.root / name).read_bytes() == (KIT.root / name).read_bytes()
    assert (released.root / "kit").stat().st_mode & 0o111 == 0o111
    assert (released.root / "fault-scripts" / "inject").stat().st_mode & 0o111 == 0o111
    assert (released.root / name).stat().st_mode & 0o111 == 0
    assert released.root.stat().st_mode & 0o777 == 0o755


def test_the_history_is_one_commit_of_a_fixed_author(released: Kit) -> None:
    log = git(released.root, "log", "--all", "--format=%an|%ae|%cn|%B")
    author = "Failslow Labs|failslow-labs@example.org|Failslow Labs"
    labs = " ".join(load_labs(KIT).by_id)
    assert log == f"{author}|{repository.MESSAGE}\n\nLabs: {labs}\n\n"
    assert git(released.root, "status", "--porcelain", "--ignored") == ""
    assert git(released.root, "rev-parse", "--abbrev-ref", "HEAD") == "main\n"
    assert not (released.root / ".git" / "hooks").exists()


def test_the_same_files_give_the_same_commit(checkout: Kit, tmp_path: Path) -> None:
    for name in ("one", "two"):
        release(checkout, tmp_path / name)
    assert commits_of(tmp_path / "one") == commits_of(tmp_path / "two")


# --- Its commands ---


def listed_by(released: Kit) -> set[str]:
    shown = said_by(released, "--help").stdout
    return {line.split()[0] for line in shown.splitlines() if line.startswith("    ")} - {"COMMAND"}


def said_by(released: Kit, *words: str) -> subprocess.CompletedProcess[str]:
    """The output of the released part of the package. It finds no other package `failslow`."""
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1));"
        " from failslow.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    argv = [sys.executable, "-I", "-B", "-c", code, str(released.root / "autograder"), *words]
    return subprocess.run(argv, capture_output=True, text=True, cwd=released.root, check=False)


def test_it_has_the_students_commands_alone(released: Kit) -> None:
    assert listed_by(released) == COMMANDS
    for word in ("grade", "release", "check", "mutants", "site", "bench"):
        refused = said_by(released, word)
        assert (refused.returncode, "invalid choice" in refused.stderr) == (2, True)


def test_its_commands_work_without_the_rest_of_the_package(released: Kit, tmp_path: Path) -> None:
    assert said_by(released, "submit", "--out", str(tmp_path / "mine.zip")).returncode == 0
    answers = "labs/lab4-finalize/src/diagnosis.yaml"
    checked = said_by(released, "diagnose", "--check", answers)
    assert checked.returncode in (0, 1)
    assert "Traceback" not in checked.stderr
    assert "name your answers" in said_by(released, "diagnose").stderr
    for command in some(COMMANDS):
        assert said_by(released, command, "--help").returncode == 0


def test_its_pages_name_its_commands_and_no_other(released: Kit) -> None:
    assert named_in(released.root / students.COMMANDS) == COMMANDS
    assert named_in(released.root / "README.md") < COMMANDS


def named_in(page: Path) -> set[str]:
    words = page.read_text().split("`./kit ")[1:]
    return {part.split("`")[0].split()[0] for part in words} - {"COMMAND", "--help"}


@pytest.mark.parametrize("labs", ["first_labs", "simulated", "released"])
def test_cmake_describes_its_programs_without_a_reference(
    labs: str, request: pytest.FixtureRequest
) -> None:
    released: Kit = request.getfixturevalue(labs)
    cmake.configure(released)
    programs = recipe.load_recipe(released).programs
    ninja = (released.preset("release") / "build.ninja").read_text()
    assert f"build bin/{tour.PROGRAM}:" in ninja
    shutil.rmtree(released.build)
    for lab in some(load_labs(released).by_id.values()):
        assert {f"{lab.id}_replica", f"{lab.id}_public_sim"} <= {*programs}
        assert (f"{lab.id}_real" in programs) == (labs != "simulated")
        assert f"{lab.id}_hidden_sim" not in programs
        assert all(
            Path(source).is_file() for source in some(programs[f"{lab.id}_public_sim"].sources)
        )
    if labs != "first_labs":
        for program, library in {"lab3_public_sim": LIBRARY, "lab6_replica": GIVEN_HALF}.items():
            unpacked = library.parents[1] / f"lib{library.name.removesuffix('.tar.xz')}.a"
            assert str(released.preset("release") / unpacked) in programs[program].link
            assert f"build {unpacked} | " in ninja


# --- Some of the labs ---


def lacks(released: Kit, files: str, commands: set[str]) -> None:
    """Neither files with such names, nor these commands."""
    names = git(released.root, "ls-files").splitlines()
    assert [name for name in names if re.search(files, name)] == []
    assert listed_by(released) == COMMANDS - commands
    assert named_in(released.root / students.COMMANDS) == COMMANDS - commands


def test_a_lab_that_is_left_out_leaves_nothing(first_labs: Kit) -> None:
    assert [*load_labs(first_labs).by_id] == ["lab1", "lab2"]
    others = "(?:labs|handouts)/lab(?![012]-)|diagnos|explore_rules|testkit/state_search"
    lacks(first_labs, f"{others}|extras/faults|fault-scripts", {"diagnose", "faults"})
    assert (first_labs.root / "labs/lab2-raft/tests/raft_test.cc").is_file()
    assert (first_labs.root / "handouts/lab0-tour.md").is_file()
    assert "lab 3" not in (first_labs.root / "README.md").read_text()
    assert said_by(first_labs, "test", "lab3").stderr.startswith("kit: unknown lab 'lab3'")


def test_a_topic_comes_with_the_first_lab_whose_handout_names_it() -> None:
    clusters, faults = readers.CLUSTERS, readers.FAULTS
    assert tree.unnamed(KIT, ["lab1"]) == {clusters, faults}
    assert tree.unnamed(KIT, ["lab1", "lab2", "lab3", "lab4"]) == {faults}
    assert tree.unnamed(KIT, load_labs(KIT).by_id) == set()


def test_without_clusters_their_commands_say_so(simulated: Kit) -> None:
    of_clusters = "hosts/real|/redis/|/client/|extras/(?:cluster|faults)|fault-scripts"
    lacks(simulated, of_clusters, {"cluster", "faults"})
    said = said_by(simulated, "cluster", "up", "labs", "--lab", "lab2")
    told = "kit: your course has left clusters of processes out of this kit\n"
    assert (said.returncode, said.stderr) == (2, told)
    assert "fault-scripts" not in (simulated.root / "README.md").read_text()


def commits_of(out: Path) -> list[str]:
    return git(out, "log", "--format=%H").split()


def test_more_labs_are_a_commit_on_top(checkout: Kit, tmp_path: Path) -> None:
    out, student = tmp_path / "out", tmp_path / "student"
    assert release(checkout, out, "lab1").is_new
    assert not (out / "labs/lab2-raft").exists()
    (first,) = commits_of(out)
    git(tmp_path, "clone", "-q", str(out), str(student))
    write(student / "labs/lab1/src/quorum.cc", "mine")
    write(out / "build/ignored", "kept")
    written = release(checkout, out)
    assert (written.labs, written.is_new) == (["lab1", "lab2"], True)
    assert commits_of(out)[1:] == [first]
    assert git(out, "diff", "--name-only", first).split() == ["labs/lab2-raft/lab.yaml"]
    assert (out / "build/ignored").read_text() == "kept"
    git(student, "pull", "-q")
    assert (student / "labs/lab2-raft/lab.yaml").is_file()
    assert (student / "labs/lab1/src/quorum.cc").read_text() == "mine"


def test_the_same_labs_again_are_a_commit_if_a_file_has_changed(
    checkout: Kit, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    release(checkout, out)
    before = commits_of(out)
    assert not release(checkout, out, "lab1", "lab2").is_new
    assert commits_of(out) == before
    write(checkout.root / "labs/lab1/src/quorum.cc", "// Write it.\n")
    assert release(checkout, out).is_new
    assert commits_of(out)[1:] == before
    assert (out / "labs/lab1/src/quorum.cc").read_text() == "// Write it.\n"


def test_a_release_over_something_else_is_refused_and_keeps_it(
    checkout: Kit, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def refused(*labs: str) -> str:
        before = commits_of(out)
        with pytest.raises(CannotDo, match=f"^{re.escape(str(out))} ") as caught:
            release(checkout, out, *labs)
        assert commits_of(out) == before
        return str(caught.value).removeprefix(f"{out} ")

    release(checkout, out)
    assert refused("lab1") == "has lab2: name all of its labs in --labs, too"
    added = write(out / "labs/lab1/notes", "mine")
    assert refused() == "has changes: commit them in a clone, or remove them"
    git(out, "add", "--all")
    git(out, "commit", "-q", "-m", repository.MESSAGE)
    assert refused() == "is no release of this kit: its latest commit is another one"
    assert added.read_text() == "mine"
    git(out, "reset", "-q", "--hard", "HEAD~")
    assert not release(checkout, out).is_new


# --- Processors ---


def test_a_missing_cross_compiler_is_one_line(
    checkout: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(CannotDo, match=r"apt-get install g\+\+-aarch64-linux-gnu$"):
        release(checkout, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_processor_that_is_not_served_is_named(tmp_path: Path) -> None:
    kit = Kit(tmp_path)
    for name in ("x86_64", "aarch64"):
        write(kit.labs / "lab3-kv" / "answers" / name / LIBRARY.name, "")
    lab = next(iter(load_labs(KIT).by_id.values()))

    def check(name: str) -> None:
        library = kit.labs / "lab3-kv" / "answers" / name / LIBRARY.name
        link = (str(library), str(kit.build / "lib.a"), "-pthread")
        recipe.check_given(kit, [recipe.Target("lab3_public_sim", lab, (), link)])

    check("aarch64")
    told = "^this kit has kv_answers.tar.xz for aarch64 and x86_64, and not for riscv64: ask your"
    with pytest.raises(CannotDo, match=told):
        check("riscv64")


def test_labs_declare_the_libraries_that_they_give() -> None:
    directories = {"kv_answers": LIBRARY.parents[1], "saucr_base": GIVEN_HALF.parents[1]}
    assert students.answers(KIT) == {name: str(path) for name, path in directories.items()}


def test_a_library_that_names_this_machine_is_refused(tmp_path: Path) -> None:
    kit, library = Kit(tmp_path / "kit"), tmp_path / "liba.a"
    library.write_bytes(b"\0./labs/lab6-saucr/answers/beats.cc\0")
    processors.check_names_no_place(kit, library)
    library.write_bytes(f"\0{kit.root}/labs\0".encode())
    with pytest.raises(CannotDo, match=r"liba\.a names"):
        processors.check_names_no_place(kit, library)


# --- The labs that others are built on ---


def test_a_students_kit_knows_the_starters(released: Kit) -> None:
    assert released.stubs.is_file()
    assert unwritten.load_stubs(released) == unwritten.load_stubs(KIT)


def test_only_labs_on_the_reference_give_it(kit: Kit) -> None:
    assert catch_up.headers(kit) == set()
    lab_yaml = kit.labs / "lab2-raft" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("base: submission", "base: reference"))
    assert [*catch_up.needed(kit)] == ["lab1-quorum-event"]
    assert catch_up.headers(kit) == {"reference-solutions/lab1-quorum-event/quorum_event.h"}


def test_given_headers_are_no_leak_and_sources_are(
    checkout: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "reference-solutions/lab1/quorum.h"
    write(checkout.root / header, "class TheCountingOfVotes { int of_everybody_; };\n")
    git(checkout.root, "add", "--all")
    content = (checkout.root / header).read_bytes()
    object_file = "labs/lab1/answers/any/quorum.o"
    given = {object_file: b"\0object", "labs/lab1/answers/any/quorum.h": content}
    monkeypatch.setattr(catch_up, "files", lambda *_: given)
    with pytest.raises(CannotDo, match="would show 1 secret lines"):
        release(checkout, tmp_path / "out")
    monkeypatch.setattr(catch_up, "headers", lambda *_: {header})
    release(checkout, tmp_path / "out")
    assert (tmp_path / "out" / object_file).read_bytes() == b"\0object"
    given[object_file] = (checkout.root / "reference-solutions/lab1/quorum.cc").read_bytes()
    with pytest.raises(CannotDo, match="secret lines"):
        release(checkout, tmp_path / "again")


def test_a_lab_on_the_reference_begins_with_the_references_raft(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert catch_up.starts(KIT) == {}
    labs = load_labs(KIT)
    lab7 = replace(labs.get("lab7"), base="reference")
    monkeypatch.setattr(catch_up, "load_labs", lambda _: Labs(labs.by_id | {"lab7": lab7}))
    assert [*catch_up.starts(KIT)] == ["labs/lab7-adr/src/raft.h", "labs/lab7-adr/src/raft.cc"]
    assert catch_up.starts(KIT, left_out=["lab7"]) == {}


def test_a_file_that_a_lab_begins_with_is_no_leak_in_its_place_alone(
    checkout: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = (checkout.root / "reference-solutions/lab1/quorum.cc").read_bytes()
    given = {"labs/lab7/src/quorum.cc": answer}
    monkeypatch.setattr(catch_up, "starts", lambda *_: given)
    told: list[str] = []
    students.write(checkout, tmp_path / "out", students.Options(with_handbook=False), told.append)
    assert (tmp_path / "out/labs/lab7/src/quorum.cc").read_bytes() == answer
    assert "giving an earlier lab's answer as labs/lab7/src/quorum.cc" in told
    compiled = {"labs/lab1/answers/any/quorum.o": b"\0" + answer}
    monkeypatch.setattr(catch_up, "files", lambda *_: compiled)
    with pytest.raises(CannotDo, match="would show 9 secret lines"):
        release(checkout, tmp_path / "again")


# --- Refusals ---


def test_only_files_that_git_tracks_are_given(checkout: Kit, tmp_path: Path) -> None:
    write(checkout.root / "labs/lab1/src/scratch.cc", "mine")
    release(checkout, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out/labs/lab1/src").iterdir()] == ["quorum.cc"]


def test_a_copy_among_the_given_files_is_refused(checkout: Kit, tmp_path: Path) -> None:
    source = checkout.root / "reference-solutions/lab1/quorum.cc"
    shutil.copyfile(source, checkout.root / "labs/lab1/src/quorum.cc")
    with pytest.raises(CannotDo, match=r"given hold most of reference-solutions/lab1/quorum.cc"):
        release(checkout, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_function_of_another_labs_solution_is_refused(checkout: Kit, tmp_path: Path) -> None:
    """Its lines are no secret: they stand in a given file."""
    body = "".join(f"  the_step(number_{number});\n" for number in range(5))
    write(checkout.root / "reference-solutions/lab1-a/a.cc", f"void A::Run() {{\n{body}}}\n")
    write(checkout.root / "labs/lab2-b/contract/b.cc", f"void B::Go() {{\n{body}}}\n")
    git(checkout.root, "add", "--all")
    with pytest.raises(CannotDo, match="1 given functions are those of another") as caught:
        release(checkout, tmp_path / "out")
    assert caught.value.detail == (
        "B::Go (labs/lab2-b/contract/b.cc:1) is 100% of A::Run (reference-solutions/lab1-a/a.cc:1)"
    )
    assert not (tmp_path / "out").exists()


def test_a_line_in_the_handbook_is_refused(
    checkout: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "earlier"
    release(checkout, earlier)
    before = {*leaks.git_objects(earlier)}
    page = write(tmp_path / "handbook/index.html", "<pre>int the_secret_of_line_7();</pre>")
    monkeypatch.setattr(students, "build_handbook", lambda *_: page.parent)
    for out in (earlier, tmp_path / "out"):
        with pytest.raises(CannotDo, match="would show 1 secret lines") as caught:
            release(checkout, out, with_handbook=True)
        assert "handbook/index.html" in caught.value.detail
    assert {*leaks.git_objects(earlier)} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkout", "earlier", "handbook"]
    page.write_text("<p>Nothing</p>")
    release(checkout, earlier, with_handbook=True)
    assert (earlier / "handbook/index.html").read_text() == "<p>Nothing</p>"


def test_a_full_directory_is_refused_and_an_empty_one_is_used(
    checkout: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = write(tmp_path / "out/mine", "kept")
    with pytest.raises(CannotDo, match="is not empty, and no release of this kit"):
        release(checkout, tmp_path / "out")
    git(tmp_path, "init", "-q", str(tmp_path / "out"))
    with pytest.raises(CannotDo, match="is no release of this kit"):
        release(checkout, tmp_path / "out")
    shutil.rmtree(tmp_path / "out/.git")
    assert [*(tmp_path / "out").iterdir()] == [kept]
    with pytest.raises(CannotDo, match="is not a directory"):
        release(checkout, kept)
    kept.unlink()
    monkeypatch.chdir(tmp_path)
    release(checkout, Path("out"))
    assert (tmp_path / "out/.git").is_dir()


def test_bad_input_is_one_line(expect: Expect, kit: Kit, tmp_path: Path) -> None:
    write(tmp_path / "full/mine", "")
    assert "is not empty" in expect(2, "release", "students", tmp_path / "full").reason
    out = ("release", "students", tmp_path / "out", "--without-handbook")
    assert "no git checkout" in expect(2, *out).reason
    assert "unknown lab 'x'" in expect(2, *out, "--labs", "lab1,x").reason
    needs = "kit: lab2 needs lab1, which --labs leaves out"
    assert expect(2, *out, "--labs", "lab2").reason == needs
    assert not (tmp_path / "out").exists()


def test_imports_inside_functions_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "p/a.py", "import sys\nfrom p import b\nimport p.sub.d\n")
    write(tmp_path / "p/b.py", "def late():\n    from p import c\n")
    for name in ("__init__.py", "c.py", "sub/__init__.py", "sub/d.py"):
        write(tmp_path / "p" / name, "")
    found = {str(path.relative_to(tmp_path / "p")) for path in imports.closure(tmp_path, ["p.a"])}
    assert found == {"__init__.py", "a.py", "b.py", "sub/__init__.py", "sub/d.py"}
