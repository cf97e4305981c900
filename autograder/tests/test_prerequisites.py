"""Parts that need others: the tests that run, the tests that are skipped, and the reasons."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from failslow.base.errors import CannotDo
from failslow.build.gtest import GradedTest, Outcome
from failslow.grade import prerequisites
from failslow.lab.labs import Lab, Part


def a_test(name: str, part: str, hidden: bool = False) -> GradedTest:
    return GradedTest("suite", name, part, 1, f"Property of {name}.", hidden)


def lab(*parts: Part) -> Lab:
    return Lab("lab2", "Raft", "lab2-raft", "", (), (), "submission", (), (), parts)


ELECTS, APPENDS, RECOVERS = (
    a_test("A.Elects", "a"),
    a_test("B.Appends", "b"),
    a_test("C.Recovers", "c"),
)
OTHER = a_test("B.Other", "b")
TESTS = [RECOVERS, OTHER, APPENDS, ELECTS]
CHAIN = lab(
    Part("a", "", 1), Part("b", "", 2, ("A.Elects", "B.Appends")), Part("c", "", 1, ("B.Appends",))
)


class Runner:
    """Fails the given tests, and remembers the waves in which it was asked to run tests."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.waves: list[list[str]] = []

    def __call__(self, tests: Sequence[GradedTest]) -> list[Outcome]:
        self.waves.append([test.name for test in tests])
        return [Outcome(("no",) if test.name in self.failing else ()) for test in tests]

    @property
    def ran(self) -> set[str]:
        return {name for wave in self.waves for name in wave}


def test_everything_runs_when_what_is_needed_passes() -> None:
    runner = Runner("B.Other")
    outcomes = prerequisites.run(CHAIN, TESTS, runner)
    assert [outcome.passed for outcome in outcomes] == [True, False, True, True]
    assert {outcome.skipped_because for outcome in outcomes} == {""}
    assert runner.ran == {test.name for test in TESTS}


def test_one_root_cause_is_named_everywhere() -> None:
    runner = Runner("A.Elects")
    outcomes = prerequisites.run(CHAIN, TESTS, runner)
    # B.Appends is needed, so nothing of its own part is needed first.
    assert runner.ran == {"A.Elects", "B.Appends", "C.Recovers"}
    because = "Skipped because A.Elects fails: Property of A.Elects."
    assert outcomes[1].skipped_because == because
    assert not outcomes[3].skipped_because


@pytest.mark.parametrize("named", ["Rules", "Rules.Order"])
def test_suites_and_tests_that_stand_alone_are_never_skipped(named: str) -> None:
    rules = a_test("Rules.Order", "b")
    alone = replace(CHAIN, alone=(named,))
    outcomes = prerequisites.run(alone, [*TESTS, rules], Runner("A.Elects"))
    assert outcomes[1].skipped_because
    assert outcomes[-1].passed
    with pytest.raises(CannotDo, match=f"there is no suite or test '{named}'"):
        prerequisites.check(alone, TESTS)


def test_a_needed_test_without_a_verdict_is_no_cause() -> None:
    def run(tests: Sequence[GradedTest]) -> list[Outcome]:
        return [Outcome(("no",), no_verdict="the grading was interrupted") for _ in tests]

    outcomes = prerequisites.run(CHAIN, TESTS, run)
    assert {outcome.skipped_because for outcome in outcomes} == {""}


def test_a_skipped_test_passes_its_cause_on() -> None:
    parts = lab(Part("a", "", 1), Part("b", "", 2, ("A.Elects",)), Part("c", "", 1, ("B.Appends",)))
    outcomes = prerequisites.run(parts, TESTS, Runner("A.Elects"))
    assert {outcome.skipped_because for outcome in outcomes[:3]} == {
        "Skipped because A.Elects fails: Property of A.Elects."
    }


def test_a_hidden_test_is_not_named() -> None:
    hidden = a_test("A.Elects", "a", hidden=True)
    outcomes = prerequisites.run(CHAIN, [hidden, OTHER], Runner("A.Elects"))
    assert outcomes[1].skipped_because == (
        "Skipped because this does not hold: Property of A.Elects."
    )


def test_a_needed_test_out_of_scope_need_not_pass() -> None:
    runner = Runner()
    prerequisites.run(CHAIN, [OTHER], runner)
    assert runner.ran == {"B.Other"}


def test_a_circle_is_refused() -> None:
    circle = lab(Part("a", "", 1, ("B.Appends",)), Part("b", "", 1, ("A.Elects",)))
    with pytest.raises(CannotDo, match="need each other"):
        prerequisites.run(circle, [ELECTS, APPENDS], Runner())


def test_an_unknown_need_is_refused() -> None:
    with pytest.raises(CannotDo, match=r"needs the unknown test 'B\.Appends'"):
        prerequisites.check(CHAIN, [ELECTS])
