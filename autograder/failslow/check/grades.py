"""Does the grader still grade? The reference, the starter, every alternative and mutant."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from failslow import console, gtest, parallel, results
from failslow.check.step import Context, Counts
from failslow.compile import build_submission, load_recipe
from failslow.errors import CannotDo
from failslow.grading import SLOW_FOLLOWER, Grade, Scope, TestRow, grade
from failslow.gtest import GradedTest
from failslow.labs import Labs, load_labs
from failslow.mutants import (
    DETERMINISM,
    MEASUREMENT,
    Alternative,
    Mutant,
    Patched,
    load_alternatives,
    load_mutants,
    materialised,
)
from failslow.submission import collect

FULL_SEEDS = 30
SECOND_SEEDS = 3
MUTANT_SEEDS = 3
STARTER_SHARE_MAX = 0.05


def reference(context: Context) -> Counts:
    """Full marks, and a second grade that is identical.

    The second measurement uses fewer seeds (all under --full): its trace hashes must be those
    of the first, so its scores would be too.
    """
    labs = load_labs(context.kit)
    seeds = FULL_SEEDS if context.full else None
    first = _grade(context, labs, context.kit.reference, Scope(seeds=seeds))
    counts = Counts()
    for row in first.rows:
        counts.expect(_full(row), f"the reference loses '{row.title}': {row.output}\n{row.detail}")
    results.document(first, 0.0)
    fewer = FULL_SEEDS if context.full else SECOND_SEEDS
    second = _grade(context, labs, context.kit.reference, Scope(seeds=fewer))
    counts.add(compare(first, second))
    return counts


def compare(first: Grade, second: Grade) -> Counts:
    """One check per test and per measured run that both grades have; there must be some.

    A measured row's score is a median over its seeds: grades of different seeds share the runs.
    """
    counts = Counts()
    for ours, theirs in zip(first.rows, second.rows, strict=True):
        if ours.part == SLOW_FOLLOWER:
            continue
        same = (ours.score, ours.trace_hash) == (theirs.score, theirs.trace_hash)
        counts.expect(same, f"'{ours.title}' differs between two grades of the reference")
    hashes = _hashes(first)
    for run, value in _hashes(second).items():
        counts.expect(hashes.get(run) == value, f"trace hash of {run} differs between two grades")
    return counts


def starter(context: Context) -> Counts:
    """A student who writes nothing gets about nothing."""
    graded = _grade(context, load_labs(context.kit), context.kit.labs, Scope(seeds=1))
    counts = Counts()
    for lab in graded.labs:
        limit = STARTER_SHARE_MAX * lab.max_score
        counts.expect(
            lab.score <= limit,
            f"the starter of {lab.lab.id} scores {lab.score:g}, over {limit:g}: "
            + ", ".join(row.title for row in lab.rows if row.score),
        )
    return counts


def alternatives(context: Context) -> Counts:
    """A correct solution of another shape than the reference gets full marks, too."""
    labs = load_labs(context.kit)
    found = load_alternatives(context.kit)
    if not found:
        raise CannotDo("there is no alternative")
    scope = Scope(seeds=None if context.full else SECOND_SEEDS)
    counts = Counts()
    for each in found:
        with materialised(context.kit, labs, each) as tree:
            graded = _grade(context, labs, tree, scope, each.lab)
        counts.add(judge_alternative(each, graded))
    return counts


def judge_alternative(alternative: Alternative, graded: Grade) -> Counts:
    """Full marks."""
    counts = Counts()
    for row in graded.rows:
        lost = f"alternative {alternative.name} loses '{row.title}': {row.output}\n{row.detail}"
        counts.expect(_full(row), lost)
    return counts


def mutants(context: Context) -> Counts:
    """Every mutant is caught by what it names, and passes what it names. Every hidden test catches
    one."""
    labs = load_labs(context.kit)
    found = load_mutants(context.kit)
    if not found:
        raise CannotDo("there is no mutant")
    _build_side_by_side(context, labs, found)
    counts = Counts()
    for mutant in found:
        try:
            counts.add(_mutant(context, labs, mutant))
        except CannotDo as error:
            counts.problems.append(f"mutant {mutant.name}: {error}\n{error.detail}".rstrip())
    for lab in labs.by_id.values():
        for suite in lab.suites:
            tests = gtest.list_graded(context.kit.binary(f"{suite}_sealed"), suite)
            counts.add(every_hidden_test_catches(tests, found))
    return counts


def every_hidden_test_catches(tests: Sequence[GradedTest], found: Sequence[Mutant]) -> Counts:
    """A hidden test that no mutant fails may be one that cannot fail."""
    catching = {name for mutant in found for name in mutant.caught_by}
    counts = Counts()
    for test in tests:
        if test.hidden:
            counts.expect(test.name in catching, f"no mutant is caught by {test.name}")
    return counts


def _build_side_by_side(context: Context, labs: Labs, found: Sequence[Patched]) -> None:
    """Compiling is what takes long: one mutant per core. One that does not compile or apply is
    reported when its turn to be graded comes."""
    recipe = load_recipe(context.kit)

    def build(mutant: Patched) -> None:
        with suppress(CannotDo), materialised(context.kit, labs, mutant) as tree:
            submission = collect(context.kit, labs, tree, mutant.lab)
            targets = [recipe.replica(lab) for lab in submission.labs]
            build_submission(context.kit, labs, submission, recipe, targets, alone=False)

    with console.progress("Compiling the mutants") as advance:
        parallel.run_all(found, build, advance, lambda mutant: mutant.name)


def _mutant(context: Context, labs: Labs, mutant: Mutant) -> Counts:
    with materialised(context.kit, labs, mutant) as tree:
        graded = _grade(context, labs, tree, scope_of(mutant, context.full), mutant.lab)
    return judge_mutant(mutant, graded)


def scope_of(mutant: Mutant, full: bool) -> Scope:
    """Only what the mutant names: a measurement that says nothing about it would cost minutes."""
    named = {*mutant.caught_by, *mutant.passes}
    return Scope(
        tests=frozenset(named),
        measurement=any(name.split("/")[0] == MEASUREMENT for name in named),
        determinism=DETERMINISM in named,
        gates=False,
        seeds=None if full else MUTANT_SEEDS,
    )


def judge_mutant(mutant: Mutant, graded: Grade) -> Counts:
    """One check per named id. MEASUREMENT stands for all its rows: all lost, or all passed."""
    counts = Counts()
    for name in mutant.caught_by:
        rows = _named(graded, name)
        caught = bool(rows) and not any(row.passed for row in rows)
        counts.expect(caught, f"mutant {mutant.name} is not caught by {_known(name, rows)}")
    for name in mutant.passes:
        rows = _named(graded, name)
        passed = bool(rows) and all(row.passed for row in rows)
        counts.expect(passed, f"mutant {mutant.name} does not pass {_known(name, rows)}")
    if mutant.trips is not None:
        failures = [row.detail for name in mutant.caught_by for row in _named(graded, name)]
        trips = any(f"{mutant.trips} violated" in failure for failure in failures)
        counts.expect(trips, f"mutant {mutant.name}: no failure says '{mutant.trips} violated'")
    return counts


def _named(graded: Grade, name: str) -> list[TestRow]:
    return [row for row in graded.rows if row.test_id == name or _is_measured(row, name)]


def _is_measured(row: TestRow, name: str) -> bool:
    return name == MEASUREMENT and row.test_id.startswith(f"{MEASUREMENT}/")


def _known(name: str, rows: list[TestRow]) -> str:
    return name if rows else f"{name}, which does not exist"


def _full(row: TestRow) -> bool:
    return row.passed and row.score == row.max_score


def _hashes(graded: Grade) -> dict[str, str]:
    measured = [lab.measurement for lab in graded.labs if lab.measurement]
    return {run: value for each in measured for run, value in each.trace_hashes.items()}


def _grade(
    context: Context, labs: Labs, tree: Path, scope: Scope, only: str | None = None
) -> Grade:
    return grade(context.kit, labs, collect(context.kit, labs, tree, only), scope)
