"""Grades the reference, the starter and every alternative: the grader must still grade."""

from pathlib import Path

from failslow import results
from failslow.check.step import Context, Counts
from failslow.errors import CannotDo
from failslow.grading import Grade, Scope, TestRow, grade
from failslow.labs import Labs, load_labs
from failslow.mutants import MEASUREMENT, Alternative, load_alternatives, materialised
from failslow.submission import collect

FULL_SEEDS = 30
SECOND_SEEDS = 1
STARTER_SHARE_MAX = 0.05


def reference(context: Context) -> Counts:
    """Full marks, and a second grade that is identical.

    The second measurement uses fewer seeds (all under --full). Its trace hashes must equal those
    of the first; then its scores would be equal, too.
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
    """One check per test, and one per measured run that both grades have.

    A measured row's score is a median over its seeds. So grades with different numbers of seeds
    are compared by their runs.
    """
    counts = Counts()
    for ours, theirs in zip(first.rows, second.rows, strict=True):
        if ours.test_id.split("/")[0] == MEASUREMENT:
            continue
        same = (ours.score, ours.trace_hash) == (theirs.score, theirs.trace_hash)
        counts.expect(same, f"'{ours.title}' differs between two grades of the reference")
    hashes = _hashes(first)
    for run, value in _hashes(second).items():
        counts.expect(hashes.get(run) == value, f"trace hash of {run} differs between two grades")
    return counts


def starter(context: Context) -> Counts:
    """The unchanged starter scores about zero."""
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
    """A correct solution with another design than the reference gets full marks, too."""
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


def _full(row: TestRow) -> bool:
    return row.passed and row.score == row.max_score


def _hashes(graded: Grade) -> dict[str, str]:
    measured = [lab.measurement for lab in graded.labs if lab.measurement]
    return {run: value for each in measured for run, value in each.trace_hashes.items()}


def _grade(
    context: Context, labs: Labs, tree: Path, scope: Scope, only: str | None = None
) -> Grade:
    return grade(context.kit, labs, collect(context.kit, labs, tree, only), scope)
