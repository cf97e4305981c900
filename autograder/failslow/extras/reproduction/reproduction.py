"""A lab's repetition of a document's experiments: `kit reproduce NAME`, and pages that show it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base.kit import Kit
from failslow.extras.bench.figures import Section
from failslow.extras.reproduction.tables import Table
from failslow.measurement.formatting import percent

__all__ = ["Lines", "Reproduction", "Results", "Table", "command", "percent", "results_path"]

Results = Mapping[str, Any]
"""A JSON document: it is printed, and the handbook draws it."""


@dataclass(frozen=True)
class Lines:
    """A plot of lines: points by the name of their series."""

    series: Mapping[str, Sequence[tuple[float, float]]]
    x_title: str
    y_title: str


@dataclass(frozen=True)
class Reproduction:
    """`measure`: of a Kit, and whether a small part is enough, which `is_quick` tells of results.
    `missed`: a sentence for each bar that results miss. `tables` and `lines`: by the names that
    pages ask for them with, after that of the reproduction."""

    measure: Callable[[Kit, bool], Results]
    is_quick: Callable[[Results], bool]
    missed: Callable[[Results], Sequence[str]]
    section: Callable[[Results], Section]
    tables: Mapping[str, Callable[[Results], Table]]
    lines: Mapping[str, Callable[[Results], Lines]]


def command(name: str, quick: bool) -> str:
    """The command line that gives these results."""
    return f"./kit reproduce {name}{' --quick' if quick else ''} --json"


def results_path(kit: Kit, name: str) -> Path:
    """The committed results."""
    return kit.site / "docs" / "assets" / f"reproduction-{name}.json"
