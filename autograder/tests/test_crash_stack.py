"""Offsets of a crash become lines of the student's files, and nothing else."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from failslow.base.kit import Kit
from failslow.build import crash_stack
from failslow.build.sandbox import CompilerSandbox
from fakes import write_program

PROGRAM = Path("/somewhere/lab2_public_sim")
TOOL = """
import pathlib, sys
here = pathlib.Path(__file__).parent
(here / "calls").write_text(" ".join(sys.argv[1:]))
print((here / "answer").read_text(), end="")
"""
REPORT = "crashed\nin a step of replica 0 at 0.460082 s\nstack: 1a2b 3c\nThe last steps\n"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of an addr2line that answers what the file `answer` holds."""
    write_program(tmp_path / "addr2line", TOOL)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_frames_of_submitted_files_are_lines(tool: Path) -> None:
    (tool / "answer").write_text(
        "depfast::testkit::Report(int)\n/kit/framework/testkit/crash_report.cc:9\n"
        "depfast::raft::Raft::OnRequestVote(depfast::raft::RequestVote const&)\n"
        "./lab2-raft/raft.cc:254 (discriminator 2)\n"
        "depfast::Fiber::Run()\n??:0\n"
    )
    assert crash_stack.in_lines(REPORT, PROGRAM) == (
        "crashed\nin a step of replica 0 at 0.460082 s\n"
        "  at lab2-raft/raft.cc:254 in Raft::OnRequestVote\n"
        "The last steps\n"
    )
    assert (tool / "calls").read_text() == (
        f"--exe {PROGRAM} --functions --demangle --inlines 0x1a2b 0x3c"
    )


def test_a_recursion_is_one_line_and_a_long_stack_is_cut(tool: Path) -> None:
    deep = "raft::(anonymous namespace)::Deep(int)\n./a.cc:3\nDeep\n./a.cc:3\n" * 30
    others = "".join(f"F{n}()\n./a.cc:{n}\n" for n in range(20))
    (tool / "answer").write_text(deep + others)
    lines = crash_stack.in_lines("stack: 1\n", PROGRAM).splitlines()
    assert lines[0] == "  at a.cc:3 in Deep (60 times)"
    assert len(lines) == crash_stack.FRAMES_MAX


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("depfast::raft::Raft::Start()", "Raft::Start"),
        ("Deep", "Deep"),
        ("depfast::raft::(anonymous namespace)::Deep(int)", "Deep"),
        (
            "std::_Function_handler<R (Q const&), Raft::Start()::{lambda(int)#1}>::_M_invoke(Q)",
            "a lambda in Raft::Start",
        ),
        ("Raft::Find(int) const::{lambda()#2}::operator()() const", "a lambda in Raft::Find"),
    ],
)
def test_functions_have_short_names(function: str, name: str) -> None:
    assert crash_stack.short(function) == name


@pytest.mark.parametrize(
    "line",
    [
        "stack: --exe /etc/passwd",
        "stack: 12 $(id)",
        "stack: 11112222333344445",
        " stack: 12",
        "stack:" + " 1" * 65 + "x",
    ],
)
def test_other_words_of_a_process_reach_no_program(tool: Path, line: str) -> None:
    assert crash_stack.in_lines(line, PROGRAM) == line
    assert not (tool / "calls").exists()


def test_a_stack_without_frames_is_no_line(tool: Path) -> None:
    assert crash_stack.in_lines("aborted\nstack:\nmore", PROGRAM) == "aborted\nmore"
    (tool / "answer").write_text("")
    assert crash_stack.in_lines("stack: 12\n", PROGRAM) == ""


def test_without_binutils_a_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install binutils" in crash_stack.in_lines("stack: 12\n", PROGRAM)


def test_a_loop_is_its_outermost_function_without_a_line(tool: Path) -> None:
    (tool / "answer").write_text(
        "Advance()\n./lab2-raft/log.cc:9\nRaft::Start()::{lambda()#1}::operator()() const\n"
        "./lab2-raft/raft.cc:125\ndepfast::Fiber::Run()\n??:0\n"
    )
    text = "never waits\nin coroutine 'ticker'\nloop: 1a 2b\n"
    expected = (
        "never waits\nin coroutine 'ticker'\n  in a lambda in Raft::Start (lab2-raft/raft.cc)\n"
    )
    assert crash_stack.in_lines(text, PROGRAM) == expected


def test_names_in_a_program_are_short_and_printable(tool: Path) -> None:
    (tool / "answer").write_text(f"{'F' * 5000}\x1b[2J()\n./a.cc:1\x07\n")
    lines = crash_stack.in_lines("stack: 1\n", PROGRAM)
    assert len(lines) < 400
    assert lines.strip().isprintable()


class Opaque:
    """A sandbox that runs a program as it is, and count."""

    def __init__(self) -> None:
        self.runs = 0

    def command(self, argv: Sequence[str], readable: Sequence[Path], own: Path) -> list[str]:
        assert Path(argv[2]).parent.is_relative_to(readable[1]), "the program is a copy"
        self.runs += 1
        return [*argv]


def test_a_grader_asks_once_for_each_stack(tool: Path, tmp_path: Path) -> None:
    program = tmp_path / "replica"
    program.write_text("a program")
    (tool / "answer").write_text("F()\n./a.cc:1\n")
    sandbox = Opaque()
    in_lines = crash_stack.in_sandbox(Kit(tmp_path), cast(CompilerSandbox, sandbox), program)
    for _ in range(3):
        assert in_lines("stack: 1\n") == "  at a.cc:1 in F\n"
    assert sandbox.runs == 1
    for offset in range(2 * crash_stack.STACKS_MAX):
        in_lines(f"stack: {offset}\n")
    assert sandbox.runs == crash_stack.STACKS_MAX
