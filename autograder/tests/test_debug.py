"""`kit debug`: what gdb is started with, and a test under the sanitizers."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.build.recipe import load_recipe
from failslow.extras.commands import debug
from failslow.extras.shared import compile_database
from failslow.lab.labs import load_labs
from fakes import (
    COMPILER,
    SUITES,
    TEST_BINARY,
    build_fakes,
    write_program,
    write_reply,
    write_submission,
)
from running import Expect

TEST = "Quorum.Late"

GDB = """
import json, sys
words = sys.argv[1:]
if "--batch" in words:
    place = words[words.index("-ex") + 1].removeprefix("break ")
    if place == "nowhere":
        print('Function "nowhere" not defined.')
        print("Make breakpoint pending on future shared library load? (y or [n]) [answered N]")
    else:
        print(f"Breakpoint 1 at 0x1: file driver.cc, line 1.")
    sys.exit(0)
print(json.dumps(words))
"""

Mine = Callable[..., Path]


@pytest.fixture
def mine(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mine:
    """Writes a submission that behaves as told in simulation. The kit is built in all presets, and
    `gdb` prints how it is started."""
    write_program(tmp_path / "bin" / "gdb", GDB)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    compiler = str(write_program(kit.root / "fake-compiler", COMPILER))
    for preset in (debug.DEBUG, debug.SANITIZED, debug.SANITIZED_BY_GCC):
        names = ("lab1_public_sim", "lab1_hidden_sim")
        write_reply(kit, compiler, f"-O0 -g -D{preset}", {name: {} for name in names}, (), preset)
    build_fakes(
        monkeypatch,
        "failslow.extras.shared.sims",
        lambda name: TEST_BINARY.format(tests=repr(SUITES[name.removesuffix("_sim")])),
    )
    tests = kit.labs / load_labs(kit).get("lab1").directory / "tests"
    tests.mkdir()
    (tests / "quorum_test.cc").write_text('GRADED_TEST(Quorum, Late, "a", 1, "b") {}\n')
    return lambda behaviour="": write_submission(tmp_path / "mine", behaviour)


def commands(words: list[str]) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == "-ex"]


def test_gdb_gets_the_program_and_stops_where_the_test_begins(expect: Expect, mine: Mine) -> None:
    tree = mine()
    words = json.loads(expect(0, "debug", "lab1", TEST, tree, "--seed", 3).out)
    program = words[words.index("--args") + 1 :]
    assert Path(program[0]).name == "lab1_public_sim"
    assert program[1:] == [f"--gtest_filter={TEST}", "--seed=3", "--gtest_break_on_failure"]
    assert commands(words)[-2:] == ["break Quorum_Late_Test::TestBody", "run"]
    mapped = commands(words)[0].split(" ")
    assert (Path(mapped[-1]) / "quorum_event.cc").is_file()


def test_gdb_stops_at_the_places_that_are_named(expect: Expect, mine: Mine) -> None:
    places = ("--break", "quorum_event.cc:7", "--break", "QuorumEvent::Add")
    words = json.loads(expect(0, "debug", "lab1", TEST, mine(), *places).out)
    assert commands(words)[-3:] == ["break quorum_event.cc:7", "break QuorumEvent::Add", "run"]


def test_a_place_that_gdb_does_not_know_is_refused(expect: Expect, mine: Mine) -> None:
    said = expect(2, "debug", "lab1", TEST, mine(), "--break", "nowhere")
    assert said.reason == 'kit: --break nowhere: Function "nowhere" not defined.'
    assert said.out == ""


def test_a_hidden_test_is_found(expect: Expect, mine: Mine, kit: Kit) -> None:
    tests = kit.hidden / "lab1-quorum-event"
    tests.mkdir(parents=True)
    (tests / "a_test.cc").write_text('GRADED_TEST(Secret, Nesting, "a", 1, "b")')
    words = json.loads(expect(0, "debug", "lab1", "Secret.Nesting", mine()).out)
    assert Path(words[words.index("--args") + 1]).name == "lab1_hidden_sim"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("lab1", "Quorum.Lat"), "did you mean 'Quorum.Late'?"),
        (("lab9", TEST), "unknown lab 'lab9'"),
        (("lab1", TEST, "nowhere"), "no such directory"),
        (("lab1", TEST, "--asan", "--break", "main"), "--break is for gdb"),
    ],
)
def test_bad_input_is_refused(
    expect: Expect, mine: Mine, words: tuple[str, ...], says: str
) -> None:
    assert says in expect(2, "debug", *words).reason


@pytest.mark.parametrize(("behaviour", "code"), [("", 0), (f"FAIL:{TEST}", 1)])
def test_under_the_sanitizers_the_exit_code_tells(
    expect: Expect, mine: Mine, monkeypatch: pytest.MonkeyPatch, behaviour: str, code: int
) -> None:
    said: list[tuple[list[str], object]] = []
    monkeypatch.setattr(
        debug.process, "attached", lambda argv, env: said.append((argv, env)) or 77 * code
    )
    err = expect(code, "debug", "lab1", TEST, mine(behaviour), "--asan").err
    assert f"{TEST} {'failed' if code else 'passed'} under the sanitizers" in err
    ((argv, _),) = said
    assert argv[1:] == [f"--gtest_filter={TEST}"]


def test_gcc_sanitizes_where_clang_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert debug.sanitized_preset() == debug.SANITIZED_BY_GCC
    runtime = tmp_path / "runtime.a"
    (tmp_path / "clang++").write_text(f"#!/bin/sh\necho {runtime}\n")
    (tmp_path / "clang++").chmod(0o755)
    assert debug.sanitized_preset() == debug.SANITIZED_BY_GCC
    runtime.touch()
    assert debug.sanitized_preset() == debug.SANITIZED


def test_clangd_learns_how_a_students_files_are_compiled(kit: Kit) -> None:
    source = kit.root / "framework" / "a.cc"
    theirs = {
        "directory": str(kit.root),
        "file": str(source),
        "command": f"g++ -include /x.dir/cmake_pch.hxx -O2 -c {source}",
    }
    kit.preset("release").mkdir(parents=True, exist_ok=True)
    batch = kit.preset("release") / "x.dir" / "Unity" / "unity_0_cxx.cxx"
    batched = [str(kit.root / "framework" / name) for name in ("b.cc", "c.cc")]
    batch.parent.mkdir(parents=True)
    batch.write_text("".join(f'\n#include "{each}"\n' for each in batched))
    together = {**theirs, "file": str(batch), "command": f"g++ -O1 -c {batch}"}
    (kit.preset("release") / compile_database.NAME).write_text(json.dumps([theirs, together]))
    compile_database.write(kit, load_labs(kit), load_recipe(kit), "release")
    database = kit.root / compile_database.NAME
    entries = {each["file"]: each["arguments"] for each in json.loads(database.read_text())}
    assert entries[str(source)] == ["g++", "-O2", "-c", str(source)]
    for each in batched:
        assert entries[each] == ["g++", "-O1", "-c", each]
    assert str(batch) not in entries
    labs = {lab.id: kit.labs / lab.directory / "src" for lab in load_labs(kit).by_id.values()}
    (words,) = [words for file, words in entries.items() if Path(file).parent == labs["lab2"]]
    assert [word for word in words if str(kit.labs) in word][:2] == [
        f"-I{labs['lab2']}",
        f"-I{labs['lab1']}",
    ]


def test_the_release_builds_commands_are_written_once_for_each_run_of_cmake(kit: Kit) -> None:
    by_cmake = kit.preset("release") / compile_database.NAME
    by_cmake.write_text("[]")
    os.utime(by_cmake, (1, 1))

    def written(flag: str, preset: str) -> str:
        recipe = replace(load_recipe(kit), flags=(flag,))
        compile_database.write(kit, load_labs(kit), recipe, preset)
        return (kit.root / compile_database.NAME).read_text()

    assert "--first" in written("--first", debug.DEBUG)
    assert "--second" in written("--second", "release")
    assert "--second" in written("--third", "release")
    assert "--second" in written("--third", debug.DEBUG)
    later = time.time() + 10
    os.utime(by_cmake, (later, later))
    assert "--fourth" in written("--fourth", "release")
