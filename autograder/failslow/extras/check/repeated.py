"""A submission gets an equal result again, also from a busy machine."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base import console, process
from failslow.base.kit import Kit
from failslow.extras.check.step import Context, Counts
from failslow.grade import results
from failslow.grade.model import Scope
from failslow.grade.runner import grade
from failslow.lab.course_key import DEVELOPMENT
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import Patched, load_alternatives, load_mutants, materialised
from failslow.lab.submission import collect

TIMES, TIMES_FULL = 2, 250
"""Gradings of each of four submissions of lab 1, whose suite takes about two seconds."""
TIMES_WHOLE = 4
"""Whole gradings of each of five submissions."""
BUSY = "while True: pass"


@dataclass(frozen=True)
class Subject:
    """A submission; `only`: the lab that is graded, or all of them."""

    name: str
    tree: Path
    only: str | None


def short(context: Context) -> Counts:
    """A correct solution in two designs, and two wrong ones."""
    right = [each for each in load_alternatives(context.kit) if each.lab == "lab1"]
    wrong = [each for each in load_mutants(context.kit) if each.lab == "lab1"]
    reference = Subject("the reference's lab1", context.kit.reference, "lab1")
    with _patched(context.kit, [*right[:1], *wrong[:2]]) as patched:
        return _again(context, [reference, *patched], TIMES_FULL if context.full else TIMES)


def whole(context: Context) -> Counts:
    """Everything that a course grades, measurements included."""
    right = [each for each in load_alternatives(context.kit) if each.lab == "lab2"]
    wrong = [each for each in load_mutants(context.kit) if each.lab in ("lab2", "lab3")]
    plain = [
        Subject("the reference", context.kit.reference, None),
        Subject("the starter", context.kit.labs, None),
    ]
    with _patched(context.kit, [*right[:1], wrong[0], wrong[-1]]) as patched:
        return _again(context, [*plain, *patched], TIMES_WHOLE)


@contextmanager
def _patched(kit: Kit, patches: Sequence[Patched]) -> Iterator[list[Subject]]:
    labs = load_labs(kit)
    with ExitStack() as stack:
        yield [
            Subject(
                f"{each.lab}/{each.name}",
                stack.enter_context(materialised(kit, labs, each)),
                each.lab,
            )
            for each in patches
        ]


def _again(context: Context, subjects: Sequence[Subject], times: int) -> Counts:
    """Half of the gradings, the later ones, are beside a busy process for each processor."""
    counts = Counts()
    labs = load_labs(context.kit)
    first: dict[str, dict[str, Any]] = {}
    gradings = [subject for _ in range(times) for subject in subjects]
    with console.progress("Grading again") as advance:
        for number, subject in enumerate(gradings):
            busy = number >= len(gradings) // 2
            with _busy() if busy else nullcontext():
                content = _result(context.kit, labs, subject)
            before = first.setdefault(subject.name, content)
            counts.expect(
                content == before,
                f"{subject.name}, grading {number}{' (busy)' if busy else ''}:"
                f" {difference(before, content)}",
            )
            advance(number + 1, len(gradings), subject.name)
    return counts


@contextmanager
def _busy() -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            stack.enter_context(process.background([sys.executable, "-c", BUSY]))
        yield


def _result(kit: Kit, labs: Labs, subject: Subject) -> dict[str, Any]:
    submission = collect(kit, labs, subject.tree, subject.only)
    return results.document(grade(kit, labs, submission, Scope(isolate=True), DEVELOPMENT), 0.0, {})


def difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    """The first difference of two results: a line, or a key of the whole."""
    for ours, theirs in zip(before["tests"], after["tests"], strict=False):
        for key in ours:
            if ours[key] != theirs.get(key):
                return f"'{ours['name']}' has another {key}: {ours[key]!r}, {theirs.get(key)!r}"
    for key in before:
        if before[key] != after.get(key):
            return f"another {key}"
    return "no difference"
