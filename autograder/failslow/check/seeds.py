"""The reference passes every test with other seeds than the one that grades, too.

A test whose worlds differ with the seed is a swarm: what chance finds in one of 200 worlds, a
student's submission may meet in the first.
"""

from dataclasses import dataclass

from failslow import console, gtest, parallel
from failslow.check.step import Context, Counts
from failslow.errors import CouldNotGrade
from failslow.gtest import GradedTest
from failslow.kit import Kit
from failslow.labs import load_labs

# Lab 2's swarms are 17 worlds each time: 204 in all.
SEEDS = range(2, 14)


@dataclass(frozen=True)
class _Run:
    test: GradedTest
    seed: int


def run(context: Context) -> Counts:
    kit = context.kit
    runs = []
    for lab in load_labs(kit).by_id.values():
        for suite in lab.suites:
            tests = gtest.list_graded(kit.binary(f"{suite}_sim"), suite)
            runs += [_Run(test, seed) for test in tests for seed in SEEDS]
    with console.progress("Testing the reference with other seeds") as advance:
        failures = parallel.run_all(
            runs, lambda each: _failure(kit, each), advance, lambda each: each.test.name
        )
    counts = Counts()
    for each, failure in zip(runs, failures, strict=True):
        counts.expect(not failure, f"{each.test.name} fails with --seed={each.seed}: {failure}")
    return counts


def _failure(kit: Kit, each: _Run) -> str:
    try:
        options = gtest.Options(seed=each.seed)
        outcome = gtest.run_test(kit.binary(f"{each.test.suite}_sim"), each.test.name, options)
    except CouldNotGrade as error:
        return f"{error}\n{error.detail}".rstrip()
    return "\n".join(outcome.failures)
