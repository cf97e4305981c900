"""Takes every step that a lab's rules allow in small clusters, and shows the shortest way to a
violation.

The program calls the solution's rules. It ends with the first scope that violates an invariant.
"""

import json
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.extras.commands import exploring

PROGRESS = re.compile(r"explored (\d+) of (\d+) scopes")


@dataclass(frozen=True)
class Scope:
    """Explored states. `complete`: all states. `counts`: how often each situation was found.
    `violated`: an invariant in words, and `steps` to it; both empty if all states are good."""

    scope: str
    states: int
    complete: bool
    counts: Mapping[str, int]
    violated: str
    steps: tuple[str, ...]


def run(program: Path, states: int) -> int:
    """0 when no state violates an invariant, 1 when one does."""
    started = time.monotonic()
    scopes = _explore(program, states)
    _print(scopes, time.monotonic() - started)
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
        exit_code, output = exploring.run(argv, Path(name), PROGRESS, lambda _: "scopes")
        if exit_code not in (0, 1) or not result.is_file():
            how, words = exploring.ending(exit_code, output)
            raise CannotDo(f"the program that calls your rules ended: {how}", words)
        document = json.loads(result.read_text(encoding="utf-8"))
        (case,) = (test for suite in document["testsuites"] for test in suite["testsuite"])
        scopes = json.loads(case["explored"])["scopes"]
        return [Scope(**{**scope, "steps": tuple(scope["steps"])}) for scope in scopes]


def _print(scopes: Sequence[Scope], seconds: float) -> None:
    found = sum(scope.states for scope in scopes)
    total = f"scopes: {len(scopes)}; states: {found:,}; {seconds:.1f} s"
    console.stdout().print(total, style="bold")
    table = Table("scope", "states", "all", *(scopes[0].counts if scopes else ()), box=None)
    for each in scopes:
        counts = (f"{count:,}" for count in each.counts.values())
        table.add_row(each.scope, f"{each.states:,}", "yes" if each.complete else "no", *counts)
    console.stdout().print(table)
