"""Draws a dot plot as SVG: a row for each name, a mark for each series, on a logarithmic scale.

The colours are those of the handbook's style sheet, so that the plot follows light and dark. Each
series has a shape of its own, too.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LABELS, RIGHT, TOP, BOTTOM = 243, 20, 8, 40
WIDTH = 700
NAME_CHARS_MAX = 34
"""Characters that LABELS has room for."""
ROW = 22
LANES = 3
"""The vertical distance of the marks in a row: equal values stay visible."""
RADIUS = 4.5

SHAPES = (
    "M-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z",  # circle
    "M0 -{r}L{r} 0L0 {r}L-{r} 0Z",  # diamond
    "M0 -{r}L{r} {r}L-{r} {r}Z",  # triangle
    "M-{r} -{r}H{r}V{r}H-{r}Z",  # square
    "M-{r} -{r}L0 0L-{r} {r}M{r} -{r}L0 0L{r} {r}",  # cross
)


@dataclass(frozen=True)
class Scale:
    """From `least` to `most`; values below and above are drawn at its ends. `ticks` have words.
    `bar` is drawn as a line across all rows, unless it is None."""

    least: float
    most: float
    ticks: Mapping[float, str]
    bar: float | None
    title: str

    def x(self, value: float) -> float:
        inside = min(max(value, self.least), self.most)
        share = math.log(inside / self.least) / math.log(self.most / self.least)
        return round(LABELS + share * (WIDTH - LABELS - RIGHT), 1)


def draw(rows: Sequence[str], series: Mapping[str, Sequence[float]], scale: Scale) -> str:
    """`series`: a value for each row, by name. Infinite values stand at the right end.

    Requires: no name is longer than NAME_CHARS_MAX, or it would be cut.
    """
    assert len(series) <= len(SHAPES)
    assert all(len(name) <= NAME_CHARS_MAX for name in rows), rows
    bottom = TOP + ROW * len(rows)
    label = html.escape(f"{scale.title}. The table below has the numbers.", quote=True)
    size = f'viewBox="0 0 {WIDTH} {bottom + BOTTOM}"'
    return "".join(
        [
            f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" {size} role="img"',
            f' aria-label="{label}">',
            *(_tick(scale, value, text, bottom) for value, text in scale.ticks.items()),
            "" if scale.bar is None else _line("bar", scale.x(scale.bar), bottom),
            text_at(LABELS, bottom + 36, scale.title, "start"),
            *(_row(number, name) for number, name in enumerate(rows)),
            *(
                _mark(number, len(series), row, scale.x(value), f"{name}, {rows[row]}")
                for number, (name, values) in enumerate(series.items())
                for row, value in enumerate(values)
            ),
            "</svg>",
        ]
    )


def legend(series: Sequence[str]) -> str:
    marks = [
        f'<span><svg class="plot" viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">'
        f"{_shape(number)}</svg> {html.escape(name)}</span>"
        for number, name in enumerate(series)
    ]
    return f'<p class="legend">{" ".join(marks)}</p>'


def _tick(scale: Scale, value: float, text: str, bottom: int) -> str:
    """The last one's words end at its line: there is no room beside it."""
    x = scale.x(value)
    anchor = "end" if value >= scale.most else "middle"
    return _line("tick", x, bottom) + text_at(x, bottom + 16, text, anchor)


def _line(kind: str, x: float, bottom: int) -> str:
    return f'<path class="{kind}" d="M{x} {TOP}V{bottom}"/>'


def _row(number: int, name: str) -> str:
    middle = TOP + ROW * number + ROW // 2
    return text_at(LABELS - 10, middle + 4, name, "end")


def text_at(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _mark(number: int, of: int, row: int, x: float, title: str) -> str:
    lane = (number - (of - 1) / 2) * LANES
    y = round(TOP + ROW * row + ROW / 2 + lane, 1)
    return (
        f'<g transform="translate({x} {y})"><title>{html.escape(title)}</title>{_shape(number)}</g>'
    )


def _shape(number: int) -> str:
    path = SHAPES[number].format(r=RADIUS, d=2 * RADIUS)
    return f'<path class="series-{number + 1}" d="{path}"/>'
