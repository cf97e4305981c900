"""Lines of a result as a unittest suite that gradescope-utils runs: the document it makes.

Each line is a test that prints its output and sets its score. The verdicts are known before: no
student's code runs here.
"""

import io
import json
import unittest
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gradescope_utils.autograder_utils import decorators
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

from failslow.lab.labs import VISIBLE


@dataclass(frozen=True)
class Line:
    """`score` and `max_score`: None for a line without points of its own."""

    name: str
    number: str
    passed: bool
    output: str
    score: float | None = None
    max_score: float | None = None
    visibility: str = VISIBLE
    tags: tuple[str, ...] = ()
    extra_data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column of the leaderboard. `order`: "asc" if less is better, otherwise "desc"."""

    name: str
    value: float
    order: str


class _SetScore(Protocol):
    def __call__(self, score: float) -> None: ...


class _SetValue(Protocol):
    def __call__(self, value: float) -> None: ...


def document(lines: Sequence[Line], columns: Sequence[Column]) -> dict[str, Any]:
    """`tests` and `leaderboard`, in order, and the visibilities of the whole."""
    suite = unittest.TestSuite([*map(_test_of, lines), *map(_test_of_column, columns)])
    written = io.StringIO()
    JSONTestRunner(
        stream=written,
        buffer=True,
        visibility=VISIBLE,
        stdout_visibility="hidden",
        failure_prefix="",
    ).run(suite)
    made = json.loads(written.getvalue())
    tests = [_complete(test, line) for test, line in zip(made["tests"], lines, strict=True)]
    return {
        "visibility": made["visibility"],
        "stdout_visibility": made["stdout_visibility"],
        "leaderboard": made["leaderboard"],
        "tests": tests,
    }


def _complete(test: dict[str, Any], line: Line) -> dict[str, Any]:
    """The library knows no extra data, and ends a failure with an empty line. A visible test need
    not say so: a long result has no room for it."""
    if test["visibility"] == VISIBLE:
        del test["visibility"]
    if "output" in test:
        test["output"] = test["output"].rstrip("\n")
    if not test.get("output"):
        test.pop("output", None)
    return test | {"extra_data": dict(line.extra_data)}


def _test_of(line: Line) -> unittest.TestCase:
    def verdict(self: unittest.TestCase, set_score: _SetScore | None = None) -> None:
        if set_score and line.score is not None:
            set_score(line.score)
        if not line.passed:
            raise AssertionError(line.output)
        print(line.output, end="")

    decorated = decorators.number(line.number)(verdict)
    decorated = decorators.visibility(line.visibility)(decorated)
    decorated = decorators.tags(*line.tags)(decorated)
    if line.max_score is not None:
        decorated = decorators.partial_credit(line.max_score)(decorated)
    return _case(decorated, line.name)


def _test_of_column(column: Column) -> unittest.TestCase:
    def place(self: unittest.TestCase, set_leaderboard_value: _SetValue) -> None:
        set_leaderboard_value(column.value)

    return _case(decorators.leaderboard(column.name, column.order)(place), column.name)


def _case(method: object, name: str) -> unittest.TestCase:
    """A class of its own for each: the library keeps score and value on the method."""
    case = type("Case", (unittest.TestCase,), {"verdict": method})
    made: unittest.TestCase = case("verdict")
    made.shortDescription = lambda: name  # type: ignore[method-assign]
    return made
