"""The reference must pass every test with other seeds than the graded one, too.

A swarm is a test whose worlds differ with the seed. A failure in one of 200 worlds is rare, but a
student's submission may meet it in its first run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from failslow import console, gtest, parallel
from failslow.check.step import Context, Counts
from failslow.errors import CannotDo, CouldNotGrade
from failslow.gtest import GradedTest, Outcome
from failslow.kit import Kit
from failslow.labs import load_labs

# Lab 2's swarms are 17 worlds each time: 204 in all.
SEEDS = range(2, 14)

# The swarms that check linearizability, and their seeds under --full.
LINEARIZABLE = ("KvChaos.ThreeReplicasStayLinearizable", "KvChaos.FiveReplicasStayLinearizable")
MANY_SEEDS = range(1, 2001)


@dataclass(frozen=True)
class _Run:
    test: GradedTest
    seed: int


def run(context: Context) -> Counts:
    """Every graded test, with a few seeds."""
    tests = _graded(context.kit)
    counts, _ = _run_all(context.kit, [_Run(test, seed) for test in tests for seed in SEEDS])
    return counts


def linearizable(context: Context) -> Counts:
    """The linearizability tests alone, with many seeds: violations may be rare."""
    tests = [test for test in _graded(context.kit) if test.name in LINEARIZABLE]
    if len(tests) < len(LINEARIZABLE):
        raise CannotDo(f"a linearizability test is missing: {', '.join(LINEARIZABLE)}")
    runs = [_Run(test, seed) for seed in MANY_SEEDS for test in tests]
    counts, operations = _run_all(context.kit, runs)
    counts.expect(operations > 0, "no operation of any history was checked")
    counts.remarks.append(
        f"{len(MANY_SEEDS)} seeds of {len(tests)} tests: {operations} operations were checked"
    )
    return counts


def _graded(kit: Kit) -> list[GradedTest]:
    suites = [suite for lab in load_labs(kit).by_id.values() for suite in lab.suites]
    return gtest.list_all({suite: kit.binary(f"{suite}_sim") for suite in suites})


def _run_all(kit: Kit, runs: Sequence[_Run]) -> tuple[Counts, int]:
    """One check for each run, and the total number of checked operations."""
    with console.progress("Testing the reference with other seeds") as advance:
        outcomes = parallel.run_all(
            runs, lambda each: _outcome(kit, each), advance, lambda each: each.test.name
        )
    counts = Counts()
    for each, outcome in zip(runs, outcomes, strict=True):
        failure = "\n".join(outcome.failures)
        counts.expect(not failure, f"{each.test.name} fails with --seed={each.seed}: {failure}")
    return counts, sum(outcome.operations for outcome in outcomes)


def _outcome(kit: Kit, each: _Run) -> Outcome:
    """A run without a verdict counts as a failure here, so that the other runs go on."""
    try:
        options = gtest.Options(seed=each.seed)
        return gtest.run_test(kit.binary(f"{each.test.suite}_sim"), each.test.name, options)
    except CouldNotGrade as error:
        return Outcome((f"{error}\n{error.detail}".rstrip(),))
