"""Headers of a submission that would change given code."""

import re
from pathlib import Path

import pytest

from demands import some
from failslow.base import process
from failslow.build import references

DRIVER = """#include "kit.h"
#include "mine.h"
namespace kit {
namespace {
struct Report { int count = 0; };
int Count(const Report& report) { return Twice(report.count) + kit::Thrice(report.count); }
}  // namespace
int Drive(Mine& mine) {
  const std::vector<Mine> all(2);
  return mine.Answer(all.size()) + Count({1}) + Ask(mine, 1);
}
}  // namespace kit
"""
KIT = """#pragma once
#include <vector>
namespace kit {
class Mine;
int Twice(int number);
int Thrice(int number);
int Ask(const Mine& mine, long number);
int Drive(Mine& mine);
}  // namespace kit
"""
STARTER = """#pragma once
#include "kit.h"
namespace kit {
class Mine {
 public:
  int Answer(unsigned long number);
};
}  // namespace kit
"""


def objects(directory: Path, header: str) -> bytes:
    directory.mkdir()
    (directory / "kit.h").write_text(KIT)
    (directory / "mine.h").write_text(header)
    (directory / "driver.cc").write_text(DRIVER)
    argv = ["g++", "-std=c++20", "-O2", *references.WORDS, "-c", "driver.cc", "-o", "driver.o"]
    done = process.run(argv, cwd=directory, merge_errors=True)
    assert done.exit_code == 0, done.output
    return (directory / "driver.o").read_bytes()


def change(directory: Path, header: str) -> str:
    starter = objects(directory / "starter", STARTER)
    return references.first_change(
        starter, objects(directory / "mine", header), references.classes_in([STARTER])
    )


@pytest.mark.parametrize(
    "mine",
    [
        STARTER,
        STARTER.replace("number);", "number) { return Helper(number) + all_[0].of; }")
        .replace(
            "class Mine {",
            "inline int Helper(int n) { return n; }\nstruct Part { int of; };\nclass Mine {",
        )
        .replace("};\n}  // n", " private:\n  std::vector<Part> all_{3};\n};\n}  // n"),
        STARTER.replace("  int Answer", "  virtual ~Mine();\n  Mine();\n  virtual int Answer"),
        STARTER.replace("unsigned long", "int"),
        "#include <iostream>\n#include <map>\n" + STARTER,
    ],
)
def test_a_class_is_the_students(tmp_path: Path, mine: str) -> None:
    assert change(tmp_path, mine) == ""


@pytest.mark.parametrize(
    ("above", "changed"),
    [
        ('int Drive(Mine& mine) __asm__("nobody");', "Drive"),
        ("int Drive(Mine& mine) __attribute__((weak));", "Drive"),
        ('int Thrice(int number) __asm__("another");', "Count"),
        ("inline int Ask(const Mine&, int) { return 42; }", "Drive"),
        ("template <typename T> int Ask(T&, int) { return 42; }", "Drive"),
        (
            "namespace { struct Report; }\ntemplate <typename T> int Twice(const T&) { return 1; }",
            "",
        ),
        ("inline namespace nearer { inline int Twice(const int&&) { return 1; } }", ""),
    ],
)
def test_a_call_that_goes_elsewhere_is_found(tmp_path: Path, above: str, changed: str) -> None:
    found = change(tmp_path, STARTER.replace("class Mine {", f"{above}\nclass Mine {{"))
    assert (changed in found) if changed else found == ""


def test_a_changed_function_has_the_name_of_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    mangled = "_ZN3kit5DriveERNS_4MineE"
    assert references.readable(mangled) == "kit::Drive(kit::Mine&)"
    assert references.readable("main") == "main"
    monkeypatch.setattr(references, "DEMANGLER", "no-such-program")
    assert references.readable(mangled) == mangled


def test_an_object_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not an object"):
        references.functions(b"\x7fELF\x01\x01")
    with pytest.raises(ValueError, match="damaged"):
        references.functions(b"\x7fELF\x02\x01" + bytes(58))


NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)
CONSTANT = re.compile(r"^(?:inline )?constexpr [\w:<>]+ (k\w+)", re.M)


def test_given_sources_pin_the_constants_of_outer_namespaces() -> None:
    """Otherwise a submitted header could define a nearer one, which changes no name."""
    root = Path(__file__).resolve().parents[2]
    outer: dict[str, set[str]] = {}
    for header in (root / "framework" / "include").rglob("*.h"):
        for name in CONSTANT.findall(header.read_text()):
            outer.setdefault(name, set()).update(NAMESPACE.findall(header.read_text()))
    labs = root / "labs"
    given = [*labs.glob("*/driver/*"), *labs.glob("*/contract/*_base*.cc")]
    used = [
        (path, name)
        for path in given
        for name in {*re.findall(r"(?<![\w:])(k[A-Z]\w*)", path.read_text())} & outer.keys()
    ]
    for path, name in some(used):
        text = path.read_text()
        is_own = re.search(rf"(?:constexpr|const) [\w:<>]+ {name}\b", text)
        is_nearest = {*NAMESPACE.findall(text)} <= outer[name]
        assert is_own or is_nearest or f"using depfast::{name};" in text, f"{path}: {name}"
