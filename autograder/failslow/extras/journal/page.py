"""A journal as a page: a row for each day with a mark for each step, and a table below."""

import html
from collections.abc import Sequence

from failslow.extras.journal.entries import Entry
from failslow.extras.slowness import html_report

LEFT, HOUR, ROW = 90, 24, 24

STYLE = """<style>
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg path { stroke: currentColor; fill: none; }
svg .full { fill: currentColor; }
</style>"""

SHAPES = {
    "test": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
    "replay": "M0 -5L5 0L0 5L-5 0Z",
    "submit": "M-5 -5H5V5H-5Z",
}
WORD = "M0 -11V11"

HEADS = ("time (UTC)", "command", "lab", "test", "seed", "result", "files")


def document(entries: Sequence[Entry]) -> str:
    """Requires: at least one entry."""
    entries = sorted(entries, key=lambda each: each.time)
    rows = [[html.escape(cell) for cell in _cells(each)] for each in reversed(entries)]
    days = sorted({each.time.date() for each in entries})
    states = len({each.sources for each in entries if each.sources})
    counts = (
        f"{len(entries)} lines on {len(days)} days, {states} states of the files. Circle: test."
        " Diamond: replay. Square: submit. Filled: all passed. Line: begin or end."
    )
    marks = [_mark(days.index(each.time.date()), each) for each in entries]
    names = [f'<text x="0" y="{ROW * row + 16}">{day}</text>' for row, day in enumerate(days)]
    bottom = ROW * len(days) + 16
    hours = [f'<text x="{LEFT + HOUR * h}" y="{bottom}">{h}:00</text>' for h in range(0, 24, 6)]
    label = "The steps of each day by hour, in UTC. The table below has all."
    size = f'viewBox="0 0 {LEFT + 25 * HOUR} {bottom + 4}"'
    drawn = "".join([*hours, *names, *marks])
    svg = f'<svg {size} role="img" aria-label="{label}">{drawn}</svg>'
    body = f"{STYLE}<p>{counts}</p>{svg}{html_report.table(HEADS, rows)}"
    return html_report.PAGE.format(title="Journal", body=body)


def _cells(entry: Entry) -> list[str]:
    e = entry
    return [f"{e.time:%Y-%m-%d %H:%M:%S}", e.do, e.lab, e.what, e.seed, e.result, e.sources]


def _mark(row: int, entry: Entry) -> str:
    x = LEFT + HOUR * (entry.time.hour + entry.time.minute / 60)
    words = entry.result.split()
    full = entry.result == "passed" or (words[1:2] == ["of"] and words[0] == words[-1])
    return (
        f'<g transform="translate({x:.1f} {ROW * row + 12})">'
        f"<title>{html.escape(' '.join(_cells(entry)))}</title>"
        f'<path class="{"full" if full else "part"}" d="{SHAPES.get(entry.do, WORD)}"/></g>'
    )
