"""Parts that need others: one root cause is explained once.

A part may name tests without which its own tell nothing new (lab.yaml, parts/needs): a Raft that
elects nobody fails every test of replication, for a reason that one line has said already. When
such a test fails, the tests of the part are not run. They score 0 and say because of whom.
"""

from collections.abc import Callable, Mapping, Sequence

from failslow.errors import CannotDo
from failslow.gtest import GradedTest, Outcome
from failslow.labs import Lab, Part

RunAll = Callable[[Sequence[GradedTest]], Sequence[Outcome]]


def run(lab: Lab, tests: Sequence[GradedTest], run_all: RunAll) -> list[Outcome]:
    """Every test's outcome, in order. What is needed runs first; tests not given need not hold.

    CannotDo when parts need each other.
    """
    given = {test.name: test for test in tests}
    outcomes: dict[str, Outcome] = {}
    left = list(tests)
    while left:
        wave = [test for test in left if all(name in outcomes for name in _needs(lab, test, given))]
        if not wave:
            raise CannotDo(f"{lab.id}: parts of lab.yaml need each other")
        left = [test for test in left if test not in wave]
        runnable = []
        for test in wave:
            because = reason(lab.part(test.part), given, outcomes, but=test.name)
            if because:
                outcomes[test.name] = Outcome((because,), skipped_because=because)
            else:
                runnable.append(test)
        outcomes |= zip((test.name for test in runnable), run_all(runnable), strict=True)
    return [outcomes[test.name] for test in tests]


def reason(
    part: Part,
    tests: Mapping[str, GradedTest],
    outcomes: Mapping[str, Outcome],
    but: str | None = None,
) -> str:
    """Why the part's tests are skipped; empty if they are not. `but` is a test of the part."""
    if but in part.needs:
        return ""
    for name in part.needs:
        if name in outcomes and not outcomes[name].passed:
            return outcomes[name].skipped_because or _because(tests[name])
    return ""


def check(lab: Lab, tests: Sequence[GradedTest]) -> None:
    """CannotDo when lab.yaml needs a test that is not among all of the lab's tests."""
    names = {test.name for test in tests}
    for part in lab.parts:
        for name in part.needs:
            if name not in names:
                raise CannotDo(f"{lab.id}: part '{part.id}' needs the unknown test '{name}'")


def _needs(lab: Lab, test: GradedTest, given: Mapping[str, GradedTest]) -> list[str]:
    needs = lab.part(test.part).needs
    return [] if test.name in needs else [name for name in needs if name in given]


def _because(test: GradedTest) -> str:
    # A hidden test's name tells what it does; its property is all a student sees.
    who = "this does not hold" if test.hidden else f"{test.name} fails"
    return f"Skipped because {who}: {test.description}"
