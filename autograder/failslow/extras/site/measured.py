"""The plots and tables of the page "A slow follower, measured", from committed results.

`./kit bench slow ... --json` makes the results. A page asks for them in double braces; see PARTS.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from failslow.extras.bench.slow import Options
from failslow.extras.shared import dot_plot
from failslow.extras.shared.dot_plot import Scale
from failslow.measurement.sweep_table import cost

RESULTS = Path("docs/assets/measurement")
"""Below the handbook's directory."""

WANTED = re.compile(r"^( *)\{\{ measured\.(\w+)\.([\w-]+) \}\}$", re.M)
"""A line with a part and the name of its results: {{ measured.latency.followers }}."""

BAR = 0.05
LAG_NEEDED = 250
"""Entries. The table marks faults under which a slow replica was less far behind in some run."""
UNBOUND = r" \*"

THROUGHPUT = Scale(
    least=0.001,
    most=1.0,
    ticks={0.001: "0.1 % or a gain", 0.01: "1 %", 0.1: "10 %", 1.0: "100 %"},
    bar=BAR,
    title="Throughput lost, beyond the capacity: median",
)
LATENCY = Scale(
    least=0.001,
    most=1000.0,
    ticks={
        0.001: "0.1 % or a gain",
        0.01: "1 %",
        0.1: "10 %",
        1.0: "100 %",
        10.0: "1,000 %",
        100.0: "10,000 %",
        1000.0: "",
    },
    bar=BAR,
    title="Mean latency grown, at 65 % of the capacity: median",
)


@dataclass(frozen=True)
class Result:
    """One file of results: medians by solution, number of replicas and fault."""

    options: Options
    faults: list[str]
    cells: dict[tuple[str, int, str], dict[str, Any]]

    def cell(self, solution: str, replicas: int, fault: str) -> dict[str, Any]:
        return self.cells[solution, replicas, fault]


def fill(site: Path, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""

    def part(found: re.Match[str]) -> str:
        return indent(PARTS[found[2]](read(site, found[3])), found[1])

    return WANTED.sub(part, markdown)


def read(site: Path, name: str) -> Result:
    content = json.loads((site / RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    cells = content["cells"]
    return Result(
        options=Options.from_json(content["options"]),
        faults=list(dict.fromkeys(cell["fault"] for cell in cells)),
        cells={(cell["solution"], cell["replicas"], cell["fault"]): cell for cell in cells},
    )


def command(result: Result) -> str:
    return f"{result.options.command()} --json"


def throughput(result: Result) -> str:
    return _plot(result, "throughput", THROUGHPUT)


def latency(result: Result) -> str:
    return _plot(result, "latency", LATENCY)


def _plot(result: Result, figure: str, scale: Scale) -> str:
    """The plot of the smallest number of replicas. Cells without figures stand at the right end."""
    size = result.options.replicas[0]
    series = {
        name.rpartition("/")[2]: [
            _number(result.cell(name, size, fault), figure) for fault in result.faults
        ]
        for name in result.options.solution
    }
    legend = dot_plot.legend(list(series)) if len(series) > 1 else ""
    return f'{legend}<div class="scroll">{dot_plot.draw(result.faults, series, scale)}</div>'


def _number(cell: Mapping[str, Any], figure: str) -> float:
    return float("inf") if cell["misbehaved"] else _least(cell[figure])


def solutions(result: Result) -> str:
    """A table: throughput lost / latency grown, of each solution at the smallest size."""
    size = result.options.replicas[0]
    return _table(
        result, {name.rpartition("/")[2]: (name, size) for name in result.options.solution}
    )


def sizes(result: Result) -> str:
    """A table of one solution: throughput lost / latency grown, by number of replicas."""
    (name,) = result.options.solution
    return _table(result, {f"{size} replicas": (name, size) for size in result.options.replicas})


def _table(result: Result, columns: Mapping[str, tuple[str, int]]) -> str:
    """`columns`: a solution and a number of replicas, by their title."""
    lines = [f"| fault | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
    for fault in result.faults:
        found = [result.cell(*column, fault) for column in columns.values()]
        unbound = UNBOUND if min(cell["lag"] for cell in found) < LAG_NEEDED else ""
        lines.append(f"| `{fault}`{unbound} | {' | '.join(map(_costs, found))} |")
    return "\n".join(lines)


def worst(result: Result) -> str:
    """A list: the worst median of one solution over all faults and numbers of replicas."""
    (solution,) = result.options.solution
    cells = [cell for (name, _, _), cell in result.cells.items() if name == solution]
    lines = []
    for figure, words in (("throughput", "throughput lost"), ("latency", "mean latency grown")):
        cell = max(cells, key=lambda each: _number(each, figure))
        where = f"`{cell['fault']}`, {cell['replicas']} replicas"
        lines.append(f"- {words}, the worst median: {cost(_number(cell, figure))} ({where})")
    return "\n".join(lines)


def _costs(cell: Mapping[str, Any]) -> str:
    if cell["misbehaved"]:
        return "failed"
    return f"{cost(_least(cell['throughput']))} / {cost(_least(cell['latency']))}"


def _least(value: float | None) -> float:
    return float("inf") if value is None else value


PARTS: dict[str, Callable[[Result], str]] = {
    "command": command,
    "throughput": throughput,
    "latency": latency,
    "solutions": solutions,
    "sizes": sizes,
    "worst": worst,
}
