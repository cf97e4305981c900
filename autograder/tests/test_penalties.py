"""The parts that a root cause makes void, and the sentences that name it."""

import re

from demands import some
from failslow.base.kit import this_kit
from failslow.build.gtest import GradedTest, Outcome
from failslow.grade import penalties
from failslow.lab.labs import Lab, Measured, Part, load_labs

PARTS = (Part("a", "The first", 1), Part("b", "", 2), Part("slow", "", 1))
MEASURED = Measured("slow-replica", "slow", "slow.yaml", ("leader", "follower"), ("follower",))
LAB = Lab("lab2", "Raft", "lab2-raft", "", (), (), "submission", (), (MEASURED,), PARTS)


def a_test(name: str, part: str, hidden: bool = False) -> GradedTest:
    return GradedTest("suite", name, part, 1, f"Property of {name}.", hidden)


TESTS = (a_test("A.One", "a"), a_test("B.One", "b", hidden=True), a_test("B.Two", "b"))
PASSED = Outcome(())


def violates(invariant: str, part: str = "") -> Outcome:
    return Outcome(("no",), violated=invariant, violated_part=part)


def test_a_violation_costs_the_part_whose_rules_it_breaks() -> None:
    outcomes = (PASSED, violates("one value", part="a"), PASSED)
    assert penalties.of_lab(LAB, TESTS, outcomes, differs="").keys() == {"a", "slow"}
    assert "costs the 1 of 'The first' and the 1 of" in penalties.costs(LAB, TESTS, outcomes)


def test_safety_is_charged_once_by_the_first_test_that_shows_it() -> None:
    outcomes = (violates("one vote per term"), violates("log matching"), violates("true answers"))
    void = penalties.of_lab(LAB, TESTS, outcomes, differs="")
    assert void.keys() == {"a", "slow"}
    assert set(void.values()) == {
        "Scored 0: safety ('one vote per term') is violated, see the test 'A.One'"
    }
    assert penalties.costs(LAB, TESTS, (PASSED,) * 3) == ""


def test_safety_costs_at_least_8_percent_of_each_lab_whatever_its_first_test() -> None:
    for lab in some(load_labs(this_kit()).by_id.values()):
        if lab.id == "lab1":  # of one process: nothing is acknowledged to anybody
            assert lab.measurement is None
            continue
        test = a_test("A.One", lab.parts[-2].id)
        void = penalties.of_lab(lab, [test], [violates("equal states")], differs="")
        lost = sum(lab.part(id).points for id in void)
        assert lost >= 0.08 * sum(part.points for part in lab.parts), lab.id


def test_each_property_of_safety_stands_on_the_page_about_grades() -> None:
    kit = this_kit()
    text = (kit.root / "labs/common/testkit/safety.cc").read_text()
    names = re.findall(r'"([a-z ]+)"', text.partition("kNames{")[2].partition("};")[0])
    page = (kit.root / "site/docs/grading.md").read_text()
    assert len(names) == 7
    assert [name for name in names if f"| {name} |" not in page] == []
