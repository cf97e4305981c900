"""Turns the offsets in a crash report (framework/src/core/crash_stack.h) into lines of the files of
a student.

The student's own process prints them. Only numbers are taken from it. The program itself, with the
names in it, is the student's, too: the grader reads it in the compiler's sandbox.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import compile_directory
from failslow.build.sandbox import CompilerSandbox

STACK = re.compile(r"^(stack|loop):((?: [0-9a-f]{1,16}){0,64})(?:\n|\Z)", re.M)
FRAMES_MAX = 8
NAME_CHARACTERS_MAX = 300
SYMBOLISE_S = 30.0
"""A program that takes longer is an attack: its other stacks have no lines."""
STACKS_MAX = 64
"""The stacks of one program in a sandbox that get lines. The rest has none."""
SUBMITTED = "./"
"""The beginning of a submitted file's name in a program: see compile.py."""
TOOL = "addr2line"
_LAMBDA = re.compile(r"([\w:~]+)\([^(){}]*\)(?: const)?::\{lambda")
_UNPRINTABLE = re.compile(r"[^ -~]")

Symbolise = Callable[[Sequence[str]], str]
"""The words of a program like addr2line for offsets: two lines for each function, its name and its
place. OSError if there is no such program."""


def in_lines(text: str, program: Path) -> str:
    """The text, with a line for each frame in the student's files in place of the offsets. Without
    binutils the offsets go, and a line says so."""
    return _in_lines(text, lambda offsets: _run(program, offsets).output)


def in_sandbox(kit: Kit, sandbox: CompilerSandbox, program: Path) -> Callable[[str], str]:
    """The program's `in_lines`, for a grader that trusts no byte of it."""
    asked = 0

    @lru_cache
    def symbolise(offsets: tuple[str, ...]) -> str:
        nonlocal asked
        asked += 1
        if asked > STACKS_MAX:
            return ""
        with compile_directory.opened(kit.root, sandbox, {}) as room:
            place = Path(room.copy(program, "program"))
            done = room.look(_argv(place, offsets), SYMBOLISE_S)
        if done.timed_out:
            asked = STACKS_MAX
        return done.output

    return lambda text: _in_lines(text, lambda offsets: symbolise(tuple(offsets)))


def _in_lines(text: str, symbolise: Symbolise) -> str:
    def lines(found: re.Match[str]) -> str:
        offsets = found[2].split()
        if not offsets:
            return ""
        try:
            places = _places(symbolise(offsets))
        except (OSError, CannotDo):
            return f"  ({TOOL} would tell the lines: install binutils)\n"
        return _loop(places) if found[1] == "loop" else _frames(places)

    return STACK.sub(lines, text)


def _argv(program: Path, offsets: Sequence[str]) -> list[str]:
    words = [TOOL, "--exe", str(program), "--functions", "--demangle", "--inlines"]
    return [*words, *(f"0x{each}" for each in offsets)]


def _run(program: Path, offsets: Sequence[str]) -> process.Completed:
    return process.run(_argv(program, offsets), timeout_s=SYMBOLISE_S)


def _places(output: str) -> list[tuple[str, str]]:
    """Function, and "FILE:LINE", of each frame in the student's files."""
    words = [_UNPRINTABLE.sub("?", line[:NAME_CHARACTERS_MAX]) for line in output.splitlines()]
    return [
        (short(function), place.split(" ")[0].removeprefix(SUBMITTED))
        for function, place in zip(words[::2], words[1::2], strict=False)
        if place.startswith(SUBMITTED)
    ]


def _frames(places: Sequence[tuple[str, str]]) -> str:
    said = (f"  at {place} in {function}" for function, place in places)
    lines = [_repeated(line, len([*same])) for line, same in groupby(said)]
    return "".join(f"{line}\n" for line in lines[:FRAMES_MAX])


def _loop(places: Sequence[tuple[str, str]]) -> str:
    """The outermost function alone: the moment decides about the line and about the others."""
    if not places:
        return ""
    function, place = places[-1]
    return f"  in {function} ({place.rpartition(':')[0]})\n"


def short(function: str) -> str:
    """The function's own name, and its class if it has one: "a lambda in Store::Start".

    `function`: as C++ declares it, or without parameters.
    """
    found = _LAMBDA.search(function)
    return f"a lambda in {_last_names(found[1])}" if found else _last_names(function)


def _last_names(function: str) -> str:
    names = function.replace("(anonymous namespace)::", "").split("(")[0].split("::")
    return "::".join(names[-2:] if len(names) > 1 and names[-2][:1].isupper() else names[-1:])


def _repeated(line: str, times: int) -> str:
    return line if times == 1 else f"{line} ({times} times)"
