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

from failslow.bench import slow
from failslow.bench.slow import Options
from failslow.kit import this_kit
from failslow.measurement.sweep import Cell, Spread
from failslow.measurement.sweep_table import cost
from failslow.site import dot_plot
from failslow.site.dot_plot import Scale

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
    """One file of results: figures by solution, number of replicas and fault."""

    options: Options
    faults: dict[str, str]
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
    return Result(
        options=Options.from_json(content["options"]),
        faults={fault["name"]: fault["text"] for fault in content["faults"]},
        cells={
            (each["name"], cell["replicas"], cell["fault"]): cell
            for each in content["solutions"]
            for cell in each["cells"]
        },
    )


def command(result: Result) -> str:
    return f"{result.options.command()} --json"


def throughput(result: Result) -> str:
    return _plot(result, "throughput", THROUGHPUT)


def latency(result: Result) -> str:
    return _plot(result, "latency", LATENCY)


def _plot(result: Result, figure: str, scale: Scale) -> str:
    """Of the smallest number of replicas. Cells without figures stand at the right end."""
    size = result.options.replicas[0]
    faults = list(result.faults)
    series = {
        solution: [_number(result.cell(solution, size, fault), figure) for fault in faults]
        for solution in result.options.solution
    }
    names = [name.rpartition("/")[2] for name in series]
    legend = dot_plot.legend(names) if len(series) > 1 else ""
    drawn = dot_plot.draw(faults, dict(zip(names, series.values(), strict=True)), scale)
    return f'{legend}<div class="scroll">{drawn}</div>'


def _number(cell: Mapping[str, Any], figure: str) -> float:
    value = None if cell["misbehaved"] else cell[figure]["median"]
    return float("inf") if value is None else float(value)


def solutions(result: Result) -> str:
    """A table: throughput lost / latency grown, of each solution at the smallest size."""
    size = result.options.replicas[0]
    names = result.options.solution
    heads = " | ".join(name.rpartition("/")[2] for name in names)
    lines = [f"| fault | {heads} |", "| --- |" + " --- |" * len(names)]
    for fault in result.faults:
        found = [result.cell(name, size, fault) for name in names]
        unbound = UNBOUND if min(cell["lag"] for cell in found) < LAG_NEEDED else ""
        lines.append(f"| `{fault}`{unbound} | {' | '.join(map(_medians, found))} |")
    return "\n".join(lines)


def sizes(result: Result) -> str:
    """A table of one solution: medians, with the worst seed in brackets, by number of replicas."""
    (solution,) = result.options.solution
    heads = " | ".join(f"{size} replicas" for size in result.options.replicas)
    lines = [f"| fault | {heads} |", "| --- |" + " --- |" * len(result.options.replicas)]
    for fault in result.faults:
        found = [result.cell(solution, size, fault) for size in result.options.replicas]
        unbound = UNBOUND if min(cell["lag"] for cell in found) < LAG_NEEDED else ""
        lines.append(f"| `{fault}`{unbound} | {' | '.join(map(_spreads, found))} |")
    return "\n".join(lines)


def worst(result: Result) -> str:
    """A list: the worst figures of one solution over all faults and numbers of replicas."""
    (solution,) = result.options.solution
    cells = [cell for (name, _, _), cell in result.cells.items() if name == solution]
    lines = []
    for figure, words in (("throughput", "throughput lost"), ("latency", "mean latency grown")):
        for of, seeds in (("median", "the worst median"), ("worst", "the worst seed")):
            cell = max(cells, key=lambda each: _least(each[figure][of]))
            lines.append(
                f"- {words}, {seeds}: {_cost(cell[figure][of])}"
                f" (`{cell['fault']}`, {cell['replicas']} replicas)"
            )
    return "\n".join(lines)


def missed(result: Result) -> str:
    """A table of the bars that the reference misses, by fault and number of replicas."""
    bars = slow.bars_of(this_kit(), result.options)
    rows: dict[tuple[int, str], list[str]] = {}
    for (name, size, fault), content in result.cells.items():
        problems = slow.missed(slow.Measured(name, {}, [_as_cell(content)]), bars)
        if problems:
            rows[size, fault] = [each.rpartition(f"{fault}: ")[2] for each in problems]
    if not rows:
        return "The reference misses no bar."
    lines = ["| replicas | fault | missed |", "| --- | --- | --- |"]
    for (size, fault), problems in sorted(rows.items()):
        lines.append(f"| {size} | `{fault}` | {'; '.join(problems)} |")
    return "\n".join(lines)


def _as_cell(content: Mapping[str, Any]) -> Cell:
    spreads = {
        key: Spread(**{of: _least(share) for of, share in value.items()})
        for key, value in content.items()
        if key in ("throughput", "latency")
    }
    floats = {key: _least(content[key]) for key in ("p99", "longest_ns", "catch_up_ns")}
    return Cell(**{**content, **floats, **spreads})


def _least(value: float | None) -> float:
    return float("inf") if value is None else value


def _medians(cell: Mapping[str, Any]) -> str:
    if cell["misbehaved"]:
        return "failed"
    return f"{_cost(cell['throughput']['median'])} / {_cost(cell['latency']['median'])}"


def _spreads(cell: Mapping[str, Any]) -> str:
    if cell["misbehaved"]:
        return "failed"
    found = [
        f"{_cost(cell[figure]['median'])} ({_cost(cell[figure]['worst'])})"
        for figure in ("throughput", "latency")
    ]
    return " / ".join(found)


def _cost(share: float | None) -> str:
    return cost(_least(share))


PARTS: dict[str, Callable[[Result], str]] = {
    "command": command,
    "throughput": throughput,
    "latency": latency,
    "solutions": solutions,
    "sizes": sizes,
    "worst": worst,
    "missed": missed,
}
