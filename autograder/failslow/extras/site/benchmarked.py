"""The plots and tables of the page "Benchmarks", from committed results.

`./kit bench` writes the results to out/bench/results.json. The copy in the handbook is that file.
A page asks for a part of a benchmark in double braces: {{ bench.kv.plots }}; see PARTS.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from failslow.extras.bench import figures
from failslow.extras.bench.figures import Figure, Plot
from failslow.extras.shared import dot_plot
from failslow.extras.shared.dot_plot import Scale

RESULTS = Path("docs/assets/benchmarks.json")
"""Below the handbook's directory."""

WANTED = re.compile(r"\{\{ bench\.(\w+)\.(\w+) \}\}")
"""Results and a part of them: {{ bench.kv.plots }}."""


def fill(site: Path, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""
    results = json.loads((site / RESULTS).read_text(encoding="utf-8"))
    return WANTED.sub(lambda found: PARTS[found[2]](results[found[1]]), markdown)


def machine(section: Mapping[str, Any]) -> str:
    return f"{section['machine']}, {section['when']}"


def plots(section: Mapping[str, Any]) -> str:
    """A dot plot for each comparison."""
    return "\n\n".join(_drawing(Plot(**plot)) for plot in section["plots"])


def bars(section: Mapping[str, Any]) -> str:
    """The figures that have a bar, as a table."""
    lines = ["| figure | value | bar | |", "| --- | --- | --- | --- |"]
    with_bar = [figure for figure in _figures(section) if figure.bar is not None]
    return "\n".join([*lines, *map(_row, with_bar)])


def others(section: Mapping[str, Any]) -> str:
    """The figures without a bar, folded away."""
    lines = ["| figure | value |", "| --- | --- |"]
    lines += [
        f"| {figure.name} | {figures.number(figure.value)} {figure.unit} |"
        for figure in _figures(section)
        if figure.bar is None
    ]
    title = f'??? note "{section["title"]}: all other figures"'
    return "\n".join([title, "", *(f"    {line}" for line in lines)])


def systems(section: Mapping[str, Any]) -> str:
    """The figures named "system: what", as a table with a row for each system."""
    rows: dict[str, dict[str, str]] = {}
    for figure in _figures(section):
        system, colon, what = figure.name.partition(": ")
        if not colon:
            continue
        rows.setdefault(system, {})[what] = f"{figures.number(figure.value)} {figure.unit}".strip()
    columns = list(dict.fromkeys(what for row in rows.values() for what in row))
    table = [["", *columns], ["---"] * (len(columns) + 1)]
    table += [[system, *(row.get(what, "") for what in columns)] for system, row in rows.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


PARTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "machine": machine,
    "plots": plots,
    "bars": bars,
    "others": others,
    "systems": systems,
}


def _figures(section: Mapping[str, Any]) -> list[Figure]:
    return [Figure(**figure) for figure in section["figures"]]


def _row(figure: Figure) -> str:
    value = f"{figures.number(figure.value)} {figure.unit}"
    verdict = "" if figure.passed else "**missed**"
    return f"| {figure.name} | {value} | {figures.bar(figure)} | {verdict} |"


def _drawing(plot: Plot) -> str:
    legend = dot_plot.legend(list(plot.series)) if len(plot.series) > 1 else ""
    drawn = dot_plot.draw(plot.labels, plot.series, _scale(plot))
    return f'{legend}<div class="scroll">{drawn}</div>'


def _scale(plot: Plot) -> Scale:
    """Whole powers of ten around all values."""
    values = [value for series in plot.series.values() for value in series if value > 0]
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ticks = [10.0**power for power in range(first, max(last, first + 1) + 1)]
    words = {tick: f"{tick:,.12g}" for tick in ticks}
    return Scale(ticks[0], ticks[-1], words, None, f"{plot.title} ({plot.unit})")
