"""Failures of GoogleTest's assertions as sentences."""

import pytest

from failslow import assertions

PLACE = "labs/lab2-raft/tests/raft_test.cc:18\n"


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            "Value of: world.Commit(10)\n  Actual: false\nExpected: true\nit\ncommits nothing",
            "it\ncommits nothing",
        ),
        (
            "Value of: Holds()\n  Actual: false (a rule (4) is\nviolated)\nExpected: true\nround 3",
            "a rule (4) is\nviolated\nround 3",
        ),
        (
            "Expected: (leader) != (kNobody), actual: -1 vs -1\nno leader within 2 s",
            "no leader within 2 s",
        ),
        (
            "Expected: (world.WaitForElection(2s)) != (kNobody), actual: -1 vs -1\n",
            "There is no such replica: world.WaitForElection(2s) gave nobody in time.",
        ),
    ],
)
def test_a_sentence_stands_for_values_that_say_nothing(failure: str, sentence: str) -> None:
    assert assertions.in_a_sentence(f"{PLACE}{failure}") == f"{PLACE}{sentence}"


@pytest.mark.parametrize(
    "failure",
    [
        "Value of: world.Commit(10)\n  Actual: false\nExpected: true",
        "Expected: (term) > (2), actual: 2 vs 2\nthe term stands",
        "Expected equality of these values:\n  reply\n    Which is: 3\n  4",
        "Failed\nstep #2 goes wrong",
    ],
)
def test_values_that_tell_something_stay(failure: str) -> None:
    assert assertions.in_a_sentence(f"{PLACE}{failure}") == f"{PLACE}{failure}"


def test_a_failure_that_only_says_that_others_came_is_left_out() -> None:
    outer = (
        f"{PLACE}Expected: Fail(world) doesn't generate new fatal failures in the current"
        " thread.\n  Actual: it does."
    )
    inner = f"{PLACE}Failed\nstep #2 goes wrong"
    assert assertions.in_sentences([inner, outer]) == (inner,)
    assert assertions.in_sentences([outer]) == (outer,)
