"""Functions of earlier labs that are not written: found in every lab, and told before failures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.lab import unwritten
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import Submission, collect
from fakes import SUITES, TEST_BINARY, build_fakes, write_reply, write_submission
from running import Expect

KIT = this_kit()
LABS = load_labs(KIT)
STUBBED = "lab1-quorum-event/quorum_event.cc"
STARTER = """\
#include "quorum_event.h"

// Counts.
Quorum::Quorum(int of) : of_(of) {}

// TODO: count each voter once.
void Quorum::VoteYes(int voter) { (void)voter; }
void Quorum::VoteNo(int voter) {
  (void)voter;
}

// TODO: the first that
// decides.
std::shared_ptr<Event> First(std::vector<Event> all,
                             int of) {
  return Ask([&] {
    return of;
  });
}
"""
WRITTEN = STARTER.replace("{ (void)voter; }", "{ Vote(voter); }")
ALL = "lab1: Quorum::VoteYes, Quorum::VoteNo and First are not written: lab2 is built on lab1"


@pytest.mark.parametrize("lab", LABS.by_id.values(), ids=LABS.by_id)
def test_starters_lack_every_lab_and_the_reference_lacks_none(lab: Lab) -> None:
    later = replace(lab, id="later", needs=(lab.id,), replaces=())
    starters, solved = (collect(KIT, LABS, tree, lab.id) for tree in (KIT.labs, KIT.reference))
    starting = unwritten.remarks(KIT, LABS, later, starters)
    needed = [each.id for each in LABS.closure(lab) if each.id not in lab.only_in_clusters]
    assert [remark.partition(":")[0] for remark in starting] == needed
    assert unwritten.remarks(KIT, LABS, later, solved) == []


@pytest.mark.parametrize(("lab_id", "begun"), [("lab3", 0), ("lab4", 1), ("lab6", 0), ("lab7", 1)])
def test_a_file_that_begins_as_a_copy_is_told(lab_id: str, begun: int) -> None:
    lab = LABS.get(lab_id)
    told = unwritten.copies(KIT, LABS, lab, collect(KIT, LABS, KIT.labs, lab_id))
    assert len(told) == begun
    assert all("in raft.cc, which begins as a copy of your lab2's" in remark for remark in told)
    assert unwritten.copies(KIT, LABS, lab, collect(KIT, LABS, KIT.reference, lab_id)) == []


@pytest.fixture
def starting(kit: Kit) -> Kit:
    """The fake checkout with a starter of lab 1."""
    source = kit.labs / "lab1-quorum-event" / "src" / "quorum_event.cc"
    source.parent.mkdir()
    source.write_text(STARTER)
    return kit


def remarks(kit: Kit, code: str, directory: str = "") -> list[str]:
    labs = load_labs(kit)
    lab = labs.get("lab2")
    files = {f"{directory}{STUBBED}": code.encode()}
    return unwritten.remarks(kit, labs, lab, Submission((lab,), files))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (STARTER, ALL),
        (STARTER.replace("// TODO", "// DONE").replace("\n  ", " /* yes */\n\t"), ALL),
        (WRITTEN, "lab1: Quorum::VoteNo and First are not written"),
        (WRITTEN.replace("{\n  (void)voter;", "{\n  Vote(-voter);"), "lab1: First is not written"),
    ],
)
def test_the_half_that_is_missing_is_named(starting: Kit, code: str, says: str) -> None:
    (told,) = remarks(starting, code)
    assert told.startswith(says)
    assert told.endswith("begin with ./kit test lab1")


def test_what_is_written_and_what_the_reference_has_is_not_told(starting: Kit) -> None:
    assert remarks(starting, "") == []
    assert remarks(starting, WRITTEN.replace("(void)voter;", "").replace("return of", "")) == []
    lab_yaml = starting.labs / "lab2-raft" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("base: submission", "base: reference"))
    assert remarks(starting, STARTER, "base/") == []


def test_a_students_kit_remembers_its_starters(starting: Kit) -> None:
    unwritten.save_stubs(starting)
    (starting.labs / STUBBED.replace("/", "/src/")).write_text(WRITTEN)
    assert len(remarks(starting, STARTER)) == 1
    assert "Quorum::VoteYes" not in remarks(starting, WRITTEN)[0]
    starting.stubs.write_text("{")
    with pytest.raises(CannotDo, match=r"cannot read .*stubs\.json"):
        remarks(starting, STARTER)


# --- The commands ---


@pytest.fixture
def mine(starting: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A submission of lab 2 that fails its test, with lab 1's starter."""
    programs = {name: {} for name in ("lab1_replica", "lab2_replica", "lab2_public_sim")}
    write_reply(starting, str(starting.root / "fake-compiler"), "-O2", programs)
    build_fakes(
        monkeypatch,
        "failslow.extras.shared.sims",
        lambda name: TEST_BINARY.format(tests=repr(SUITES[name.removesuffix("_sim")])),
    )
    tests = starting.labs / "lab2-raft" / "tests"
    tests.mkdir()
    (tests / "raft_test.cc").write_text('GRADED_TEST(Raft, Elects, "a", 1, "b") {}\n')
    tree = write_submission(tmp_path / "mine", "", "FAIL:Raft.Elects")
    (tree / STUBBED).write_text(STARTER)
    return tree


def test_the_first_line_of_a_test_names_them_and_failures_are_short(
    expect: Expect, mine: Path
) -> None:
    first, failure, count, hint = expect(1, "test", "lab2", mine).out.splitlines()
    assert first.startswith(ALL)
    assert "Raft.Elects" in failure
    assert count == "0 of 1 public tests passed"
    assert hint.startswith("First write the functions above.")


def test_a_failure_that_is_asked_for_is_whole(expect: Expect, mine: Path) -> None:
    shown = expect(1, "test", "lab2", "Raft.Elects", mine).out
    assert shown.startswith(ALL)
    assert "happened: 1 vote" in shown
    (mine / STUBBED).write_text("")
    assert "happened: 1 vote" in expect(1, "test", "lab2", mine).out


def test_a_grade_names_them_and_keeps_its_points(
    expect: Expect, mine: Path, tmp_path: Path
) -> None:
    def graded(says: bool) -> dict[str, object]:
        shown = expect(1, "grade", mine, "--lab", "lab2", "--out", tmp_path / "out").out
        results: dict[str, object] = json.loads((tmp_path / "out/results.json").read_text())
        assert (ALL in shown) == (ALL in str(results["output"])) == says
        return results

    told = graded(says=True)
    (mine / STUBBED).write_text("")
    written = graded(says=False)
    assert (told["score"], told["tests"]) == (written["score"], written["tests"])
