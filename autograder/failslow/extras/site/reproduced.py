"""The plots, tables and graphs that pages show of the committed results of `./kit reproduce`.

`./kit reproduce --json` makes the results, and `./kit reproduce NAME --json` those of a lab's kit.
A page asks for a part in double braces: see PARTS. NAME-PART is a part of a lab's: see _of_a_lab.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from failslow.base.kit import Kit
from failslow.extras import lab_kits
from failslow.extras.reproduction import published
from failslow.extras.reproduction.published import VARIANTS
from failslow.extras.reproduction.reproduction import Lines, Reproduction, command, results_path
from failslow.extras.reproduction.results import Scale
from failslow.extras.reproduction.tables import TABLES, Results, Table
from failslow.extras.reproduction.variants import WAITS_IN_TURN
from failslow.extras.shared import dot_plot, line_plot
from failslow.extras.site import benchmarked
from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import graph_of

RESULTS = Path("docs/assets/reproduction.json")
"""Below the handbook's directory."""

WANTED = re.compile(r"^\{\{ reproduced\.([\w-]+) \}\}$", re.M)

NUMBERS = dot_plot.Scale(
    least=0.4,
    most=100_000,
    ticks={0.4: "0", 1: "1", 10: "10", 100: "100", 1000: "1,000", 10_000: "10,000"},
    bar=None,
    title="Warnings in a run",
)


def fill(kit: Kit, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""
    known = parts(kit)

    def part(found: re.Match[str]) -> str:
        path, make = known[found[1]]
        return make(json.loads(path.read_text(encoding="utf-8")))

    return WANTED.sub(part, markdown)


Part = Callable[[Results], str]


def parts(kit: Kit) -> dict[str, tuple[Path, Part]]:
    """The file of results and the function of each part."""
    found = {name: (kit.site / RESULTS, make) for name, make in PARTS.items()}
    for name, each in lab_kits.reproductions(kit).items():
        path = results_path(kit, name)
        found |= {f"{name}-{part}": (path, make) for part, make in _of_a_lab(name, each).items()}
    return found


def _of_a_lab(name: str, of: Reproduction) -> dict[str, Part]:
    """Its tables and lines, the parts of its section, and `command`: the one of these results."""

    def in_words(results: Results) -> str:
        return f"```\n{command(name, of.is_quick(results))}\n```"

    def markdown(make: Callable[[Results], Table]) -> Part:
        return lambda results: make(results).markdown()

    def drawn(make: Callable[[Results], Lines]) -> Part:
        return lambda results: _drawn(make(results))

    def of_section(part: Callable[[Mapping[str, Any]], str]) -> Part:
        return lambda results: part(asdict(of.section(results)))

    return {
        "command": in_words,
        **{part: markdown(make) for part, make in of.tables.items()},
        **{part: drawn(make) for part, make in of.lines.items()},
        **{part: of_section(benchmarked.PARTS[part]) for part in ("bars", "plots", "others")},
    }


def _drawn(lines: Lines) -> str:
    drawn = line_plot.draw(lines.series, lines.x_title, lines.y_title)
    return f'<div class="scroll">{drawn}</div>'


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


def _table(name: str) -> Callable[[Results], str]:
    return lambda results: TABLES[name](results).markdown()


PARTS: dict[str, Part] = {
    "scale": scale,
    "warnings-plot": warnings_plot,
    "backlog-plot": backlog_plot,
    "graph-reference": _graph(published.REFERENCE),
    "graph-waits-in-turn": _graph(WAITS_IN_TURN),
    **{name: _table(name) for name in TABLES},
}
