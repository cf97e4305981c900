"""Failures that are violated invariants (framework/testkit/violation.h), as a grade tells them.

An invariant that breaks in one test breaks in most. So a grade tells once what it costs, and refers
to the first test that shows it.
"""

import re
from collections.abc import Sequence

from failslow.build.assertions import ELSEWHERE, without_place
from failslow.build.gtest import GradedTest, Outcome

_NAME = re.compile(r"(?P<name>[^\n]+?) violated at \d+\.\d+ s: ")


def invariants_alone(failures: Sequence[str]) -> tuple[str, ...]:
    """Each violated invariant's name, once, if the test complains of nothing else; or ()."""
    texts = [without_place(failure) for failure in failures]
    found = [_NAME.match(text) for text in texts if not text.startswith(ELSEWHERE)]
    names = [each["name"] for each in found if each]
    return tuple(dict.fromkeys(names)) if len(names) == len(found) else ()


class Reported:
    """The violations that the rows of one lab have named so far. `costs`: of broken safety."""

    def __init__(self, costs: str = "") -> None:
        self._shown_by: dict[tuple[str, ...], str] = {}
        self._costs = f"{costs}\n" if costs else ""

    def once(self, test: GradedTest, outcome: Outcome) -> tuple[str, str]:
        """The failure and the costs as the test's row has them: "" for costs that were told."""
        shown = self._costs if outcome.violated else ""
        self._costs = "" if shown else self._costs
        failure = "\n\n".join(outcome.failures)
        names = invariants_alone(outcome.failures)
        if test.hidden or not names:
            return failure, shown
        first = self._shown_by.setdefault(names, test.name)
        if first != test.name:
            failure = f"Violated as in {first}: {', '.join(names)}."
        return failure, shown
