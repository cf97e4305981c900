"""The runs that questions are about: public tests, with seeds of the submission's own."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base.console import Advance
from failslow.build.gtest import GradedTest, Options, Outcome
from failslow.extras.replay import html_report, one_test
from failslow.extras.replay.recording import World
from failslow.extras.shared.sims import Sims
from failslow.lab.shown import Shown
from failslow.lab.submission import Submission

TESTS_MAX = 20
"""Tests that run: one of each part, then others."""

SEED_MAX = 999_999


@dataclass(frozen=True)
class Run:
    """One cluster of a test that has run. `page`: its replay."""

    test: GradedTest
    outcome: Outcome
    world: World
    shows: Sequence[Shown] = ()
    page: str = ""


def chance_of(submission: Submission, number: int) -> random.Random:
    """Follows from the listed files and the number of a set: no two submissions have equal runs."""
    return random.Random(f"{submission.digest} {number}")


def record(sims: Sims, chance: random.Random, scratch: Path, advance: Advance) -> Iterator[Run]:
    """Runs tests in the order of the parts, each part's by chance. A test counts if it has one
    cluster, which the replay's page draws whole."""
    tests = _chosen([test for test in sims.tests() if test.part and not test.hidden], chance)
    view = sims.lab.cluster
    shows, lanes = (view.shows, view.lanes) if view else ((), None)
    for number, test in enumerate(tests, start=1):
        place = scratch / str(number)
        outcome = sims.run(test, Options(seed=chance.randint(1, SEED_MAX), record=place))
        worlds = one_test.worlds_of(sims, outcome, place)
        if len(worlds) == 1 and len(worlds[0].messages) <= html_report.MESSAGES_MAX:
            subject = one_test.subject_of(sims, test, outcome)
            page = html_report.document(subject, worlds, shows, lanes)
            yield Run(test, outcome, worlds[0], shows, page)
        advance(number, len(tests), test.name)


def _chosen(tests: Sequence[GradedTest], chance: random.Random) -> list[GradedTest]:
    shuffled = chance.sample([*tests], len(tests))
    first = {test.part: test for test in reversed(shuffled)}.values()
    others = [test for test in shuffled if test not in first]
    return [*sorted(first, key=lambda test: test.part), *others][:TESTS_MAX]
