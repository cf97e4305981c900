"""The reference must pass every test with other seeds than the graded one, and so must every
alternative.

A swarm is a test whose worlds differ with the seed. A failure in one of 200 worlds is rare, but a
student's submission may meet it in its first run.
"""

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base import console, parallel
from failslow.base.errors import CannotDo, CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import gtest
from failslow.build.compile import build_submission
from failslow.build.gtest import GradedTest, Outcome
from failslow.build.recipe import load_recipe
from failslow.extras import lab_kits
from failslow.extras.check import sample
from failslow.extras.check.step import Context, Counts
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import Alternative, load_alternatives, materialised
from failslow.lab.submission import collect

_COURSE = CourseKey(b"failslow labs: key of the check 1")


def _of_a_course(count: int, first: int = 0) -> tuple[int, ...]:
    """Seeds of 63 bits, as a course draws them: small ones meet less than courses do."""
    return tuple(course_key.seed(_COURSE, "check", first + index) for index in range(count))


SITUATION_SEEDS = _of_a_course(3, first=6)
"""For tests that count situations. Lab 2's swarms are 17 worlds each time: 51 in all. These have
every situation."""

NEW_SEEDS = 10
"""New ones after each change of C++: a fixed list would find each rare failure once, or never."""

NEW_SEEDS_MIN = 3
"""Those of a test that takes longer than LONG_S, so that the step takes about a minute."""

LONG_S = 0.3

QUICK_SEED = 1
"""The seed of `kit check --quick`."""

# Under --full, of the reference and of each alternative.
FULL_SEEDS = _of_a_course(50)

MANY_SEEDS = range(1, 2001)
"""Under --full, of what a lab's kit names."""

SCOPE_TIMEOUT_S = 1800
"""The limit of time is for a slow machine."""


@dataclass(frozen=True)
class _Run:
    """`replica`: the sealed program of `subject`; None for the reference, in simulation."""

    test: GradedTest
    seed: int
    subject: str = "the reference"
    replica: Path | None = None


def run(context: Context) -> Counts:
    """Every graded test with new seeds, or FULL_SEEDS under --full. One check more for each
    situation of a suite."""
    tests = _graded(context.kit)
    took: dict[str, float] = {test.name: 0.0 for test in tests}
    seeds = FULL_SEEDS if context.full else sample.drawn_seeds(context.kit, NEW_SEEDS)
    runs = [_Run(test, seed) for test in tests for seed in seeds[:NEW_SEEDS_MIN]]
    counts, outcomes = _run_all(context.kit, runs, took)
    swarms = {run.test for run, seen in zip(runs, outcomes, strict=True) if seen.situations}
    more = [_Run(test, seed) for test in tests if test in swarms for seed in SITUATION_SEEDS]
    for test in tests:
        if context.full or took[test.name] < NEW_SEEDS_MIN * LONG_S:
            more += [_Run(test, seed) for seed in seeds[NEW_SEEDS_MIN:]]
    others, other_outcomes = _run_all(context.kit, more)
    counts.add(others)
    worlds_by_situation = _worlds_by_situation([*runs, *more], [*outcomes, *other_outcomes])
    for (suite, situation), worlds in worlds_by_situation.items():
        counts.expect(worlds > 0, f"no world of {suite} has {situation}, with any seed")
        counts.remarks.append(f"{suite}: {situation}: {worlds} worlds")
    return counts


def quick(context: Context) -> Counts:
    """Every graded test, with QUICK_SEED. A situation may be rare, so none is asked for."""
    counts, _ = _run_all(context.kit, [_Run(test, QUICK_SEED) for test in _graded(context.kit)])
    return counts


def _worlds_by_situation(
    runs: Sequence[_Run], outcomes: Sequence[Outcome]
) -> Counter[tuple[str, str]]:
    """The number of worlds by suite and situation, summed over tests and seeds."""
    worlds: Counter[tuple[str, str]] = Counter()
    for each, outcome in zip(runs, outcomes, strict=True):
        worlds.update({(each.test.suite, name): count for name, count in outcome.situations})
    return worlds


def alternatives(context: Context) -> Counts:
    """Every graded test of an alternative's lab, with more seeds."""
    labs = load_labs(context.kit)
    found = load_alternatives(context.kit)
    runs = [run for each in found for run in _runs_of(context.kit, labs, each)]
    counts, _ = _run_all(context.kit, runs)
    return counts


