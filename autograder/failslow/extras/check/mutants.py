"""Do the tests still test? Every mutant is graded by the tests that it names, and the public
tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from failslow.base import console, parallel
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import given_code, gtest
from failslow.build.given_code import GivenMutant
from failslow.build.gtest import GradedTest
from failslow.build.recipe import load_recipe
from failslow.extras.check import sample
from failslow.extras.check.points_kept import Kept, kept_of
from failslow.extras.check.step import Context, Counts
from failslow.grade.model import Grade, Scope, TestRow
from failslow.grade.runner import grade
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import ALL, DETERMINISM, MEASUREMENT, Mutant, load_mutants, materialised
from failslow.lab.submission import collect

MUTANT_SEEDS = 1
AT_ONCE = ("reads", "linearizability")
"""Parts that come with others: a store's commands must not log what they read."""
FEW_ROWS = f"{MEASUREMENT}/3/cpu-slow"
"""Measured for a mutant that loses all rows."""


class Verdict(Enum):
    """The result for a mutant. One that is both SURVIVED and BROKE counts as SURVIVED."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    BROKE = "broke a test it must pass"
    NOT_GRADED = "not graded"


@dataclass(frozen=True)
class Judged:
    """`failed`: the ids of the rows that failed, in the order of the grade. `kept`: see `kept_of`;
    empty if it was not graded."""

    mutant: Mutant
    verdict: Verdict
    failed: tuple[str, ...]
    counts: Counts
    kept: tuple[Kept, ...] = ()


def run(context: Context) -> Counts:
    """Every mutant fails its `caught_by` and passes its `passes`. Every hidden test catches one.

    Without --full it grades a part of those that every hidden test and every row need."""
    counts = Counts()
    found = load_all(context.kit)
    chosen = found if context.full else sample.drawn(context.kit, enough(found))
    judged = judge_all(context, chosen)
    for each in judged:
        counts.add(each.counts)
    tests = all_tests(context.kit)
    counts.add(every_part_stands_alone(load_labs(context.kit), tests, found))
    if context.full:
        counts.add(every_hidden_test_catches(tests, judged))
    else:
        counts.add(every_hidden_test_is_named(tests, found))
        counts.remarks.append(f"{len(chosen)} of {len(found)} mutants; --full grades all")
    return counts


def load_all(kit: Kit) -> list[Mutant]:
    """Mutants of the reference, then those of given code."""
    return [*load_mutants(kit), *given_code.load_all(kit)]


def enough(mutants: Sequence[Mutant]) -> list[Mutant]:
    """A part of them, in their order, that names every test that all of them name.

    Those that name the fewest other tests come first: they show most exactly what a test is for."""
    named: set[tuple[str, str]] = set()
    chosen = []
    for mutant in sorted(mutants, key=lambda each: len(each.caught_by)):
        names = {(mutant.lab, name) for name in mutant.caught_by}
        if not names <= named or MEASUREMENT in mutant.caught_by:
            named |= names
            chosen.append(mutant)
    return [mutant for mutant in mutants if mutant in chosen]


def judge_all(context: Context, mutants: Sequence[Mutant]) -> list[Judged]:
    """In their order; CannotDo if there is none."""
    labs = load_labs(context.kit)
    tests = all_tests(context.kit)
    found = [in_full(mutant, tests) for mutant in mutants]
    if not found:
        raise CannotDo("there is no mutant")
    # Side by side: most mutants fail one test, and a second core would wait for it.
    with console.progress("Grading the mutants") as advance:
        return parallel.run_all(found, lambda mutant: _graded(context, labs, mutant), advance)


def _graded(context: Context, labs: Labs, mutant: Mutant) -> Judged:
    kit, scope = context.kit, scope_of(mutant, context.full)
    try:
        if isinstance(mutant, GivenMutant):
            submission = collect(kit, labs, kit.reference, mutant.lab)
            recipe = given_code.recipe_with(kit, mutant, load_recipe(kit))
            return judge(mutant, grade(kit, labs, submission, scope, recipe=recipe))
        with materialised(kit, labs, mutant) as tree:
            submission = collect(kit, labs, tree, mutant.lab)
            return judge(mutant, grade(kit, labs, submission, scope))
    except CannotDo as error:
        problem = f"mutant {mutant.name}: {error}\n{error.detail}".rstrip()
        return Judged(mutant, Verdict.NOT_GRADED, (), Counts(problems=[problem]))


def all_tests(kit: Kit) -> dict[str, list[GradedTest]]:
    """Every graded test, by the id of its lab."""
    return {
        lab.id: gtest.list_all({suite: kit.binary(f"{suite}_sealed") for suite in lab.suites})
        for lab in load_labs(kit).by_id.values()
    }


def in_full(mutant: Mutant, tests: Mapping[str, Sequence[GradedTest]]) -> Mutant:
    """`passes`: all tests that the mutant must pass, with those that its header need not name: the
    public ones of the suites that have no hidden test."""
    lab = tests.get(mutant.lab, ())
    with_hidden = {_suite(test) for test in lab if test.hidden}
    implied = [test.name for test in lab if _suite(test) not in with_hidden or ALL in mutant.passes]
    if ALL in mutant.may_fail:
        implied = []
    left_out = {ALL, *mutant.caught_by, *mutant.may_fail}
    passes = dict.fromkeys([*implied, *mutant.passes])
    return replace(mutant, passes=tuple(name for name in passes if name not in left_out))


def _suite(test: GradedTest) -> str:
    return test.name.partition(".")[0]


def every_hidden_test_catches(
    tests: Mapping[str, Sequence[GradedTest]], judged: Iterable[Judged]
) -> Counts:
    """A hidden test that no mutant fails may be one that cannot fail."""
    catching = {name for each in judged for name in each.mutant.caught_by if name in each.failed}
    counts = Counts()
    for test in [test for of_lab in tests.values() for test in of_lab if test.hidden]:
        counts.expect(test.name in catching, f"no mutant is caught by {test.name}")
    return counts


def every_hidden_test_is_named(
    tests: Mapping[str, Sequence[GradedTest]], found: Iterable[Mutant]
) -> Counts:
    """A hidden test that no mutant names may be one that cannot fail."""
    named = {(mutant.lab, name) for mutant in found for name in mutant.caught_by}
    counts = Counts()
    for lab, of_lab in tests.items():
        for test in [test for test in of_lab if test.hidden]:
            counts.expect((lab, test.name) in named, f"no mutant names {test.name}")
    return counts


def every_part_stands_alone(
    labs: Labs, tests: Mapping[str, Sequence[GradedTest]], found: Iterable[Mutant]
) -> Counts:
    """A student who has done a part sees its first public test pass before the next one does: some
    mutant passes the one, and is caught by the other. Linearizability is no step of its own."""
    counts = Counts()
    full = [in_full(mutant, tests) for mutant in found]
    for lab in labs.by_id.values():
        public = [test for test in tests[lab.id] if not test.hidden and test.part not in AT_ONCE]
        first = {test.part: test.name for test in reversed(public)}
        parts = [part.id for part in lab.parts if part.id in first]
        for part, then in pairwise(parts):
            done, next_one = first[part], first[then]
            shown = any(done in each.passes and next_one in each.caught_by for each in full)
            counts.expect(shown, f"no mutant passes {done} of {part} and is caught by {next_one}")
    return counts


def scope_of(mutant: Mutant, full: bool) -> Scope:
    """Only the named tests: a measurement that the mutant does not name would cost minutes. Every
    test may show that a mutant is not deterministic."""
    named = {*mutant.caught_by, *mutant.passes}
    rows = {
        FEW_ROWS if name == MEASUREMENT else name
        for name in named
        if name.split("/")[0] == MEASUREMENT
    }
    return Scope(
        tests=None if DETERMINISM in named else frozenset(named),
        measurement=bool(rows),
        determinism=DETERMINISM in named,
        prerequisites=False,
        rows=None if full else tuple(sorted(rows)),
        seeds=None if full else MUTANT_SEEDS,
        shrink=False,
        diagnosis=False,
    )


def judge(mutant: Mutant, graded: Grade) -> Judged:
    """One check per named id. MEASUREMENT stands for all its rows: all lost, or all passed."""
    caught = _caught(mutant, graded)
    caught.add(_says(mutant, graded))
    kept = kept_of(graded)
    caught.add(_keeps(mutant, kept))
    passes = Counts()
    for name in mutant.passes:
        rows = _named(graded, name)
        passed = bool(rows) and all(row.passed for row in rows)
        passes.expect(passed, f"mutant {mutant.name} does not pass {_known(name, rows)}")
    verdict = Verdict.CAUGHT
    if caught.failed:
        verdict = Verdict.SURVIVED
    elif passes.failed:
        verdict = Verdict.BROKE
    counts = Counts()
    counts.add(caught)
    counts.add(passes)
    return Judged(mutant, verdict, _failed(mutant, graded), counts, kept)


def _caught(mutant: Mutant, graded: Grade) -> Counts:
    counts = Counts()
    for name in mutant.caught_by:
        rows = _named(graded, name)
        caught = bool(rows) and not any(row.passed for row in rows)
        counts.expect(caught, f"mutant {mutant.name} is not caught by {_known(name, rows)}")
    return counts


def _says(mutant: Mutant, graded: Grade) -> Counts:
    """A mistake must be explained, not only caught."""
    failures = [row.detail for name in mutant.caught_by for row in _named(graded, name)]
    trips = () if mutant.trips is None else (f"{mutant.trips} violated",)
    counts = Counts()
    for text in (*trips, *mutant.says):
        said = any(text in failure for failure in failures)
        counts.expect(said, f"mutant {mutant.name}: no failure says '{text}'")
    return counts


def _keeps(mutant: Mutant, kept: Iterable[Kept]) -> Counts:
    """A bound on points that were not graded fails, too."""
    of = {each.of: each for each in kept}
    counts = Counts()
    for bound in mutant.keeps:
        found = of.get(bound.of)
        text = "points that were not graded" if found is None else str(found)
        within = found is not None and 100 * found.points <= bound.per_cent * found.of_points
        counts.expect(
            within,
            f"mutant {mutant.name} may keep {bound.per_cent} % of {bound.of}, and keeps {text}",
        )
    return counts


def _failed(mutant: Mutant, graded: Grade) -> tuple[str, ...]:
    """The named tests that failed: other rows of the same measurement do not count."""
    named = {
        row.test_id for name in (*mutant.caught_by, *mutant.passes) for row in _named(graded, name)
    }
    return tuple(row.test_id for row in graded.rows if not row.passed and row.test_id in named)


def _named(graded: Grade, name: str) -> list[TestRow]:
    of_all = f"{MEASUREMENT}/" if name == MEASUREMENT else None
    return [
        row
        for row in graded.rows
        if row.test_id == name or (of_all and row.test_id.startswith(of_all))
    ]


def _known(name: str, rows: list[TestRow]) -> str:
    return name if rows else f"{name}, which does not exist"
