"""Failures that are violated invariants."""

import pytest

from failslow.build.assertions import ELSEWHERE
from failslow.grade import violations

VIOLATED = (
    "x.cc:3\nlog matching violated at 0.1 s: replica 1 has another (rule 1)\nGoogle Test trace"
)
OTHER = "true answers violated at 12.25 s: replica 1 answers (kCommitted)"


@pytest.mark.parametrize(
    ("failures", "names"),
    [
        ((VIOLATED,), ("log matching",)),
        ((VIOLATED, OTHER, VIOLATED), ("log matching", "true answers")),
        ((f"x.cc:9\n{ELSEWHERE}\nround 3", OTHER), ("true answers",)),
        ((VIOLATED, "x.cc:9\nonly 3 commands were applied"), ()),
        (("replica 1 died",), ()),
        ((), ()),
    ],
)
def test_the_names_of_invariants_that_alone_are_violated(
    failures: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert violations.invariants_alone(failures) == names
