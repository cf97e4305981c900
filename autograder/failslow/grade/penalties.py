"""Parts whose points are void: some root causes cost more than the tests that show them.

- A submission that is not deterministic voids every part: no result of it can be trusted.
- A violated safety invariant voids one part, and the measured part. Fast answers are worth nothing
  when data may be lost, and a violation often makes them fast. The part is that whose rule is
  broken, if the checker can tell, or that of the test that shows it.

A void part is not measured. Its passed tests score 0 and name the root cause.
"""

from collections.abc import Mapping, Sequence

from failslow.build.gtest import GradedTest, Outcome
from failslow.lab.labs import Lab

NOT_DETERMINISTIC = (
    "Scored 0: the submission is not deterministic, so no result of it can be trusted"
    " (see the test 'Determinism')."
)


def of_lab(
    lab: Lab,
    tests: Sequence[GradedTest],
    outcomes: Sequence[Outcome],
    differs: str,
) -> Mapping[str, str]:
    """The void parts, by id, with the sentence that names the cause.

    `differs`: how two equal runs differ, or "".
    """
    if differs:
        return {part.id: NOT_DETERMINISTIC for part in lab.parts}
    void: dict[str, str] = {}
    for test, outcome in zip(tests, outcomes, strict=True):
        if outcome.violated:
            because = _because(test, outcome.violated)
            void.setdefault(part_of(test, outcome), because)
            if lab.measurement:
                void.setdefault(lab.measurement.part, because)
    return void


def part_of(test: GradedTest, outcome: Outcome) -> str:
    """The id of the part that a violation voids."""
    return outcome.violated_part or test.part


def costs(lab: Lab, test: GradedTest, outcome: Outcome) -> str:
    """The cost of the safety invariant that the test has seen violated."""
    part = lab.part(part_of(test, outcome))
    sentence = f"This violates safety ('{outcome.violated}'), which costs all {part.points} points"
    where = "this part" if part.id == test.part else f"'{part.title}'"
    if lab.measurement is None:
        return f"{sentence} of {where}."
    measured = lab.part(lab.measurement.part)
    return f"{sentence} of {where} and the {measured.points} of '{measured.title}'."


def _because(test: GradedTest, violated: str) -> str:
    # A hidden test's name would reveal its scenario; a student sees only its property.
    shown = test.description if test.hidden else test.name
    return f"Scored 0: safety ('{violated}') is violated, see the test '{shown}'"
