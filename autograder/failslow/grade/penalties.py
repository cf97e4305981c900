"""Parts whose points are void: some root causes cost more than the tests that show them.

- A submission that is not deterministic voids every part: no result of it can be trusted.
- A violated safety invariant voids the part of the test that shows it, and the measured part. Fast
  answers are worth nothing when data may be lost, and a violation often makes them fast.

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
            void.setdefault(test.part, because)
            if lab.measurement:
                void.setdefault(lab.measurement.part, because)
    return void


def costs(lab: Lab, part_id: str, violated: str) -> str:
    """The cost of a test of the part that shows the violation of this invariant."""
    part, sentence = lab.part(part_id), f"This violates safety ('{violated}'), which costs all"
    if lab.measurement is None:
        return f"{sentence} {part.points} points of this part."
    measured = lab.part(lab.measurement.part)
    return (
        f"{sentence} {part.points} points of this part and the {measured.points} of"
        f" '{measured.title}'."
    )


def _because(test: GradedTest, violated: str) -> str:
    # A hidden test's name would reveal its scenario; a student sees only its property.
    shown = test.description if test.hidden else test.name
    return f"Scored 0: safety ('{violated}') is violated, see the test '{shown}'"
