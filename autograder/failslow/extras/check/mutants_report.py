"""`kit check --mutants`: which tests notice which mistake, as a table or as JSON."""

import textwrap
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from failslow.base import console, records
from failslow.build import cmake
from failslow.extras.check import mutants
from failslow.extras.check.mutants import Judged, Verdict
from failslow.extras.check.step import Context

FIRST_NAMES = 3

# The widths of the table's columns: together they fit a page without a terminal.
MUTANT_WIDTH = 30
TEST_WIDTH = 37
FAILED_WIDTH = 22
KEPT_WIDTH = 14


def run(context: Context, as_json: bool) -> int:
    """0 when every mutant is caught and every hidden test catches one, 1 otherwise."""
    cmake.build(context.kit, targets=[cmake.GRADING])
    judged = mutants.judge_all(context, mutants.load_all(context.kit))
    idle = mutants.every_hidden_test_catches(mutants.all_tests(context.kit), judged)
    if as_json:
        print(records.text(document(judged, idle.problems)), end="")
    else:
        _print(judged, idle.problems)
    caught = all(each.verdict is Verdict.CAUGHT for each in judged)
    return 0 if caught and not idle.failed else 1


def document(judged: Sequence[Judged], idle: Sequence[str]) -> dict[str, object]:
    """`idle`: a sentence for each hidden test that no mutant fails."""
    return {
        "mutants": [
            {
                "name": each.mutant.name,
                "lab": each.mutant.lab,
                "description": each.mutant.description,
                "caught_by": list(each.mutant.caught_by),
                "failed": list(each.failed),
                "kept": {
                    kept.of: {"points": kept.points, "of": kept.of_points} for kept in each.kept
                },
                "verdict": each.verdict.value,
                "problems": each.counts.problems,
            }
            for each in judged
        ],
        "caught": _caught(judged),
        "problems": list(idle),
    }


def table(judged: Sequence[Judged]) -> Table:
    result = Table(title="Mutants", title_justify="left", show_lines=True)
    result.add_column("mutant", overflow="fold", width=MUTANT_WIDTH)
    result.add_column("must be caught by", overflow="fold", width=TEST_WIDTH)
    result.add_column("tests that failed", overflow="fold", width=FAILED_WIDTH)
    result.add_column("keeps at most", overflow="fold", width=KEPT_WIDTH)
    result.add_column("verdict")
    for each in judged:
        mutant = each.mutant
        style = "green" if each.verdict is Verdict.CAUGHT else "red"
        name = textwrap.fill(mutant.name, MUTANT_WIDTH)
        result.add_row(
            f"[bold]{escape(name)}[/bold]\n{escape(mutant.description)}",
            escape(_lines(mutant.caught_by, TEST_WIDTH)),
            escape(_failed(each)),
            escape("\n".join(f"{kept} ({kept.of})" for kept in each.kept)),
            f"[{style}]{each.verdict.value}[/{style}]",
        )
    return result


def _failed(judged: Judged) -> str:
    """Their number, and the first of them unless they are those that must."""
    names = judged.failed
    if not names:
        return "none"
    if set(names) == set(judged.mutant.caught_by):
        return f"{len(names)}: these"
    more = ["..."] if len(names) > FIRST_NAMES else []
    return f"{len(names)}:\n" + _lines([*names[:FIRST_NAMES], *more], FAILED_WIDTH)


def _lines(tests: Sequence[str], width: int) -> str:
    """One below the other; a name that is too long is broken behind its suite."""
    return "\n".join(name if len(name) <= width else name.replace(".", ".\n", 1) for name in tests)


def _print(judged: Sequence[Judged], idle: Sequence[str]) -> None:
    stdout = console.stdout()
    stdout.print(table(judged))
    problems = [problem for each in judged for problem in each.counts.problems]
    for problem in [*problems, *idle]:
        stdout.print(f"- {problem}", markup=False, soft_wrap=True)
    stdout.print(f"{len(judged)} mutants, {_caught(judged)} caught")
    if not idle:
        stdout.print("Every hidden test is failed by a mutant.")


def _caught(judged: Sequence[Judged]) -> int:
    return sum(each.verdict is Verdict.CAUGHT for each in judged)
