"""Precompiled headers for edits of one source, and the size of the headers that it includes."""

import subprocess
from pathlib import Path

import pytest

from demands import some
from failslow.base import process
from failslow.base.kit import this_kit
from failslow.build import precompiled

HEADER = '#pragma once\n// Raft.\n\n#include <map>\n#include "given.h"  // the log\n'


@pytest.mark.parametrize(
    ("header", "source", "before"),
    [
        (HEADER, '#include "mine.h"\n#include <set>\n', ["<map>", '"given.h"']),
        (HEADER, '#include <set>\n#include "mine.h"\n', ["<set>", "<map>", '"given.h"']),
        (f"{HEADER}int f();\n#include <set>\n", '#include "mine.h"\n', ["<map>", '"given.h"']),
        (f"#define X\n{HEADER}", '#include "mine.h"\n', []),
        ('#include "mine.h"\n#include <map>\n', '#include "mine.h"\n', []),
        (HEADER, "#if 0\n#include <set>\n#endif\n", []),
        (HEADER, '#include <set>\n#include "twice.h"\n#include <map>\n', ["<set>"]),
        (HEADER, '#include "missing.h"\n', []),
        (HEADER, "/* */\n#include <set>\n", []),
    ],
)
def test_only_what_comes_before_any_code_is_precompiled(
    tmp_path: Path, header: str, source: str, before: list[str]
) -> None:
    files = {"src/mine.h": header, "src/mine.cc": source, "kit/given.h": "#pragma once\n"}
    for name, text in {**files, "kit/twice.h": "// Without a guard.\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = precompiled.before_code(tmp_path / "src" / "mine.cc", [tmp_path, tmp_path / "kit"])
    assert found == before


def test_the_second_compilation_has_a_precompiled_header_that_the_compiler_takes(
    tmp_path: Path,
) -> None:
    entry = tmp_path / "entries" / "key"

    def make(header: Path, binary: Path) -> bool:
        argv = ["g++", "-x", "c++-header", str(header), "-o", str(binary)]
        return process.run(argv).exit_code == 0

    assert precompiled.words(entry, ["<map>"], make) == []
    words = precompiled.words(entry, ["<map>"], make)
    source = tmp_path / "mine.cc"
    source.write_text("std::map<int, int> numbers;\n")
    argv = ["g++", "-H", "-fsyntax-only", *words, str(source)]
    done = subprocess.run(argv, stderr=subprocess.PIPE, text=True, check=True)
    assert f"! {entry / precompiled.BINARY}" in done.stderr


def test_headers_that_do_not_compile_leave_the_source_alone(tmp_path: Path) -> None:
    entry = tmp_path / "entries" / "key"
    for _ in range(3):
        assert precompiled.words(entry, ["<missing>"], lambda header, binary: False) == []


PREPROCESSED_MAX = 100_000
"""Lines on Debian 12: 80,000 are those of <memory>, <chrono>, <functional>, <map>, <string> and
<vector>. MessagePack would add 45,000."""


def test_what_a_student_includes_stays_light() -> None:
    root = this_kit().root
    directories = [*root.glob("labs/*/contract"), *sorted(root.glob("labs/*/src"))]
    includes = [f"-I{path}" for path in (root / "framework" / "include", *directories)]

    def lines(source: Path) -> int:
        argv = ["g++", "-std=c++20", "-E", *includes, str(source)]
        text = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout
        return sum(not line.startswith("#") for line in text.splitlines())

    sources = some(root.glob("labs/*/src/*.cc"))
    assert {each.name: n for each in sources if (n := lines(each)) > PREPROCESSED_MAX} == {}
