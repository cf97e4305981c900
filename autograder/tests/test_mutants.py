"""Mutants and alternatives: the rules for their headers, and how they follow the reference."""

import re
import subprocess
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import given_code
from failslow.build.recipe import Recipe
from failslow.cli import main
from failslow.extras.check import attacks
from failslow.lab.labs import load_labs
from failslow.lab.mutants import (
    Alternative,
    Keeps,
    apply,
    load_alternatives,
    load_mutant,
    load_mutants,
    load_variants,
    materialised,
    patched_in,
)
from failslow.lab.reference import write_tree
from fakes import this_kit, write_patch

HEADER = "Description: d\nCaught-by: A.B\n"
FILE = "lab1-quorum-event/quorum_event.cc"
LINES = [f"line {number}\n" for number in range(1, 21)]


def write_mutant(kit: Kit, header: str = HEADER) -> Path:
    return write_patch(kit.reference / "lab1-quorum-event/mutants" / "m.patch", header, "")


def test_a_header_says_what_a_mutant_is(kit: Kit) -> None:
    header = (
        "Description: Counts: wrong.\nCaught-by: A.B\nCaught-by: measurement/3/cpu-slow\n"
        "Passes: all\nMay-fail: A.C\nTrips: one vote per term\n"
        "Shows: votes twice\nSays: fell by\nSays: slept while\n"
        "Keeps-at-most: 25 % of slow-follower\nKeeps-at-most: 40 % of lab1\n"
    )
    mutant = load_mutant(write_mutant(kit, header))
    assert mutant.name == "lab1/m"
    assert mutant.lab == "lab1"
    assert mutant.description == "Counts: wrong."
    assert mutant.caught_by == ("A.B", "measurement/3/cpu-slow")
    assert mutant.passes == ("all",)
    assert mutant.may_fail == ("A.C",)
    assert mutant.trips == "one vote per term"
    assert mutant.shows == "votes twice"
    assert mutant.says == ("fell by", "slept while")
    assert mutant.keeps == (Keeps(25, "slow-follower"), Keeps(40, "lab1"))


def test_most_of_a_header_may_be_left_out(kit: Kit) -> None:
    mutant = load_mutant(write_mutant(kit))
    assert (mutant.passes, mutant.may_fail, mutant.trips, mutant.shows) == ((), (), None, None)
    assert (mutant.says, mutant.keeps) == ((), ())


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("Caught-by: A.B\n", "no line 'Description: ...'"),
        ("Description: d\n", "no line 'Caught-by: TEST'"),
        (f"{HEADER}Trips:\n", ":3: 'Trips:' is not 'Key: value'"),
        (f"{HEADER}\nWhy not?\n", ":4: 'Why not?' is not 'Key: value'"),
        (f"{HEADER}Tripps: x\n", ":3: unknown key 'Tripps' (keys: Description, Caught-by,"),
        (f"{HEADER}Description: e\n", ":3: a second 'Description'"),
        (f"{HEADER}Passes: A.C, A.D\n", ":3: 'A.C, A.D' is more than one test"),
        (f"{HEADER}Caught-by: A.B\n", ":3: an earlier line names A.B, too"),
        (f"{HEADER}May-fail: A.B\n", ":3: an earlier line names A.B, too"),
        (f"{HEADER}Keeps-at-most: few\n", "'Keeps-at-most: few' is not 'N % of PART'"),
    ],
)
def test_a_header_that_is_wrong_is_named(kit: Kit, header: str, complaint: str) -> None:
    path = write_mutant(kit, header)
    with pytest.raises(CannotDo, match=f"^{re.escape(str(path))}.*{re.escape(complaint)}"):
        load_mutant(path)


def test_a_header_needs_a_diff(kit: Kit) -> None:
    path = write_mutant(kit)
    path.write_text(HEADER)
    with pytest.raises(CannotDo, match="no diff below the header"):
        load_mutant(path)


def test_an_alternative_has_a_description_only(kit: Kit) -> None:
    path = write_patch(
        kit.reference / "lab2-raft/alternatives" / "other.patch", "Description: d\n", ""
    )
    assert patched_in(path) == Alternative(path, "lab2", "d")
    write_patch(path, HEADER, "")
    with pytest.raises(CannotDo, match=r":2: unknown key 'Caught-by' \(keys: Description\)"):
        patched_in(path)


def test_only_patches_in_their_places_are_taken(kit: Kit) -> None:
    assert patched_in(kit.reference) is None
    for path in (kit.reference / "lab1-quorum-event/mutants" / "m.txt", kit.reference / "m.patch"):
        with pytest.raises(CannotDo, match="is neither LAB/mutants/NAME"):
            patched_in(write_patch(path, HEADER, ""))


class Course:
    """A reference of twenty lines under version control, and mutants that each change one."""

    def __init__(self, kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
        self.kit = kit
        self._capsys = capsys
        self._file = kit.reference / FILE
        self.change_reference({})
        self._git("init", "--quiet")
        self.commit()

    def change_reference(self, changes: dict[int, str]) -> None:
        """Line numbers, and the text that replaces each line."""
        lines = [changes.get(number, line) for number, line in enumerate(LINES, start=1)]
        self._file.write_text("".join(lines))

    def commit(self) -> None:
        self._git("add", "--all")
        self._git("-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "m")

    def mutant(self, number: int) -> Path:
        """A mutant that says 'wrong' in one line."""
        path = self.kit.reference / "lab1-quorum-event/mutants" / f"changes-line-{number}.patch"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{HEADER}\n{self._diff(number)}")
        return path

    def rebase(self, *arguments: str) -> tuple[int, list[str]]:
        code = main(["mutants", "rebase", *arguments], self.kit)
        return code, self._capsys.readouterr().out.splitlines()

    def applied(self, path: Path) -> list[str]:
        """The lines of the mutant that the patch makes, without fuzz, of the present reference."""
        argv = ["patch", "--fuzz=0", "--quiet", "-o", "-", self._file, path]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        return done.stdout.splitlines(keepends=True)

    def _diff(self, number: int) -> str:
        first, last = max(1, number - 3), min(len(LINES), number + 3)
        hunk = [f" {line}" for line in LINES[first - 1 : last]]
        hunk[number - first : number - first + 1] = [f"-{LINES[number - 1]}", "+wrong\n"]
        count = last - first + 1
        head = f"--- a/{FILE}\n+++ b/{FILE}\n@@ -{first},{count} +{first},{count} @@\n"
        return head + "".join(hunk)

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self.kit.root, *arguments], check=True)


