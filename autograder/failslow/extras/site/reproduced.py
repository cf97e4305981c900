"""The plots, tables and graphs that pages show of the committed results of `./kit reproduce`.

`./kit reproduce --json` makes the results, and with `--saucr` those of document 003. A page asks
for a part in double braces; see PARTS.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

from failslow.extras.reproduction import published, sequences, table2
from failslow.extras.reproduction.published import VARIANTS
from failslow.extras.reproduction.results import Scale
from failslow.extras.reproduction.tables import TABLES, Results, Table
from failslow.extras.reproduction.variants import WAITS_IN_TURN
from failslow.extras.shared import dot_plot, line_plot
from failslow.extras.site import benchmarked
from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import graph_of

RESULTS = Path("docs/assets/reproduction.json")
SAUCR_RESULTS = Path("docs/assets/reproduction-saucr.json")
"""Below the handbook's directory."""

WANTED = re.compile(r"^\{\{ reproduced\.([\w-]+) \}\}$", re.M)

NUMBERS = dot_plot.Scale(
    least=0.4,
    most=100_000,
    ticks={0.4: "0", 1: "1", 10: "10", 100: "100", 1000: "1,000", 10_000: "10,000"},
    bar=None,
    title="Warnings in a run",
)


def fill(site: Path, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""

    def part(found: re.Match[str]) -> str:
        path = SAUCR_RESULTS if found[1] in OF_SAUCR else RESULTS
        return PARTS[found[1]](json.loads((site / path).read_text(encoding="utf-8")))

    return WANTED.sub(part, markdown)


def warnings_plot(results: Results) -> str:
    summaries = results["variants"]
    rows = [
        f"{VARIANTS[each['variant']]}, {'slow follower' if each['slow'] else 'healthy'}"
        for each in summaries
    ]
    series = {
        "document 000": [
            float(published.WARNINGS[each["variant"], each["slow"]].warnings) for each in summaries
        ],
        "ours": [float(sum(each["warnings"].values())) for each in summaries],
    }
    drawn = dot_plot.draw(rows, series, NUMBERS)
    return f'{dot_plot.legend(list(series))}<div class="scroll">{drawn}</div>'


def backlog_plot(results: Results) -> str:
    series = {}
    for variant, backlog in results["backlog"].items():
        times = range(len(backlog["calls"]))
        series[VARIANTS[variant]] = [
            ((backlog["from_ns"] + backlog["interval_ns"] * number) / 1e9, float(calls))
            for number, calls in zip(times, backlog["calls"], strict=True)
        ]
    drawn = line_plot.draw(series, "seconds", "Calls without an answer at the leader")
    return f'{dot_plot.legend(list(series))}<div class="scroll">{drawn}</div>'


def _graph(variant: str) -> Callable[[Results], str]:
    def part(results: Results) -> str:
        graph = graph_of(results["graphs"][variant])
        return (
            f'<div class="scroll">{drawing.svg(graph, variant)}</div>'
            f"<details><summary>The same as a table</summary>{drawing.table(graph)}</details>"
        )

    return part


def scale(results: Results) -> str:
    """The command and options of the results."""
    used = Scale(**results["scale"])
    return (
        f"Runs of each variant, with and without a slow follower: {used.runs}. Seeds of each slow"
        f" follower below: {used.seeds}.\n\n```\n{used.command()}\n```"
    )


def saucr_scale(results: Results) -> str:
    """The command of the results."""
    return f"```\n{sequences.Scale(**results['scale']).command()}\n```"


def _markdown(table: Table) -> str:
    lines = [f"**{table.title}**", ""]
    lines += [f"| {' | '.join(table.heads)} |", "| --- |" + " --- |" * (len(table.heads) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return "\n".join([*lines, "", table.note])


def _table(name: str) -> Callable[[Results], str]:
    return lambda results: _markdown(TABLES[name](results))


def saucr_failures(results: Results) -> str:
    """Figure 9 of document 003."""
    slots = results["figures"]["slots"]
    points = [(10.0 * number, 100.0 * count) for number, count in enumerate(slots)]
    drawn = line_plot.draw({"SAUCR": points}, "ms", "Commands in a second, by 10 ms")
    return f'<div class="scroll">{drawn}</div>'


OF_SAUCR: dict[str, Callable[[Results], str]] = {
    "saucr-scale": saucr_scale,
    "saucr-failures": saucr_failures,
    "saucr-bars": lambda results: benchmarked.bars(results["figures"]),
    "saucr-plots": lambda results: benchmarked.plots(results["figures"]),
    "saucr-others": lambda results: benchmarked.others(results["figures"]),
    "table-2": lambda results: _markdown(table2.table(results)),
}
PARTS: dict[str, Callable[[Results], str]] = {
    **OF_SAUCR,
    "scale": scale,
    "warnings-plot": warnings_plot,
    "backlog-plot": backlog_plot,
    "graph-reference": _graph(published.REFERENCE),
    "graph-waits-in-turn": _graph(WAITS_IN_TURN),
    **{name: _table(name) for name in TABLES},
}
