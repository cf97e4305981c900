"""Words of submitted headers that change names or calls of given code."""

import subprocess
from pathlib import Path

import pytest

from failslow.build import tokens


def refused(directory: Path, header: str) -> str:
    """The finding about a given source that includes this submitted header."""
    (directory / "src").mkdir()
    (directory / "src" / "mine.h").write_text(header)
    (directory / "src" / "mine.cc").write_text('asm("nop");')
    source = directory / "driver.cc"
    source.write_text('#include "mine.h"\n[[gnu::noinline]] int given();\n')
    (directory / "given.h").write_text(
        '#define GIVEN_ASM asm\n#define GIVEN_ONE 1\n[[gnu::weak]] int header();\nasm("");\n'
    )
    argv = ["g++", "-std=c++20", *tokens.WORDS, str(source), "-I.", f"-I{directory}"]
    listed = subprocess.run(
        argv, cwd=directory / "src", capture_output=True, text=True, check=True
    ).stdout
    return tokens.refused(listed, str(directory))


@pytest.mark.parametrize(
    ("header", "word"),
    [
        ('asm("nop");', "asm"),
        ('int f() __asm__("g");', "__asm__"),
        ('void g() { __a\\\nsm__("nop"); }', "__asm__"),
        ('#define PASTE(a, b) a##b\nPASTE(a, sm)("nop");', "asm"),
        ('#include "given.h"\nGIVEN_ASM("nop");', "asm"),
        ('#include "mine.cc"', "asm"),
        ('constexpr long operator/**/ ""s(unsigned long long n) { return 0; }', 'operator""'),
        ("#pragma redefine_extname f g", "#pragma redefine_extname f g"),
        ("# pragma weak f", "#pragma weak f"),
        ("%:pragma weak f", "#pragma weak f"),
        ("#\\\npragma GCC optimize 2", "#pragma GCC optimize 2"),
        ("#define SAY(x) _Pragma(#x)\nSAY(weak f)", "#pragma weak f"),
        ("template <> struct kit::Pack<int> {};", "template<>"),
        ("template < > inline int Twice<int>(int) { return 1; }", "template<>"),
        ("#define NONE\ntemplate <NONE> int Twice<int>(int);", "template<>"),
        ("template <:> struct X;\ntemplate <typename T>\nunion kit::Pack<T*> {};", "union"),
        ("template <class T>\nstruct alignas(8) Pack<T, kit::If<T>> {};", "struct alignas"),
        ("int f() __attribute__((noinline, weak));", "__attribute__"),
        ('#define __(x) __attri##bute(x)\nint f() __((alias("g")));', "__attribute"),
        ("#include <sys/cdefs.h>\n__attribute_pure__ int f();", "__attribute__"),
        ('[[gnu::ifunc("g")]] int f();', "[[gnu :: ifunc"),
        ("[ [gnu::always_inline] ] inline int f() { return 1; }", "[[gnu :: always_inline"),
        ("<:<:gnu::always_inline:>:> inline int f() { return 1; }", "[[gnu"),
        ('[\n#include "given.h"\n[gnu::weak]] int f();', "[[gnu"),
        ("[[using gnu: weak]] int f();", "[[using gnu"),
        ('[[nodiscard("]]"), gnu::weak]] int f();', "[[gnu"),
        ("[[, __gnu__::__weak__]] int f();", "[[__gnu__"),
        ("[[noreturn]] int f();", "[[noreturn"),
        ("#define OPEN [[\nOPEN maybe_unused, gnu::weak ]] int f();", "[[gnu"),
        ('const char* text = R"(x)\\\n" /* )"; asm("nop"); // */', "asm"),
        ("auto digits = 1'0; asm(\"'\");", "asm"),
        ("int f(vector<::Name:> = 1); [[gnu::weak]] int g();", "[[gnu"),
    ],
)
def test_words_that_change_names_are_refused(tmp_path: Path, header: str, word: str) -> None:
    said = refused(tmp_path, header)
    assert f": '{word}" in said, said
    assert said.endswith("not in a header that given code includes: use a .cc file")


def test_a_finding_names_file_and_line(tmp_path: Path) -> None:
    said = refused(tmp_path, "#pragma once\n#include <vector>\n\n/*\n*/ [ [noreturn]] void f();")
    assert said.startswith("mine.h:5: '[[noreturn ] ]'")


@pytest.mark.parametrize(
    "header",
    [
        "#pragma once\n// asm, weak and an alias\nauto weak = weak_from_this(); using alias = int;",
        '[[nodiscard]] int f(); [[maybe_unused, deprecated("g")]] int array[sizes[alias]];',
        'const char* text = "asm"; /* #pragma weak */ const char* raw = R"a(\nasm)" )a";',
        '#include "given.h"\n#include <vector>\n#include <cassert>\nint f() { assert(1); }',
        '_Pragma("GCC diagnostic push")\n#pragma GCC diagnostic ignored "-Wshadow"',
        "template <class T, template <class> class P = Pack> struct Mine : P<T> {};",
        "auto f = [a = b[0]] { return [] { return 1; }; }; enum class E : char { k = 'a' };",
        "struct alignas(64) Mine final : kit::Pack<int> { class Part* p; };",
        "#if 0\nasm\n#endif\n#define UNUSED asm",
        "__extension__ using Wide = __int128;",
    ],
)
def test_usual_words_are_allowed(tmp_path: Path, header: str) -> None:
    assert refused(tmp_path, header) == ""


def test_the_text_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TEXT_MAX", 100)
    assert refused(tmp_path, "int f();" * 20) == "the headers are too long"
