"""Turns the offsets in a crash report (framework/testkit/crash_report.h) into lines of the files of
a student.

For `kit test` and `kit replay`, where the student's own process prints them. Only numbers are taken
from it.
"""

import re
from itertools import groupby
from pathlib import Path

from failslow import process

STACK = re.compile(r"^stack:((?: [0-9a-f]{1,16}){0,64})(?:\n|\Z)", re.M)
FRAMES_MAX = 8
SYMBOLISE_S = 30.0
SUBMITTED = "./"
"""The beginning of a submitted file's name in a program: see compile.py."""
TOOL = "addr2line"
_LAMBDA = re.compile(r"([\w:~]+)\([^(){}]*\)(?: const)?::\{lambda")


def in_lines(text: str, program: Path) -> str:
    """The text, with a line for each frame in the student's files in place of the offsets. Without
    binutils the offsets go, and a line says so."""
    return STACK.sub(lambda found: _frames(found[1].split(), program), text)


def _frames(offsets: list[str], program: Path) -> str:
    if not offsets:
        return ""
    try:
        argv = [TOOL, "--exe", program, "--functions", "--demangle", "--inlines"]
        done = process.run([*argv, *(f"0x{each}" for each in offsets)], timeout_s=SYMBOLISE_S)
    except OSError:
        return f"  ({TOOL} would tell the lines: install binutils)\n"
    words = done.output.splitlines()
    places = [
        f"  at {place.split(' ')[0].removeprefix(SUBMITTED)} in {short(function)}"
        for function, place in zip(words[::2], words[1::2], strict=False)
        if place.startswith(SUBMITTED)
    ]
    lines = [_repeated(line, len([*same])) for line, same in groupby(places)]
    return "".join(f"{line}\n" for line in lines[:FRAMES_MAX])


def short(function: str) -> str:
    """The function's own name, and its class if it has one: "a lambda in Raft::Start".

    `function`: as C++ declares it, or without parameters.
    """
    found = _LAMBDA.search(function)
    return f"a lambda in {_last_names(found[1])}" if found else _last_names(function)


def _last_names(function: str) -> str:
    names = function.replace("(anonymous namespace)::", "").split("(")[0].split("::")
    return "::".join(names[-2:] if len(names) > 1 and names[-2][:1].isupper() else names[-1:])


def _repeated(line: str, times: int) -> str:
    return line if times == 1 else f"{line} ({times} times)"
