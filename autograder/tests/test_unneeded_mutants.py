"""A mutant that nothing needs is named, and all others stay."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.check import definitions, unneeded
from failslow.extras.check.step import Context
from failslow.extras.check.unneeded import Described
from failslow.extras.site import points_kept
from fakes import write_patch

SOURCE = """constexpr int kRounds = 4;

namespace {

int Add(int a, int b) {
  int sum = a;
  return sum + b;
}

}  // namespace

class Queue {
  int size = 0;
};
"""
FILES = {"lab/a.cc": SOURCE.splitlines()}


def described(
    name: str,
    witness_of: Sequence[str] = ("A.One", "invariant log matching"),
    traits: Sequence[str] = (),
    changes: Sequence[str] = ("Add",),
    lab: str = "lab1",
) -> Described:
    return Described(name, lab, frozenset(witness_of), frozenset(traits), frozenset(changes))


def names(mutants: Sequence[Described], kept: Sequence[str] = ()) -> list[str]:
    return [each.name for each in unneeded.unneeded(mutants, kept)]


THREE = [described("a"), described("b"), described("c")]


def test_two_witnesses_are_enough() -> None:
    assert names(THREE[:2]) == []
    assert names(THREE) == ["a", "b", "c"]
    assert names(THREE, kept=("b",)) == ["a", "c"]


@pytest.mark.parametrize(
    "other",
    [
        described("d", witness_of=("A.Other",)),
        described("d", traits=("waits",)),
        described("d", changes=("Vote",)),
        described("d", lab="lab2"),
    ],
)
def test_the_only_one_of_its_kind_stays(other: Described) -> None:
    assert names([*THREE, other]) == ["a", "b", "c"]


def test_one_shared_definition_is_no_kind_of_its_own() -> None:
    wide = described("d", changes=("Add", "Vote", "Start"))
    assert names([*THREE, wide]) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("hunk", "changed"),
    [
        (
            "@@ -6,2 +6,2 @@\n   int sum = a;\n-  return sum + b;\n+  return sum;\n",
            "Add(int a, int b) {",
        ),
        # It has moved since it was made.
        ("@@ -2,1 +2,2 @@\n   int sum = a;\n+  ++sum;\n", "Add(int a, int b) {"),
        ("@@ -1 +1 @@\n-constexpr int kRounds = 4;\n+constexpr int kRounds = 1;\n", "kRounds = 4;"),
        ("@@ -13,1 +13,2 @@\n   int size = 0;\n+  int most = 0;\n", "class Queue {"),
    ],
)
def test_a_diff_changes_the_definitions_around_its_lines(hunk: str, changed: str) -> None:
    (found,) = definitions.changed(f"--- a/lab/a.cc\n+++ b/lab/a.cc\n{hunk}", FILES)
    assert found.endswith(changed)


def test_a_diff_changes_several_files() -> None:
    first = "--- a/lab/a.cc\n+++ b/lab/a.cc\n@@ -13 +13 @@\n-  int size = 0;\n+  int size = 1;\n"
    second = "--- a/lab/b.cc\n+++ b/lab/b.cc\n@@ -1 +1 @@\n-int x;\n+int y;\n"
    found = definitions.changed(first + second, {**FILES, "lab/b.cc": ["int x;"]})
    assert found == {"lab/a.cc: class Queue {", "lab/b.cc: int x;"}


Plant = Callable[..., Path]


@pytest.fixture
def plant(kit: Kit) -> Plant:
    """Writes a mutant of lab 1."""

    def write(name: str, more: str = "") -> Path:
        path = kit.reference / "lab1-quorum-event/mutants" / f"{name}.patch"
        return write_patch(path, f"Description: d\nCaught-by: A.One\n{more}", name)

    return write


def named(kit: Kit) -> list[str]:
    """The mutants that the check names. It passes all others."""
    counts = unneeded.run(Context(kit, False, kit.root))
    assert counts.passed + counts.failed == len([*kit.reference.rglob("*.patch")])
    return [problem.split()[1] for problem in counts.problems]


def test_a_third_witness_is_named_and_a_kind_of_its_own_stays(kit: Kit, plant: Plant) -> None:
    plant("a")
    plant("b")
    assert named(kit) == []
    plant("c")
    assert named(kit) == ["lab1/a", "lab1/b", "lab1/c"]
    plant("c", "Kind: pads\n")
    assert named(kit) == ["lab1/a", "lab1/b"]


def test_a_mutant_that_the_kit_names_stays(kit: Kit, plant: Plant) -> None:
    for name in ("a", "b", "c", "d"):
        plant(name)
    attack = kit.attacks / "lab1" / "cheats.patch"
    write_patch(attack, "Description: d\nStopped-by: s\nBase: b\n", "cheats")
    (kit.site / "docs/assets").mkdir(parents=True)
    (kit.site / "docs/page.md").write_text("It is slow, as `lab1/c` is.\n")
    (kit.site / points_kept.RESULTS).write_text('{"mutants": [{"name": "lab1/a"}]}')
    kit.handouts.mkdir()
    page = kit.handouts / "lab1.md"
    page.write_text("./kit grade reference-solutions/lab1-quorum-event/mutants/d.patch\n")
    assert named(kit) == ["lab1/a"]


def test_a_patch_that_does_not_fit_is_named(kit: Kit, plant: Plant) -> None:
    path = plant("a")
    path.write_text(path.read_text().replace("-// ", "-other"))
    with pytest.raises(CannotDo, match="lab1/a: no lines like those of the hunk"):
        named(kit)
