"""Failures of GoogleTest's assertions as sentences."""

import pytest

from failslow.build import assertions

PLACE = "labs/lab2-raft/tests/raft_test.cc:18\n"


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            "Value of: world.Commit(10)\n  Actual: false\nExpected: true\nit\ncommits nothing",
            "it\ncommits nothing\n  world.Commit(10) is false.",
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
        (
            "Expected: (leader) != (kNobody), actual: -1 vs -1\n"
            "Google Test trace:\nx.cc:3: round 2",
            "There is no such replica: leader gave nobody in time.\n"
            "Google Test trace:\nx.cc:3: round 2",
        ),
        (
            "Value of: world.Holds()\n  Actual: true\nExpected: false\n",
            "world.Holds() is true.",
        ),
        (
            "Value of: RunUntil([&] { return ended; }, 2s)\n  Actual: false\nExpected: true\nit"
            " does not end\nGoogle Test trace:\nx.cc:3: round 2",
            "it does not end\nGoogle Test trace:\nx.cc:3: round 2",
        ),
        (f"Failed\n{'1' * 5000}ns", f"{'1' * 5000}ns"),
        ("Failed\nstep #2 goes wrong\nhere", "step #2 goes wrong\nhere"),
    ],
)
def test_a_sentence_stands_for_values_that_say_nothing(failure: str, sentence: str) -> None:
    assert assertions.in_a_sentence(f"{PLACE}{failure}") == f"{PLACE}{sentence}"


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            "Expected: (term) > (2), actual: 2 vs 2\nthe term stands",
            "the term stands\n  term is 2, and must be more than 2.",
        ),
        (
            "Expected equality of these values:\n  reply\n    Which is: 3\n  4\n",
            "reply is 3, and must be 4.",
        ),
        (
            "Expected equality of these values:\n  Leader()\n    Which is: -1\n  leader\n"
            "    Which is: 1\nit gave up\nGoogle Test trace:\nx.cc:3: round 2",
            "it gave up\n  Leader() is -1, and must be 1 (leader).\n"
            "Google Test trace:\nx.cc:3: round 2",
        ),
        (
            'Expected equality of these values:\n  Do("GET x")\n    Which is: "a"\n'
            '  Reply::String("b")\n    Which is: "b"\n',
            'Do("GET x") is "a", and must be "b".',
        ),
        (
            "Expected: (waited) <= (kMax + 5ms), actual: 2500000000ns vs 1005000000ns\n",
            "waited is 2.5 s, and must be at most 1.005 s (kMax + 5ms).",
        ),
        (
            "Expected: (waited) < (kMax), actual: 1500ns vs 999ns\n",
            "waited is 1.5 us, and must be less than 999 ns (kMax).",
        ),
        (
            "Expected: (slowest) < (50ms), actual: 9223372036854775807ns vs 50ms\n",
            "slowest is for ever, and must be less than 50ms.",
        ),
        (
            "Expected: (role) != (Role::kLeader), actual: 4-byte object <02-00 00-00> vs 4-byte"
            " object <02-00 00-00>\n",
            "role must be other than Role::kLeader.",
        ),
        (
            "Expected equality of these values:\n  Leader()\n    Which is: 2\n  kNobody\n"
            "    Which is: -1\n",
            "Leader() is 2, and must be nobody.",
        ),
        (
            "Expected equality of these values:\n  yes\n    Which is: 2\n  Count(yes)\n"
            "    Which is: 3\n",
            "yes is 2, and must be 3.",
        ),
        ("Expected: (3) >= (voters), actual: 3 vs 5\n", "3 must be at least 5 (voters)."),
    ],
)
def test_values_that_tell_something_stand_below_the_words_of_the_test(
    failure: str, sentence: str
) -> None:
    assert assertions.in_a_sentence(f"{PLACE}{failure}") == f"{PLACE}{sentence}"


@pytest.mark.parametrize(
    "failure",
    [
        "replica 1 restarts",
        'C++ exception with description "stoi" thrown in the test body.',
        "Expected equality of these values:\n  a\n    Which is: 1\n2\n",
        "an exception was thrown: labs/x.cc:3\nValue of: it",
    ],
)
def test_other_words_stay(failure: str) -> None:
    assert assertions.in_a_sentence(f"{PLACE}{failure}") == f"{PLACE}{failure}"
    assert assertions.in_a_sentence(failure) == failure


def test_a_failure_that_only_says_that_others_came_is_left_out() -> None:
    outer = (
        f"{PLACE}Expected: Fail(world) doesn't generate new fatal failures in the current"
        " thread.\n  Actual: it does."
    )
    inner = f"{PLACE}Failed\nstep #2 goes wrong"
    assert assertions.in_sentences([inner, outer]) == (f"{PLACE}step #2 goes wrong",)
    assert assertions.in_sentences([outer]) == (outer,)


def test_a_pointer_to_a_later_failure_is_left_out() -> None:
    asked = f"{PLACE}Value of: Holds()\n  Actual: false ({assertions.ELSEWHERE})\nExpected: true"
    assert assertions.in_sentences([asked, "why"]) == ("why",)
    trace = "\nGoogle Test trace:\nin the middle"
    assert assertions.in_sentences([asked + trace, "why" + trace]) == ("why" + trace,)
    assert assertions.in_sentences([f"{asked}\nround 3", "why"]) == (
        f"{PLACE}{assertions.ELSEWHERE}\nround 3",
        "why",
    )
