"""Parts whose points are void: some root causes cost more than the tests that show them.

- A submission that is not deterministic voids every part: no result of it can be trusted.
- Broken safety voids one part and the measured part, once for each lab, whichever tests show it: by
  a checker's invariant, or by an assertion (labs/common/testkit/safety.h). Fast answers are worth
  nothing when data may be lost, and a violation often makes them fast. The part is that whose rule
  is broken, if the checker can tell, or that of the first test that shows it. The other parts lose
  the tests that fail.

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
    found = _first(tests, outcomes)
    if found is None:
        return {}
    return dict.fromkeys(_parts(lab, *found), _because(*found))


def costs(lab: Lab, tests: Sequence[GradedTest], outcomes: Sequence[Outcome]) -> str:
    """The cost of broken safety, or "": the report has it once, at the first test that shows it."""
    found = _first(tests, outcomes)
    if found is None:
        return ""
    test, outcome = found
    parts = [lab.part(id) for id in _parts(lab, test, outcome)]
    of_parts = [f"the {part.points} of '{part.title}'" for part in parts]
    if parts[0].id == test.part:
        of_parts[0] = f"all {parts[0].points} points of this part"
    return f"This violates safety ('{outcome.violated}'), which costs {' and '.join(of_parts)}."


def _first(
    tests: Sequence[GradedTest], outcomes: Sequence[Outcome]
) -> tuple[GradedTest, Outcome] | None:
    """The first test that shows safety broken. One mistake breaks it in many tests."""
    pairs = zip(tests, outcomes, strict=True)
    return next((pair for pair in pairs if pair[1].violated), None)


def _parts(lab: Lab, test: GradedTest, outcome: Outcome) -> list[str]:
    """The ids of the parts that this outcome voids, the broken rule's first."""
    measured = [lab.measurement.part] if lab.measurement else []
    return list(dict.fromkeys([outcome.violated_part or test.part, *measured]))


def _because(test: GradedTest, outcome: Outcome) -> str:
    # A hidden test's name would reveal its scenario; a student sees only its property.
    shown = test.description if test.hidden else test.name
    return f"Scored 0: safety ('{outcome.violated}') is violated, see the test '{shown}'"
