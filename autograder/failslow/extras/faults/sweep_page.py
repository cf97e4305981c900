"""The page of a sweep: heat maps with danger zones, runs over time, and the findings.

The handbook's page has the same parts.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from failslow.extras.faults import findings, sweep
from failslow.extras.faults.findings import CRASH, JUDGED, Finding
from failslow.extras.faults.sweep import LITTLE, MUCH, Cell, Row
from failslow.extras.shared import line_plot
from failslow.extras.slowness import html_report

STYLE = """<style>
table.heat td { padding: .3rem .5rem; border: 1px solid #8886; text-align: center; color: #111;
 white-space: nowrap; }
table.heat th { padding-right: .8rem; font-weight: 600; text-align: left; white-space: nowrap; }
table.heat small { display: block; }
table.heat .danger { border-block: 3px solid #7f1d1d; }
table.heat .first { border-inline-start: 3px solid #7f1d1d; }
table.heat .last { border-inline-end: 3px solid #7f1d1d; }
table.heat .edge { border-inline-start: 3px dashed #7f1d1d; }
table.list td, table.list th { border-bottom: 1px solid #8884; vertical-align: top; }
.wide { overflow-x: auto; }
.beside { display: flex; flex-wrap: wrap; column-gap: 2rem; }
.beside section { max-width: 100%; }
svg.plot { max-width: 100%; height: auto; }
svg.plot text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg.plot .tick { stroke: #8884; fill: none; }
svg.plot .band { fill: #dc262633; }
svg.plot .line { fill: none; stroke: #1a56c4; stroke-width: 1.8; }
@media (prefers-color-scheme: dark) { svg.plot .line { stroke: #8caaf5; } }
</style>"""
STEPS = 20
"""Shades of the map."""
PLOTS = 2
"""Faults of each role that are drawn over time."""

LEGEND = (
    "<p>Each cell is a run with one slow replica. The number is the throughput that is lost under"
    " the fault, by the throughput before it in the same run (document 004, section 2.2). In an"
    " open loop it is the loss of a client that waits for each answer. Faults get stronger to the"
    f" right. Outlined: a danger zone, from at most {100 * LITTLE:.0f} % to at least"
    f" {100 * MUCH:.0f} %; its dashed lines are where the loss passes these two. ↓: clearly less"
    " than a weaker fault costs. ⚑: another replica has become the leader. ✕: a replica died, or"
    " did not catch up. Void: the fault had no effect.</p>"
)


def render(maps: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """`maps`: a system's name, and what its faults cost. Maps of a role stand beside each other."""
    title = f"Strengths of faults: {', '.join(name for name, _ in maps)}"
    body = [STYLE, "<h2>In short</h2>", brief(maps), LEGEND]
    for role in dict.fromkeys(row.point.target for _, rows in maps for row in rows):
        found = [(name, [row for row in rows if row.point.target == role]) for name, rows in maps]
        parts = [f"<section>{heat(name, rows)}</section>" for name, rows in found if rows]
        body.append(f'<div class="beside">{"".join(parts)}</div>')
    of_all = findings.of_all(dict(maps))
    for name, rows in maps:
        body += [over_time(name, sweep.measured(rows)), judged(name, of_all[name])]
    body.append(unjudged(of_all))
    return html_report.PAGE.format(title=html.escape(title), body="\n".join(body))


def heat(name: str, rows: Sequence[Row]) -> str:
    """A map for each role."""
    return "\n".join(
        f"<h2>Slow {html.escape(target)} of {html.escape(name)}</h2>{_map(list(members))}"
        for target, members in groupby(rows, lambda row: row.point.target)
    )


def over_time(name: str, rows: Sequence[Row]) -> str:
    """Throughput and latency of the costliest faults of each role, with the fault as a band."""
    parts = []
    for cell in _drawn(rows):
        points = list(sweep.over_time(cell))
        where = f"{cell.fault} on a {cell.point.target} of {name}"
        words = ", ".join(cell.point.unusual)
        parts.append(f"<h3>{html.escape(where)}{f', {words}' if words else ''}</h3>")
        for at, title in ((1, "commands/s"), (2, "mean latency (ms)")):
            series = {where: [(point[0], point[at]) for point in points]}
            parts.append(line_plot.draw(series, "time (s)", title, sweep.band(cell)))
    return "\n".join(parts)


def with_few_series(rows: Sequence[Row]) -> list[Cell]:
    """All cells; those that are not drawn over time have no series."""
    kept = _drawn(rows)
    cells = [cell for row in rows for cell in row.cells]
    return [cell if cell in kept else replace(cell, series=()) for cell in cells]


def _drawn(rows: Sequence[Row]) -> list[Cell]:
    """The costliest cells of different faults for each role, and the costliest with a new leader.
    A committed result has no other series."""
    found: list[Cell] = []
    for _, members in groupby(rows, lambda row: row.point.target):
        cells = [cell for row in members for cell in row.cells if row.point.kind != CRASH]
        cells.sort(key=lambda cell: -cell.loss.value)
        worst = {cell.point.kind: cell for cell in reversed(cells)}.values()
        found += sorted(worst, key=cells.index)[:PLOTS]
        found += [cell for cell in cells if cell.leader_changes][:1]
    return [cell for cell in found if cell.series]


def brief(maps: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """A table of `in_short`."""
    text = (
        "<p>Of each fault: its danger zone, or the most that it costs. Then the longest time until"
        " throughput is back, and the least throughput after it, by that before the fault.</p>"
    )
    return text + _table(*in_short(maps))


def in_short(maps: Sequence[tuple[str, Sequence[Row]]]) -> tuple[list[str], list[list[str]]]:
    """The heads and the lines of a table: all roles and faults, and what each system says."""
    found = [_usual(sweep.measured(rows)) for _, rows in maps]
    places = dict.fromkeys(place for each in found for place in each)
    lines = [[*at, *(_words(each[at]) if at in each else "-" for each in found)] for at in places]
    return ["slow", "fault", *(name for name, _ in maps)], lines


def _usual(rows: Sequence[Row]) -> dict[tuple[str, str], Row]:
    """By role and fault, those whose other axes are as in most cells, as far as there are any."""
    slow = [row for row in rows if row.point.kind != CRASH]
    least = min((len(row.point.unusual) for row in slow), default=0)
    found: dict[tuple[str, str], Row] = {}
    for row in slow:
        if len(row.point.unusual) == least:
            found.setdefault((row.point.target, row.point.kind), row)
    return found


def _words(row: Row) -> str:
    most = max(0.0, *(cell.loss.value for cell in row.cells))  # noise is no gain
    cost = f"costs {round(100 * most)} % at most"
    if row.danger_zone:
        low, high = row.danger_zone
        cost = f"danger from {_amount(low)} to {_amount(high)}"
    times = [cell.recovery_s for cell in row.cells]
    slowest = max(each or 0 for each in times)
    back = "not back in the run" if None in times else f"back in {slowest:.1f} s"
    return f"{cost}; {back}; then {100 * min(cell.residue for cell in row.cells):.0f} %"


def _amount(cell: Cell) -> str:
    return cell.fault.removeprefix(cell.point.kind).strip()


def judged(name: str, found: Sequence[Finding]) -> str:
    """A line for each finding of document 004 that a system's cells can judge."""
    lines = [
        [str(each.number), each.says, each.verdict, each.seen]
        for each in found
        if each.verdict in JUDGED
    ]
    title = f"<h2>Findings of document 004 for {html.escape(name)}</h2>"
    return title + _table(["finding", "it says", "here", "seen"], lines)


def unjudged(found: Mapping[str, Sequence[Finding]]) -> str:
    """A line for each of the others, with its reasons. `found`: by the systems' names."""
    reasons: dict[tuple[int, str], dict[str, list[str]]] = {}
    for name, of_one in found.items():
        for each in of_one:
            if each.verdict not in JUDGED:
                of_number = reasons.setdefault((each.number, each.says), {})
                of_number.setdefault(f"{each.verdict}: {each.seen}", []).append(name)
    lines = [
        [
            str(number),
            says,
            "; ".join(
                reason if len(names) == len(found) else f"{', '.join(names)}: {reason}"
                for reason, names in of_number.items()
            ),
        ]
        for (number, says), of_number in sorted(reasons.items())
    ]
    title = "<h2>Findings that these cells do not judge</h2>"
    return title + _table(["finding", "it says", "reason"], lines)


def _map(rows: Sequence[Row]) -> str:
    lines = "".join(
        f'<tr><th scope="row">{html.escape(row.point.kind)}'
        f"<small>{html.escape(', '.join(row.point.unusual))}</small></th>"
        f"{''.join(_cell(row, cell) for cell in row.cells)}</tr>"
        for row in rows
    )
    return f'<div class="wide"><table class="heat"><tbody>{lines}</tbody></table></div>'


def _cell(row: Row, cell: Cell) -> str:
    classes = _classes(row, cell)
    within = f' class="{classes}"' if classes else ""
    amount = html.escape(_amount(cell))
    if cell.is_void:
        why = html.escape(cell.trouble, quote=True)
        return f'<td{within} style="background:#bbb" title="{why}">void<small>{amount}</small></td>'
    marks = "".join(
        mark
        for mark, is_so in (
            ("↓", cell in row.milder),
            ("⚑", cell.leader_changes),
            ("✕", cell.trouble),
        )
        if is_so
    )
    again = "not in the run" if cell.recovery_s is None else f"after {cell.recovery_s:g} s"
    why = html.escape(
        f"p99 {100 * cell.p99:+.0f} %, recovered {again}, residue {cell.residue:.2f}."
        f" {cell.trouble}".strip(),
        quote=True,
    )
    return (
        f'<td{within} style="background:{_colour(cell.loss.value)}" title="{why}">'
        f"{round(100 * cell.loss.value)} % {marks}<small>{amount}</small></td>"
    )


def _classes(row: Row, cell: Cell) -> str:
    """The cell's part in the outline of the danger zone, and the edges that bisection has found."""
    zone = row.zone
    if cell not in zone:
        return ""
    parts = {"danger": True, "first": cell is zone[0], "last": cell is zone[-1]}
    parts["edge"] = cell in (zone[1], zone[-1])
    return " ".join(name for name, has in parts.items() if has)


def _colour(loss: float) -> str:
    """From green over yellow to red. One that is not known well is no darker for it."""
    share = round(min(1.0, max(0.0, loss)) * STEPS) / STEPS
    hue = 130 * (1 - share)
    return f"hsl({hue:.0f} 65% 72%)"


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return html_report.table(heads, [[html.escape(each) for each in line] for line in lines])