def _runs_of(kit: Kit, labs: Labs, alternative: Alternative) -> list[_Run]:
    lab = labs.get(alternative.lab)
    recipe = load_recipe(kit)
    with materialised(kit, labs, alternative) as tree:
        submission = collect(kit, labs, tree, lab.id)
    programs = build_submission(kit, labs, submission, recipe, [recipe.replica(lab)])
    replica = programs / f"{lab.id}_replica"
    tests = gtest.list_all({suite: kit.binary(f"{suite}_sealed") for suite in lab.suites})
    subject = f"alternative {alternative.name}"
    return [_Run(test, seed, subject, replica) for seed in FULL_SEEDS for test in tests]


def many(context: Context) -> Counts:
    """The tests that labs name in their kits, with MANY_SEEDS: violations may be rare."""
    counts = Counts()
    wanted: list[str] = []
    for _, module in lab_kits.every(context.kit):
        wanted += getattr(module, "MANY_SEEDS", ())
        if own := getattr(module, "many_seeds", None):
            for problem in own(context.kit, MANY_SEEDS):
                counts.expect(not problem, problem)
        for test, deviations in getattr(module, "DEEP_SCOPES", {}).items():
            counts.add(_scope(context.kit, test, deviations))
    counts.add(_many_of(context.kit, wanted))
    return counts


def _scope(kit: Kit, name: str, deviations: int) -> Counts:
    """Every schedule of a graded test with more deviations than a grade allows, once."""
    (test,) = (each for each in _graded(kit) if each.name == name)
    options = gtest.Options(bound=deviations, timeout_s=SCOPE_TIMEOUT_S)
    outcome = gtest.run_test(kit.binary(f"{test.suite}_sim"), name, options)
    counts = Counts()
    failures = "\n".join(outcome.failures)
    counts.expect(not failures, f"{name} fails with {deviations} deviations: {failures}")
    explored = json.loads(outcome.explored)
    counts.expect(explored["complete"], f"{name} ends before all schedules have run")
    counts.remarks.append(f"{name}: {sum(explored['runs'])} schedules")
    return counts


def _many_of(kit: Kit, wanted: Sequence[str]) -> Counts:
    """Graded tests that check histories."""
    tests = [test for test in _graded(kit) if test.name in wanted]
    if len(tests) < len(wanted):
        raise CannotDo(f"a test that needs many seeds is missing: {', '.join(wanted)}")
    runs = [_Run(test, seed) for seed in MANY_SEEDS for test in tests]
    counts, outcomes = _run_all(kit, runs)
    operations = sum(outcome.operations for outcome in outcomes)
    counts.expect(operations > 0, "no operation of any history was checked")
    counts.remarks.append(
        f"{len(MANY_SEEDS)} seeds of {len(tests)} tests: {operations} operations were checked"
    )
    return counts


def _graded(kit: Kit) -> list[GradedTest]:
    suites = [suite for lab in load_labs(kit).by_id.values() for suite in lab.suites]
    return gtest.list_all({suite: kit.binary(f"{suite}_sim") for suite in suites})


def _run_all(
    kit: Kit, runs: Sequence[_Run], took: dict[str, float] | None = None
) -> tuple[Counts, list[Outcome]]:
    """One check for each run, and the outcomes in their order. Adds the seconds of each test to
    `took`."""
    with console.progress("Testing with other seeds") as advance:
        results = parallel.run_all(
            runs, lambda each: _outcome(kit, each), advance, lambda each: each.test.name
        )
    counts = Counts()
    for each, (outcome, seconds) in zip(runs, results, strict=True):
        failure = "\n".join(outcome.failures)
        said = f"{each.test.name} of {each.subject} fails with --seed={each.seed}: {failure}"
        counts.expect(not failure, said)
        if took is not None:
            took[each.test.name] += seconds
    return counts, [outcome for outcome, _ in results]


def _outcome(kit: Kit, each: _Run) -> tuple[Outcome, float]:
    """With its seconds. A run without a verdict counts as a failure here, so that the other runs go
    on."""
    began = time.monotonic()
    try:
        kind = "sealed" if each.replica else "sim"
        options = gtest.Options(replica=each.replica, seed=each.seed)
        binary = kit.binary(f"{each.test.suite}_{kind}")
        outcome = gtest.run_test(binary, each.test.name, options)
    except CouldNotGrade as error:
        outcome = Outcome((f"{error}\n{error.detail}".rstrip(),))
    return outcome, time.monotonic() - began
