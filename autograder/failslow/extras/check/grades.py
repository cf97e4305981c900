"""Grades the reference, the starter and every alternative: the grader must still grade."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from failslow.base import console, parallel
from failslow.base.errors import CannotDo
from failslow.build import determinism
from failslow.extras.check import matrix, mutants, sample
from failslow.extras.check.step import Context, Counts
from failslow.grade import results
from failslow.grade.model import Grade, Scope, TestRow
from failslow.grade.runner import grade
from failslow.lab.course_key import DEVELOPMENT, CourseKey
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import MEASUREMENT, Alternative, load_alternatives, materialised
from failslow.lab.reference import built_on_tuned, fast_tree
from failslow.lab.submission import collect

FULL_SEEDS = 30
STARTER_SHARE_MAX = 0.05
MEASURED_KEYS = 50
OTHERS_KEYS = 5
SHAPES = frozenset(
    f"lab2/{name}"
    for name in (
        "early-compaction",
        "eager-commit",
        "loop-per-follower",
        "one-round-at-a-time",
        "one-sync-at-a-time",
        "round-per-command",
        "syncs-in-phase",
    )
)
"""Measured in all courses, as the reference is. They differ most in what the measurement sees:
rounds, commits, disks and compaction. The others are measured in OTHERS_KEYS courses."""

Grader = Callable[[Scope, CourseKey], Grade]

LONG_TESTS = frozenset(
    {
        "RaftChaos.SnapshotsSurviveAnything",
        "RaftDurability.AStormOfRestartsLosesNothing",
        "RaftSnapshots.ACrashWhileCompactingIsSurvived",
    }
)
"""Most of the time of all tests. An alternative runs them under --full alone."""

ROW_OF_EACH = (
    f"{MEASUREMENT}/3/disk-slow",
    f"{MEASUREMENT}/get/3/net-slow",
    f"{MEASUREMENT}/set/3/cpu-contention",
)
"""Measured without --full for an alternative, and for the second grade of the reference: one row of
each measured lab. It has the bounds on healthy runs, too."""


def reference(context: Context) -> Counts:
    """Full marks, and a second grade beside busy processes that is identical.

    Without --full the first one measures one seed of each run with points, and all if that loses a
    row. It runs a test once, and the second one measures a few rows alone: the determinism matrix
    runs tests in other memories. Its trace hashes must equal those of the first; then its scores
    would be equal, too.
    """
    first = _whole_grade(context)
    counts = judge(None, first)
    results.document(first, 0.0, {})
    again = (
        Scope(seeds=FULL_SEEDS)
        if context.full
        else Scope(tests=frozenset(), seeds=1, rows=ROW_OF_EACH, determinism=False)
    )
    with matrix.busy_machine():
        second = _grade(context, load_labs(context.kit), context.kit.reference, again)
    counts.add(compare(first, second))
    return counts


def _whole_grade(context: Context) -> Grade:
    """The reference's grade."""
    labs, tree = load_labs(context.kit), context.kit.reference
    if context.full:
        return _grade(context, labs, tree, Scope(seeds=FULL_SEEDS))
    brief = _grade(context, labs, tree, Scope(seeds=1, determinism=False, ungraded=False))
    if all(row.earned for row in brief.rows):
        return brief
    return _grade(context, labs, tree, Scope())


def compare(first: Grade, second: Grade) -> Counts:
    """One check per test and measured run that both grades have.

    A measured row's score is a median over its seeds, and the second grade may have fewer. So runs
    are compared instead of rows.
    """
    counts = Counts()
    ran = {row.test_id for row in _tests(second)}
    tests = [row for row in _tests(first) if row.test_id in ran]
    for ours, theirs in zip(tests, _tests(second), strict=True):
        same = (ours.score, ours.trace_hash) == (theirs.score, theirs.trace_hash)
        counts.expect(same, f"'{ours.title}' differs between two grades of the reference")
    before, after = _hashes(first), _hashes(second)
    common = sorted(before.keys() & after.keys())
    counts.expect(bool(common), "the two grades have no measured run in common")
    for run in common:
        counts.expect(before[run] == after[run], f"trace hash of {run} differs between two grades")
    return counts