@pytest.fixture
def course(kit: Kit, capsys: pytest.CaptureFixture[str]) -> Course:
    return Course(kit, capsys)


def test_a_patch_follows_a_change_in_its_context(course: Course) -> None:
    path = course.mutant(10)
    course.change_reference({1: "new\nnew\n", 8: "also new\n"})
    assert course.rebase() == (
        0,
        ["rebased lab1/changes-line-10", "0 kept, 1 rebased, 0 needs a hand"],
    )
    assert path.read_text().startswith(f"{HEADER}\n--- a/{FILE}\n+++ b/{FILE}\n@@ ")
    lines = course.applied(path)
    assert lines[:2] == ["new\n", "new\n"]
    assert lines[8:11] == ["also new\n", LINES[8], "wrong\n"]
    assert course.rebase()[1] == ["1 kept, 0 rebased, 0 needs a hand"], "it is rebased already"


def test_a_patch_that_only_moves_is_left_alone(course: Course) -> None:
    path = course.mutant(18)
    before = path.read_text()
    course.change_reference({1: "new\nnew\n"})
    assert course.rebase() == (0, ["1 kept, 0 rebased, 0 needs a hand"])
    assert path.read_text() == before


def test_the_old_reference_may_be_any_commit(course: Course) -> None:
    path = course.mutant(10)
    course.change_reference({8: "new\n"})
    course.commit()
    code, lines = course.rebase()
    assert code == 1
    assert lines[0].endswith("it applies neither to the old reference nor to the new one")
    assert course.rebase("--from", "HEAD~1")[0] == 0
    assert course.applied(path)[7:10] == ["new\n", LINES[8], "wrong\n"]
    assert main(["mutants", "rebase", "--from", "nowhere"], course.kit) == 2


def test_a_conflict_is_left_to_a_person(course: Course) -> None:
    path, other = course.mutant(10), course.mutant(20)
    before = path.read_text()
    course.change_reference({10: "new\n", 18: "newer\n"})
    conflict = course.kit.rebase / "lab1-quorum-event" / "mutants" / "changes-line-10" / "b" / FILE
    code, lines = course.rebase()
    assert code == 1
    assert lines == [
        "rebased lab1/changes-line-20",
        f"lab1/changes-line-10 needs a hand: end the conflict in {conflict}, then rebase again",
        "0 kept, 1 rebased, 1 needs a hand",
    ]
    assert path.read_text() == before
    assert course.applied(other)[-3:] == ["newer\n", LINES[18], "wrong\n"]
    assert course.rebase()[0] == 1, "nobody has edited it"

    text = conflict.read_text()
    begin, end = text.index("<<<<<<< patched"), text.index(LINES[10])
    conflict.write_text(f"{text[:begin]}wrong, and new\n{text[end:]}")
    course.change_reference({2: "newest\n", 10: "new\n", 18: "newer\n"})
    assert course.rebase()[0] == 0
    lines = course.applied(path)
    assert (lines[1], lines[9], lines[17]) == ("newest\n", "wrong, and new\n", "newer\n")
    assert not conflict.exists()


def test_a_mistake_that_the_reference_makes_too_is_named(course: Course) -> None:
    course.mutant(10)
    course.change_reference({10: "wrong\n"})
    code, lines = course.rebase()
    assert code == 1
    assert lines[0].endswith("the new reference has its change, too")


def test_every_patch_fits_the_reference(tmp_path: Path) -> None:
    kit = this_kit()
    labs = load_labs(kit)
    found = [*load_mutants(kit), *load_alternatives(kit), *attacks.load_patches(kit)]
    found += [
        each for id, lab in labs.by_id.items() if lab.diagnosis for each in load_variants(kit, id)
    ]
    assert len(found) > 300
    for id, lab in labs.by_id.items():
        tree = tmp_path / id
        write_tree(kit.reference, labs.closure(lab), tree)
    for patched in found:
        apply(patched, tmp_path / patched.lab, "--dry-run")
    for mutant in given_code.load_all(kit):
        given_code.recipe_with(kit, mutant, Recipe("c++", (), {}))


def test_a_mutant_has_no_assertion_of_the_reference(kit: Kit) -> None:
    (kit.reference / FILE).write_text("  assert(x);\n" + "".join(LINES))
    path = kit.reference / "lab1-quorum-event/mutants" / "asserts.patch"
    path.parent.mkdir(parents=True, exist_ok=True)
    hunk = "@@ -1,4 +1,5 @@\n   assert(x);\n line 1\n+assert(own);\n line 2\n line 3\n"
    path.write_text(f"{HEADER}\n--- a/{FILE}\n+++ b/{FILE}\n{hunk}")
    with materialised(kit, load_labs(kit), load_mutant(path)) as tree:
        text = (tree / FILE).read_text()
    assert text.startswith("line 1\nassert(own);\nline 2\n")
