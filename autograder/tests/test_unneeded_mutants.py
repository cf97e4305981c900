"""A mutant that nothing needs is named, and all others stay."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.check import definitions, unneeded
from failslow.extras.check.step import Context, Counts
from failslow.extras.check.unneeded import Described
from failslow.extras.site import points_kept
from fakes import write_patch

SOURCE = """#include <vector>

constexpr int kRounds = 4;

namespace {

// Adds.
int Add(int a, int b) {
  int sum = a;
  return sum + b;
}

}  // namespace

class Queue {
 public:
  int size = 0;
};
"""
FILES = {"lab/a.cc": SOURCE.splitlines()}
KINDS = {
    "tests": {"caught_by": ("A.Other",)},
    "invariant": {"invariant": "one leader"},
    "text": {"traits": ("waits",)},
    "definition": {"changes": ("Vote",)},
    "lab": {"lab": "lab2"},
}
"""What makes a mutant needed beside three others."""


def described(
    name: str,
    caught_by: tuple[str, ...] = ("A.One",),
    invariant: str = "log matching",
    traits: tuple[str, ...] = (),
    changes: tuple[str, ...] = ("Add",),
    lab: str = "lab1",
) -> Described:
    witness_of = frozenset({*caught_by, f"invariant {invariant}"})
    return Described(name, lab, witness_of, frozenset(traits), frozenset(changes))


def names(mutants: list[Described]) -> list[str]:
    return [each.name for each in unneeded.unneeded(mutants, kept=())]


@pytest.mark.parametrize("own", KINDS.values(), ids=KINDS)
def test_the_only_one_of_its_kind_stays(own: dict[str, object]) -> None:
    three = [described("a"), described("b"), described("c")]
    assert names([*three, described("d")]) == ["a", "b", "c", "d"]
    assert names([*three, described("d", **own)]) == ["a", "b", "c"]


def test_one_shared_definition_is_no_kind_of_its_own() -> None:
    wide = described("d", changes=("Add", "Vote", "Start"))
    assert names([described("a"), described("b"), wide]) == ["a", "b", "d"]


@pytest.mark.parametrize(
    ("hunk", "changed"),
    [
        (
            "@@ -9,2 +9,2 @@\n   int sum = a;\n-  return sum + b;\n+  return sum;\n",
            "Add(int a, int b) {",
        ),
        # It has moved since it was made.
        ("@@ -2,1 +2,2 @@\n   int sum = a;\n+  ++sum;\n", "Add(int a, int b) {"),
        ("@@ -3 +3 @@\n-constexpr int kRounds = 4;\n+constexpr int kRounds = 1;\n", "kRounds = 4;"),
        ("@@ -17,1 +17,2 @@\n   int size = 0;\n+  int most = 0;\n", "class Queue {"),
        # A new function stands in no other one.
        ("@@ -3,2 +3,3 @@\n constexpr int kRounds = 4;\n \n+int Two() { return 2; }\n", "lab/a.cc"),
        ("@@ -11,1 +11,2 @@\n }\n+int Two() { return 2; }\n", "lab/a.cc"),
    ],
)
def test_a_diff_changes_the_definitions_around_its_lines(hunk: str, changed: str) -> None:
    (found,) = definitions.changed(f"--- a/lab/a.cc\n+++ b/lab/a.cc\n{hunk}", FILES)
    assert found.endswith(changed)


def test_a_diff_changes_several_files() -> None:
    first = "--- a/lab/a.cc\n+++ b/lab/a.cc\n@@ -17 +17 @@\n-  int size = 0;\n+  int size = 1;\n"
    second = "--- a/lab/b.cc\n+++ b/lab/b.cc\n@@ -1 +1 @@\n-int x;\n+int y;\n"
    found = definitions.changed(first + second, {**FILES, "lab/b.cc": ["int x;"]})
    assert found == {"lab/a.cc: class Queue {", "lab/b.cc: int x;"}


def test_a_diff_of_other_lines_does_not_fit() -> None:
    with pytest.raises(ValueError, match="no lines like those of the hunk at line 7"):
        definitions.changed(
            "--- a/lab/a.cc\n+++ b/lab/a.cc\n@@ -7 +7 @@\n-int x;\n+int y;\n", FILES
        )


def write(kit: Kit, name: str, more: str = "") -> Path:
    path = kit.reference / "lab1-quorum-event/mutants" / f"{name}.patch"
    return write_patch(path, f"Description: d\nCaught-by: A.One\n{more}", name)


def checked(kit: Kit, tmp_path: Path) -> Counts:
    return unneeded.run(Context(kit, False, tmp_path))


def test_a_third_witness_is_named(kit: Kit, tmp_path: Path) -> None:
    write(kit, "a")
    write(kit, "b")
    counts = checked(kit, tmp_path)
    assert (counts.passed, counts.failed) == (2, 0)
    write(kit, "c")
    counts = checked(kit, tmp_path)
    assert (counts.passed, counts.failed) == (0, 3)
    assert counts.problems[2] == (
        "mutant lab1/c is not needed: each of its tests catches 2 others, and others change the"
        " same code; delete it"
    )


def test_a_kind_of_its_own_is_a_reason(kit: Kit, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(kit, name, "Kind: pads\n" if name == "c" else "")
    problems = checked(kit, tmp_path).problems
    assert [problem.split()[1] for problem in problems] == ["lab1/a", "lab1/b"]


def test_a_mutant_that_the_kit_names_stays(kit: Kit, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        write(kit, name)
    attack = kit.attacks / "lab1" / "cheats.patch"
    write_patch(attack, "Description: d\nStopped-by: s\nBase: b\n", "cheats")
    docs = kit.site / "docs"
    (docs / "assets").mkdir(parents=True)
    (docs / "page.md").write_text("It is slow, as `lab1/c` is.\n")
    (kit.site / points_kept.RESULTS).write_text('{"mutants": [{"name": "lab1/a"}]}')
    kit.handouts.mkdir()
    (kit.handouts / "lab1.md").write_text(
        "./kit grade reference-solutions/lab1-quorum-event/mutants/d.patch\n"
    )
    problems = checked(kit, tmp_path).problems
    assert [problem.split()[1] for problem in problems] == ["lab1/a"]


def test_a_patch_that_does_not_fit_is_named(kit: Kit, tmp_path: Path) -> None:
    path = write(kit, "a")
    path.write_text(path.read_text().replace("-// ", "-other"))
    with pytest.raises(CannotDo, match="lab1/a: no lines like those of the hunk"):
        checked(kit, tmp_path)