def starter(context: Context) -> Counts:
    """The unchanged starter scores about zero, and gets an equal result beside busy processes, with
    all texts of its failures. Without --full in one lab, drawn."""
    labs = load_labs(context.kit)
    only = None if context.full else sample.drawn_lab(context.kit, [*labs.by_id])
    scope = Scope(seeds=1, determinism=False)
    graded = _grade(context, labs, context.kit.labs, scope, only)
    with matrix.busy_machine():
        again = _grade(context, labs, context.kit.labs, scope, only)
    counts = Counts()
    for ours, theirs in zip(_lines(graded), _lines(again), strict=True):
        same = ours == theirs
        counts.expect(same, f"the starter's '{ours['name']}' differs between two grades")
    if only:
        counts.remarks.append(f"{only}; --full grades all labs")
    for lab in graded.labs:
        limit = STARTER_SHARE_MAX * lab.max_score
        counts.expect(
            lab.score <= limit,
            f"the starter of {lab.lab.id} scores {lab.score:g}, over {limit:g}: "
            + ", ".join(row.title for row in lab.rows if row.score),
        )
    return counts


def _lines(graded: Grade) -> list[dict[str, Any]]:
    """Those of its results, as a student and an instructor read them."""
    return list(results.document(graded, 0.0, {})["tests"])


def alternatives(context: Context) -> Counts:
    """A correct solution with another design than the reference gets full marks, too.

    A part of them, with most tests and one row of each measured lab. Under --full all of all.
    """
    found = load_alternatives(context.kit)
    if not found:
        raise CannotDo("there is no alternative")
    tests = [test.name for each in mutants.all_tests(context.kit).values() for test in each]
    short = frozenset(tests) - LONG_TESTS
    scope = Scope() if context.full else Scope(tests=short, rows=ROW_OF_EACH, seeds=1)
    chosen = found if context.full else sample.drawn(context.kit, found)
    # The tuned solutions come first: they take longest.
    jobs: list[Alternative | None] = [*([None] if context.kit.fast.is_dir() else []), *chosen]
    # Side by side: the measurement of one leaves a core free now and then.
    with console.progress("Grading the alternatives") as advance:
        counts = _total(
            parallel.run_all(
                jobs,
                lambda job: _judged(context, job, scope) if job else _tuned(context, scope),
                advance,
                lambda job: job.name if job else "the tuned solutions",
            )
        )
    if len(chosen) < len(found):
        counts.remarks.append(f"{len(chosen)} of {len(found)} alternatives; --full grades all")
    return counts


def _tuned(context: Context, scope: Scope) -> Counts:
    """The tuned solutions are correct, too. Without --full they are graded in one lab, drawn."""
    labs = load_labs(context.kit)
    counts = Counts()
    ids = [lab.id for lab in built_on_tuned(context.kit, labs)]
    only = None if context.full else sample.drawn_lab(context.kit, ids)
    with fast_tree(context.kit, labs) as tree:
        for row in _grade(context, labs, tree, scope, only).rows:
            lost = f"reference-solutions/fast loses '{row.title}': {row.output}\n{row.detail}"
            counts.expect(row.earned, lost)
    return counts


