"""Mistakes in given code: the recipe that builds with them; and what mutants show of checkers."""

import re
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import given_code
from failslow.build.recipe import Program, Recipe
from failslow.lab.mutants import load_mutants
from fakes import this_kit

CONTRACT = "labs/lab1-quorum-event/contract"
DIFF = f"--- a/{CONTRACT}/given.cc\n+++ b/{CONTRACT}/given.cc\n@@ -1 +1 @@\n-right\n+wrong\n"
HEADER = "Description: d\nCaught-by: A.B\n"


def write_given(kit: Kit, diff: str = DIFF) -> Path:
    contract = kit.root / CONTRACT
    contract.mkdir(parents=True, exist_ok=True)
    for name, text in {"given.cc": "right\n", "other.cc": "o\n", "given.h": "h\n"}.items():
        (contract / name).write_text(text)
    path = kit.reference / "lab1-quorum-event/given" / "wrong.patch"
    path.parent.mkdir(parents=True)
    path.write_text(HEADER + diff)
    return path


def recipe(kit: Kit) -> Recipe:
    given = str(kit.root / CONTRACT / "given.cc")
    libraries = ("/build/libcontract.a", "/build/libdepfast.a", "-lpthread")
    program = Program(("/elsewhere/main.cc", given), libraries)
    return Recipe(
        compiler="c++",
        flags=("-O2", "-I/elsewhere", f"-I{kit.root / CONTRACT}"),
        programs={"lab1_replica": program},
    )


@pytest.fixture(autouse=True)
def libraries(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    made_of = {"/build/libcontract.a": (str(kit.root / CONTRACT / "other.cc"),)}
    monkeypatch.setattr(given_code, "load_libraries", lambda _: made_of)


def test_programs_are_built_with_the_mistake(kit: Kit) -> None:
    mutant = given_code.load(write_given(kit))
    assert mutant.name == "given/lab1/wrong"
    wrong = given_code.recipe_with(kit, mutant, recipe(kit))
    program = wrong.programs["lab1_replica"]
    main, given, other = map(Path, program.sources)
    assert main == Path("/elsewhere/main.cc")
    assert (given.name, given.read_text()) == ("given.cc", "wrong\n")
    assert (other.name, other.read_text()) == ("other.cc", "o\n")
    assert program.link == ("/build/libdepfast.a", "-lpthread")
    assert wrong.flags == ("-O2", "-I/elsewhere", f"-I{given.parent}")
    assert (given.parent / "given.h").read_text() == "h\n"
    assert (kit.root / CONTRACT / "given.cc").read_text() == "right\n"


def test_a_copy_is_as_new_as_the_given_code(kit: Kit) -> None:
    mutant = given_code.load(write_given(kit))

    def header() -> str:
        program = given_code.recipe_with(kit, mutant, recipe(kit)).programs["lab1_replica"]
        return (Path(program.sources[1]).parent / "given.h").read_text()

    assert header() == "h\n"
    (kit.root / CONTRACT / "given.h").write_text("another\n")
    assert header() == "another\n"


@pytest.mark.parametrize(
    ("diff", "complaint"),
    [
        (DIFF.replace("-right", "-left"), "the patch does not apply"),
        (DIFF.replace("labs/", "framework/"), "changes files of labs/ alone"),
        (DIFF + DIFF.replace("labs/", "lab1/"), "changes files of labs/ alone"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(kit: Kit, diff: str, complaint: str) -> None:
    mutant = given_code.load(write_given(kit, diff))
    with pytest.raises(CannotDo, match=complaint):
        given_code.recipe_with(kit, mutant, recipe(kit))


IMPLIED = {"election safety"}
"""One vote for each voter and term, and votes for each leader, leave a term no second leader."""


def test_a_mutant_trips_every_invariant() -> None:
    labs = this_kit().labs
    names = re.compile(r'"([a-z][a-z -]+)"')
    raft = (labs / "lab2-raft/testkit/raft_invariants.cc").read_text().partition("kNames")[2]
    copilot = (labs / "lab5-copilot/testkit/copilot_checker.cc").read_text()
    copilot = copilot.partition("const char* ToString(Invariant")[2].partition("\n}\n")[0]
    mutants = load_mutants(this_kit())
    for lab, text in (("lab2", raft), ("lab5", copilot)):
        invariants = set(names.findall(text))
        of_lab = [each for each in mutants if each.lab in (lab, "lab4" if lab == "lab2" else lab)]
        tripped = {each.trips for each in of_lab}
        said = {text.removesuffix(" violated") for each in of_lab for text in each.says}
        assert len(invariants) >= 6
        assert invariants - IMPLIED <= tripped | said
