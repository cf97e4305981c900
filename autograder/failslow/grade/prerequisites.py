"""Parts that need tests of other parts: one root cause is explained once.

A part may name tests that its own tests depend on (lab.yaml, parts/needs). For example, a log
that elects no leader fails every test of replication for the same reason. When a needed test
fails, the tests of the part are not run. They score 0 and name the needed test. Suites and tests
that stand alone (lab.yaml, alone) are run all the same: they call no other part.
"""

from collections.abc import Callable, Mapping, Sequence

from failslow.base.errors import CannotDo
from failslow.build.gtest import GradedTest, Outcome
from failslow.lab.labs import Lab, Part

RunAll = Callable[[Sequence[GradedTest]], Sequence[Outcome]]


def run(lab: Lab, tests: Sequence[GradedTest], run_all: RunAll) -> list[Outcome]:
    """Every test's outcome, in order. Needed tests run first; a needed test that is not among
    `tests` is ignored.

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
            if because and not _stands_alone(lab, test):
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
    """The reason for skipping the part's tests, or "" to run them. `but`: a test of the part."""
    if but in part.needs:
        return ""
    for name in part.needs:
        outcome = outcomes.get(name)
        # Without a verdict on the needed test there is no cause to name.
        if outcome and not outcome.passed and not outcome.no_verdict:
            return outcome.skipped_because or _because(tests[name])
    return ""


def check(lab: Lab, tests: Sequence[GradedTest]) -> None:
    """CannotDo when lab.yaml names a test or a suite that is not among all of the lab's tests."""
    names = {test.name for test in tests}
    for each in lab.alone:
        if each not in names and not any(name.startswith(f"{each}.") for name in names):
            raise CannotDo(f"{lab.id}: alone: there is no suite or test '{each}'")
    for part in lab.parts:
        for name in part.needs:
            if name not in names:
                raise CannotDo(f"{lab.id}: part '{part.id}' needs the unknown test '{name}'")


def _needs(lab: Lab, test: GradedTest, given: Mapping[str, GradedTest]) -> list[str]:
    needs = lab.part(test.part).needs
    if test.name in needs or _stands_alone(lab, test):
        return []
    return [name for name in needs if name in given]


def _stands_alone(lab: Lab, test: GradedTest) -> bool:
    return test.name in lab.alone or test.name.partition(".")[0] in lab.alone


def _because(test: GradedTest) -> str:
    # A hidden test's name would reveal its scenario; a student sees only its property.
    cause = "this does not hold" if test.hidden else f"{test.name} fails"
    return f"Skipped because {cause}: {test.description}"