def with_other_keys(context: Context) -> Counts:
    """The reference and the alternatives have full measured marks in many courses.

    The key of a course decides how slow which replicas are, and when commands come. So one seed of
    each run tells most. A grade judges medians over more seeds: a row that is lost with one seed
    sends the whole course to a grade's own measurement, and that decides.
    """
    labs = load_labs(context.kit)
    measured = [lab.id for lab in labs.by_id.values() if lab.measurement]
    patches = [each for each in load_alternatives(context.kit) if each.lab in measured]
    # The other step has graded the tests. No test runs, so none stops the measurement.
    scope = Scope(
        tests=frozenset(),
        determinism=False,
        rows=(f"{MEASUREMENT}/",),
        seeds=1,
        diagnosis=False,  # the committed answers are those of one course
    )
    often = [None, *(each for each in patches if each.name in SHAPES)]
    jobs = [
        (each, key)
        for index, key in enumerate(_keys(MEASURED_KEYS))
        for each in ([None, *patches] if index < OTHERS_KEYS else often)
    ]
    with console.progress("Measuring in other courses") as advance:
        return _total(
            parallel.run_all(
                jobs,
                lambda job: _measured(context, job[0], scope, job[1]),
                advance,
                lambda job: f"{_name(job[0])}, course {job[1].fingerprint}",
            )
        )


def _keys(count: int) -> list[CourseKey]:
    """Keys that are equal at each check, so that a failure can be repeated."""
    return [CourseKey(sha256(f"check {index}".encode()).digest()) for index in range(count)]


def _name(alternative: Alternative | None) -> str:
    return f"alternative {alternative.name}" if alternative else "the reference"


def _total(parts: Iterable[Counts]) -> Counts:
    counts = Counts()
    for each in parts:
        counts.add(each)
    return counts


def _judged(context: Context, alternative: Alternative, scope: Scope) -> Counts:
    """Full marks of an alternative."""
    return _with_tree(
        context, alternative, lambda graded: judge(alternative, graded(scope, DEVELOPMENT))
    )


def _measured(
    context: Context, alternative: Alternative | None, scope: Scope, key: CourseKey
) -> Counts:
    """Full measured marks. If `scope` loses a row, the whole measurement of a grade decides."""

    def judged(graded: Grader) -> Counts:
        brief = graded(scope, key)
        if all(row.earned for row in brief.rows):
            return judge(alternative, brief)
        return judge(alternative, graded(replace(scope, rows=None, seeds=None), key))

    return _with_tree(context, alternative, judged)


def _with_tree(
    context: Context, alternative: Alternative | None, judged: Callable[[Grader], Counts]
) -> Counts:
    """`judged`, given a function that grades the alternative. None: the reference."""
    labs = load_labs(context.kit)

    def grader(tree: Path, only: str | None) -> Grader:
        return lambda scope, key: _grade(context, labs, tree, scope, only, key)

    try:
        if alternative is None:
            return judged(grader(context.kit.reference, None))
        with materialised(context.kit, labs, alternative) as tree:
            return judged(grader(tree, alternative.lab))
    except CannotDo as error:
        return Counts(problems=[f"{_name(alternative)}: {error}\n{error.detail}".rstrip()])


def judge(alternative: Alternative | None, graded: Grade) -> Counts:
    """One check per row. None: the reference."""
    course = "" if graded.key.is_development else f" (course {graded.key.fingerprint})"
    counts = Counts()
    for row in graded.rows:
        lost = f"{_name(alternative)} loses '{row.title}'{course}: {row.output}\n{row.detail}"
        counts.expect(row.earned, lost)
    return counts


def _tests(graded: Grade) -> list[TestRow]:
    measured = {
        (each.lab.id, each.lab.measurement.part) for each in graded.labs if each.lab.measurement
    }
    return [
        row
        for row in graded.rows
        if (row.lab, row.part) not in measured and row.part != determinism.TEST_ID
    ]


def _hashes(graded: Grade) -> dict[str, str]:
    measured = [lab.measurement for lab in graded.labs if lab.measurement]
    return {run: value for each in measured for run, value in each.trace_hashes.items()}


def _grade(
    context: Context,
    labs: Labs,
    tree: Path,
    scope: Scope,
    only: str | None = None,
    key: CourseKey = DEVELOPMENT,
) -> Grade:
    return grade(context.kit, labs, collect(context.kit, labs, tree, only), scope, key)
