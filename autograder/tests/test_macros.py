"""Macros of a submitted header that would change code of the kit."""

import subprocess
from pathlib import Path

import pytest

from failslow import macros

GIVEN = """#include "mine.h"
#include "given.h"
#include <memory>
#ifdef GIVEN_SWITCH
int switched;
#endif
bool Ends(const std::weak_ptr<int>& end) { return end.expired(); }  // Comment: Unused
"""
GIVEN_HEADER = "#define GIVEN_LIMIT 3\ninline int Limit() { return GIVEN_LIMIT; }\n"


def change(directory: Path, header: str, given: str = GIVEN) -> str:
    """What is said of a given source that includes this submitted header."""
    (directory / "src").mkdir()
    (directory / "src" / "mine.h").write_text(header)
    (directory / "given.h").write_text(GIVEN_HEADER)
    source = directory / "driver.cc"
    source.write_text(given)
    argv = ["g++", "-std=c++20", *macros.WORDS, str(source), "-I.", f"-I{directory}"]
    listed = subprocess.run(
        argv, cwd=directory / "src", capture_output=True, text=True, check=True
    ).stdout
    return macros.first_change(
        listed,
        is_submitted=lambda file: not file.startswith(("/", "<")),
        is_given=lambda file: file.startswith(f"{directory}/"),
    )


@pytest.mark.parametrize(
    "header",
    [
        "",
        "#pragma once\n#include <vector>\nstruct Mine { bool expired() const { return false; } };",
        "#ifndef MINE_H\n#define MINE_H\n#define MINE(x) ((x) + 1)\n#endif",
        "#define Unused 1\n#define Comment 2",  # given code has these in a comment alone
        "#include <memory>\n#define _M_refcount 1\n#undef _M_refcount",
    ],
)
def test_macros_of_its_own_are_the_students(tmp_path: Path, header: str) -> None:
    assert change(tmp_path, header) == ""


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("#define expired() use_count() * 0 == 1", "expired"),
        ("#def\\\nine Ends Other", "Ends"),
        ("%:define Limit Other", "Limit"),
        ("#define return throw", "return"),
        ('#line 1 "/kit/driver.cc"\n#define expired 1', "expired"),
        ("#define GIVEN_SWITCH", "GIVEN_SWITCH"),
        ("#define GIVEN_SWITCH\n#undef GIVEN_SWITCH", "GIVEN_SWITCH"),
        ("#define Limit Other\n#include <given.h>\n#undef Limit", "Limit"),
        ("#define weak_ptr shared_ptr\n#include <memory>\n#undef weak_ptr", "weak_ptr"),
        ('#define Limit 1\n#pragma push_macro("Limit")\n#undef Limit', "Limit"),
        ("#undef GIVEN_SWITCH", "GIVEN_SWITCH"),
    ],
)
def test_a_macro_that_given_code_would_see_is_refused(
    tmp_path: Path, header: str, name: str
) -> None:
    said = change(tmp_path, header)
    assert said.startswith(f"mine.h: the macro '{name}' would change given code")
    assert macros.may_define([b"int x;", header.encode()])


def test_most_submissions_define_nothing() -> None:
    assert not macros.may_define([b"#pragma once\n#include <map>\nint x;\n", b""])
