"""The page of a sweep: a heat map for each role and workload, and the findings."""

import html
from collections.abc import Sequence
from itertools import groupby

from failslow.extras.faults import findings, verdict
from failslow.extras.faults.sweep import LITTLE, MUCH, WORKLOADS, Cell, Row
from failslow.extras.slowness.html_report import PAGE

STYLE = """<style>
table.heat td { padding: .35rem .6rem; border: 1px solid #8886; text-align: center; color: #111;
 white-space: nowrap; }
table.heat th { padding-right: .8rem; font-weight: 600; }
table.heat small { display: block; }
.danger { outline: 3px solid #7f1d1d; outline-offset: -3px; }
table.list td, table.list th { border-bottom: 1px solid #8884; }
.wide { overflow-x: auto; }
</style>"""
STEPS = 20
"""Shades of the map."""


LEGEND = (
    "<p>Each cell is an experiment on real processes: healthy, slow, slow, healthy. The number"
    " is the share of its work that a client loses which waits for each answer. Faults get"
    f" stronger to the right. Outlined: a danger zone, from at most {100 * LITTLE:.0f} % to at"
    f" least {100 * MUCH:.0f} %. ↓: clearly less than a weaker fault costs. ⚑: the leader has"
    f" changed. An interval holds with {100 * verdict.CONFIDENCE:.0f} %.</p>"
)


def render(maps: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """`maps`: a store's name, and what its faults cost."""
    title = f"Strengths of faults: {', '.join(name for name, _ in maps)}"
    stores = [_store(name, rows) for name, rows in maps]
    return PAGE.format(title=html.escape(title), body="\n".join([STYLE, LEGEND, *stores]))


def _store(name: str, rows: Sequence[Row]) -> str:
    name = html.escape(name)
    heats = [
        f"<h2>Slow {html.escape(target)} of {name}, {workload} values ({WORKLOADS[workload]}"
        f" bytes)</h2>{_map(list(members))}"
        for (target, workload), members in groupby(rows, lambda row: (row.target, row.workload))
    ]
    return "\n".join([*heats, f"<h2>Findings of document 004 for {name}</h2>", _findings(rows)])


def _map(rows: Sequence[Row]) -> str:
    lines = "".join(
        f'<tr><th scope="row">{html.escape(row.kind)}</th>'
        f"{''.join(_cell(row, cell) for cell in row.cells)}</tr>"
        for row in rows
    )
    return f'<div class="wide"><table class="heat"><tbody>{lines}</tbody></table></div>'


def _cell(row: Row, cell: Cell) -> str:
    zone = row.danger_zone
    marks = ("↓" if cell in row.milder else "") + ("⚑" if cell.leader_changed else "")
    outlined = ' class="danger"' if zone and cell in zone else ""
    amount = cell.fault.removeprefix(cell.kind).strip()
    why = html.escape(f"{cell.verdict} {cell.reason}".strip(), quote=True)
    return (
        f'<td{outlined} style="background:{_colour(cell.loss.value)}" title="{why}">'
        f"{round(100 * cell.loss.value)} % {marks}<small>{html.escape(amount)}</small></td>"
    )


def _colour(loss: float) -> str:
    """From green over yellow to red. One that is not known well is no darker for it."""
    share = round(min(1.0, max(0.0, loss)) * STEPS) / STEPS
    hue = 130 * (1 - share)
    return f"hsl({hue:.0f} 65% 72%)"


def _findings(rows: Sequence[Row]) -> str:
    lines = "".join(
        f"<tr><td>{each.number}</td><td>{html.escape(each.says)}</td><td>{each.verdict}</td>"
        f"<td>{html.escape(each.seen)}</td></tr>"
        for each in findings.of(rows)
    )
    heads = "".join(
        f'<th scope="col">{head}</th>' for head in ("finding", "it says", "here", "seen")
    )
    return (
        f'<div class="wide"><table class="list"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
