"""`kit check --mutants`: which tests notice which mistake, as a table or as JSON."""

import json
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from failslow import cmake, console
from failslow.check import mutants
from failslow.check.mutants import Judged, Verdict
from failslow.check.step import Context

FIRST_NAMES = 3


def run(context: Context, as_json: bool) -> int:
    """0 when every mutant is caught and every hidden test catches one, 1 otherwise."""
    cmake.build(context.kit)
    judged = list(mutants.judge_all(context))
    idle = mutants.every_hidden_test_catches(mutants.hidden_tests(context), judged)
    if as_json:
        print(json.dumps(document(judged, idle.problems), indent=1))
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
    result.add_column("mutant", overflow="fold", ratio=5)
    result.add_column("must be caught by", overflow="fold", ratio=4)
    result.add_column("tests that failed", overflow="fold", ratio=4)
    result.add_column("verdict", ratio=1, min_width=10)
    for each in judged:
        mutant = each.mutant
        style = "green" if each.verdict is Verdict.CAUGHT else "red"
        result.add_row(
            f"[bold]{escape(mutant.name)}[/bold]\n{escape(mutant.description)}",
            escape("\n".join(mutant.caught_by)),
            escape(_failed(each.failed)),
            f"[{style}]{each.verdict.value}[/{style}]",
        )
    return result


def _failed(names: Sequence[str]) -> str:
    """How many, and the first of them."""
    more = ["..."] if len(names) > FIRST_NAMES else []
    return "\n".join([f"{len(names)}:", *names[:FIRST_NAMES], *more]) if names else "none"


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
