"""Takes every step that a lab's rules allow in small clusters, and shows the shortest way to a
violation.

The program calls the solution's rules. It ends with the first scope that violates an invariant.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from failslow import console, process
from failslow.errors import CannotDo

STATES = 1_000_000
"""Of a scope, unless the user says otherwise: the nearest ones."""

PROGRESS = re.compile(r"explored (\d+) of (\d+) scopes")
OUTPUT_LINES = 20


@dataclass(frozen=True)
class Scope:
    """What was explored. `complete`: all states. `fast` to `waits`: how often that step was found.
    `violated`: an invariant in words, and `steps` to it; both empty if all states are good."""

    scope: str
    states: int
    complete: bool
    fast: int
    slow: int
    kept: int
    no_ops: int
    waits: int
    seconds: float
    violated: str
    steps: tuple[str, ...]


def run(program: Path, states: int) -> int:
    """0 when no state violates an invariant, 1 when one does."""
    scopes = _explore(program, states)
    _print(scopes)
    bad = [scope for scope in scopes if scope.violated]
    for scope in bad:
        out = console.stdout()
        out.print(f"{scope.scope}: {scope.violated}. The shortest way:", style="bold")
        for step in scope.steps:
            out.print(f"  {step}", markup=False, soft_wrap=True)
    if not bad:
        console.stdout().print("No run within these scopes violates an invariant.")
    return 1 if bad else 0


def _explore(program: Path, states: int) -> list[Scope]:
    with tempfile.TemporaryDirectory(prefix="failslow-explore-") as name:
        result = Path(name) / "result.json"
        argv = [
            str(program),
            f"--gtest_output=json:{result}",
            f"--states={states}",
            "--progress",
        ]
        exit_code, output = _run(argv, Path(name))
        if exit_code not in (0, 1) or not result.is_file():
            how = process.Completed(exit_code, "", "", timed_out=False).how_it_ended()
            words = "\n".join(output[-OUTPUT_LINES:])
            raise CannotDo(f"the program that calls your rules ended: {how}", words)
        document = json.loads(result.read_text(encoding="utf-8"))
        (case,) = (test for suite in document["testsuites"] for test in suite["testsuite"])
        scopes = json.loads(case["explored"])["scopes"]
        return [Scope(**{**scope, "steps": tuple(scope["steps"])}) for scope in scopes]


def _run(argv: Sequence[str], scratch: Path) -> tuple[int, list[str]]:
    """The exit code, and the lines that do not report progress."""
    output: list[str] = []
    exit_code = 0
    with (
        console.progress("Exploring") as advance,
        closing(process.lines(argv, cwd=scratch)) as lines,
    ):
        for item in lines:
            if isinstance(item, int):
                exit_code = item
            elif found := PROGRESS.fullmatch(item):
                advance(int(found[1]), int(found[2]), "scopes")
            else:
                output.append(item)
    return exit_code, output


def _print(scopes: Sequence[Scope]) -> None:
    table = Table(
        "scope", "states", "all", "fast", "slow", "kept", "no-ops", "must wait", "s", box=None
    )
    for each in scopes:
        table.add_row(
            each.scope,
            f"{each.states:,}",
            "yes" if each.complete else "no",
            f"{each.fast:,}",
            f"{each.slow:,}",
            f"{each.kept:,}",
            f"{each.no_ops:,}",
            f"{each.waits:,}",
            f"{each.seconds:.1f}",
        )
    console.stdout().print(table)
