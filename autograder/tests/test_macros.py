"""Macros of a submitted header that would change code of the kit."""

import subprocess
from pathlib import Path

import pytest

from failslow.build import macros

GIVEN = """#include "mine.h"
#include "given.h"
#include <memory>
int Digits();
#ifdef GIVEN_SWITCH
int switched;
#endif
const int sum = 1'000 + Digits() + 2'000;
bool Ends(const std::weak_ptr<int>& end) { return end.expired(); }  // Comment: Unused
"""
GIVEN_HEADER = "#define GIVEN_LIMIT 3\ninline int Limit() { return GIVEN_LIMIT; }\n"


def change(directory: Path, header: str, given: str = GIVEN) -> str:
    """The finding about a given source that includes this submitted header."""
    (directory / "src").mkdir()
    (directory / "src" / "mine.h").write_text(header)
    (directory / "given.h").write_text(GIVEN_HEADER)
    source = directory / "driver.cc"
    source.write_text(given)
    argv = ["g++", "-std=c++20", *macros.WORDS, str(source), "-I.", f"-I{directory}"]
    listed = subprocess.run(
        argv, cwd=directory / "src", capture_output=True, text=True, check=True
    ).stdout
    return macros.forged({"mine.h": header.encode()}) or macros.first_change(listed, str(directory))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "#pragma once\n#include <vector>\nstruct Mine { bool expired() const { return false; } };",
        "#ifndef MINE_H\n#define MINE_H\n#define MINE(x) ((x) + 1)\n#endif",
        "#define Unused 1\n#define Comment 2",  # given code has these in a comment alone
        "#define STR(x) #x\n#define sum(x) ((x) + 1)\n",  # and calls no sum
        "#ifndef _MINE_H_\n#define _MINE_H_\n#endif",
        "#include <cassert>\n#include <cassert>\n",
        '_Pragma("GCC diagnostic push") // issue #12\n',
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
        ("#def\\\f\nine Ends Other", "Ends"),
        ("%:define Limit Other", "Limit"),
        ("  #define Ends Other", "Ends"),
        ("/* x */ #define Ends Other", "Ends"),
        ("#define NDEBUG", "NDEBUG"),
        ("#define _GLIBCXX_OPTIONAL 1\n#include <optional>", "_GLIBCXX_OPTIONAL"),
        (
            '#ifndef MINE_ONCE\n#define MINE_ONCE\n#include "/proc/self/cwd/mine.h"\n#else\n'
            "#define Ends Other\n#endif",
            "Ends",
        ),
        ("#define Digits 1", "Digits"),
        ("#define return throw", "return"),
        ("#define GIVEN_SWITCH", "GIVEN_SWITCH"),
        ("#define GIVEN_SWITCH\n#undef GIVEN_SWITCH", "GIVEN_SWITCH"),
        ("#define Limit Other\n#include <given.h>\n#undef Limit", "Limit"),
        ("#define weak_ptr shared_ptr\n#include <memory>\n#undef weak_ptr", "weak_ptr"),
        ("#undef GIVEN_SWITCH", "GIVEN_SWITCH"),
    ],
)
def test_a_macro_that_given_code_would_see_is_refused(
    tmp_path: Path, header: str, name: str
) -> None:
    said = change(tmp_path, header)
    if "/proc/" in header:
        said = "mine.h" + said.partition("mine.h")[2]
    assert said.startswith(f"mine.h: the macro '{name}' would change given code")
    assert macros.may_define([b"int x;", header.encode()])


@pytest.mark.parametrize(
    "header",
    [
        '#line 1 "/kit/driver.cc"',
        '# 1 "/usr/include/x" 1\n#define Ends Other\n# 5 "mine.h" 2',
        '/*\n# 1 "/usr/include/x" 1\n*/',
        '/* x */ # 1 "/usr/include/x" 1',
        "#/* x */define Ends Other",
        "%:/**/define Ends Other",
        "#define/**/Ends Other",
        'const char* p = R"(\n# 1 "/usr/include/x" 1\n)";',
        '#\\\n1 "/usr/include/x" 1',
        '#pragma push_macro("INT_MAX")',
        '_Pragma("pop_macro(\\"INT_MAX\\")")',
        "#define POP(x) _Pragma(x)",
    ],
)
def test_no_line_deceives_the_list_of_directives(tmp_path: Path, header: str) -> None:
    said = macros.forged({"mine.h": header.encode()})
    assert said.startswith("mine.h: '")
    assert "no line number, pushed macro or comment in a directive" in said


@pytest.mark.parametrize("part", ["\n", " ", "/*", "*/ ", "\\", "define "])
def test_a_megabyte_of_anything_is_looked_at_once(part: str) -> None:
    """A search that begins anew at each character would take hours."""
    content = {"mine.h": (part * (1 << 20))[: 1 << 20].encode()}
    assert macros.forged(content) == ""
    assert macros.may_define(content.values()) == (part == "define ")


def test_many_macros_take_no_minutes(tmp_path: Path) -> None:
    header = "".join(f"#define MINE_{number} {number}\n" for number in range(30_000))
    assert change(tmp_path, header) == ""


def test_most_submissions_define_nothing() -> None:
    assert not macros.may_define([b"#pragma once\n#include <map>\nint x;\n", b""])


def test_clang_compiles_without_the_list() -> None:
    assert macros.can_list("g++") and macros.can_list("/usr/bin/c++-12")
    assert not macros.can_list("/usr/bin/clang++-14")
