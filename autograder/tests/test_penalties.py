"""The parts that a root cause makes void, and the sentences that name it."""

from failslow.build.gtest import GradedTest, Outcome
from failslow.grade import penalties
from failslow.lab.labs import Lab, Measured, Part

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
    outcome = violates("one value", part="a")
    void = penalties.of_lab(LAB, TESTS, (PASSED, outcome, PASSED), differs="")
    assert void.keys() == {"a", "slow"}
    assert "costs all 1 points of 'The first' and" in penalties.costs(LAB, TESTS[1], outcome)


def test_each_part_names_its_first_cause() -> None:
    outcomes = (violates("durability"), violates("log matching"), violates("true answers"))
    void = penalties.of_lab(LAB, TESTS, outcomes, differs="")
    assert "'durability'" in void["a"]
    assert "'log matching'" in void["b"]
    assert "'durability'" in void["slow"]
