"""The results of a benchmark: figures with their bars, and plots of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.table import Column, Table

from failslow.base.console import FAILED, PASSED


@dataclass(frozen=True)
class Figure:
    """`bar` is a lower bound, or an upper one if `at_most`; None for information only."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    at_most: bool = False

    @property
    def passed(self) -> bool:
        if self.bar is None:
            return True
        return self.value <= self.bar if self.at_most else self.value >= self.bar


@dataclass(frozen=True)
class Plot:
    """`series` has a value for each of `labels`, by the series' name. The handbook draws it."""

    title: str
    unit: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Section:
    """One benchmark's results. `text` describes the measurement in a few sentences."""

    key: str
    title: str
    text: str
    figures: Sequence[Figure]
    plots: Sequence[Plot] = field(default=())

    @property
    def passed(self) -> bool:
        return all(figure.passed for figure in self.figures)


def table(section: Section) -> Table:
    value, limit = Column("value", justify="right"), Column("bar", justify="right")
    result = Table("what", value, limit, "verdict", title=section.title, title_justify="left")
    for figure in section.figures:
        verdict = "" if figure.bar is None else (PASSED if figure.passed else FAILED)
        result.add_row(figure.name, f"{number(figure.value)} {figure.unit}", bar(figure), verdict)
    return result


def bar(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    return f"{'at most' if figure.at_most else 'at least'} {number(figure.bar)}"


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
