"""Draws lines over time as SVG, on linear scales. Colours and legend are those of the dot plot."""

import html
from collections.abc import Mapping, Sequence

from failslow.extras.shared.dot_plot import text_at

LEFT, RIGHT, TOP, BOTTOM = 70, 20, 22, 44
WIDTH, HEIGHT = 700, 300
TICKS = 6
"""The most ticks of a scale."""

Points = Sequence[tuple[float, float]]


def draw(
    series: Mapping[str, Points],
    x_title: str,
    y_title: str,
    band: tuple[float, float] | None = None,
) -> str:
    """`band`: a part of x that is shaded. Requires: some x and some y is above zero, and none is
    below."""
    x_most = _end(max(x for points in series.values() for x, _ in points))
    y_most = _end(max(y for points in series.values() for _, y in points))
    bottom = HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x / x_most * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(bottom - y / y_most * (bottom - TOP), 1)

    drawn = []
    if band is not None:
        (left, top), (right, _) = place(band[0], y_most), place(band[1], y_most)
        drawn.append(f'<path class="band" d="M{left} {top}H{right}V{bottom}H{left}Z"/>')
    for tick in _ticks(x_most):
        x, _ = place(tick, 0)
        drawn.append(f'<path class="tick" d="M{x} {TOP}V{bottom}"/>')
        drawn.append(text_at(x, bottom + 16, f"{tick:,.0f}", "middle"))
    for tick in _ticks(y_most):
        _, y = place(0, tick)
        drawn.append(f'<path class="tick" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
        drawn.append(text_at(LEFT - 8, y + 4, f"{tick:,.0f}", "end"))
    for number, (name, points) in enumerate(series.items(), start=1):
        path = "L".join(f"{x} {y}" for x, y in (place(*point) for point in points))
        title = f"<title>{html.escape(name)}</title>"
        drawn.append(f'<path class="line series-{number}" d="M{path}">{title}</path>')
    label = html.escape(f"{y_title}, by {x_title}. The table has the numbers.", quote=True)
    return "".join(
        [
            f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
            f' role="img" aria-label="{label}">',
            *drawn,
            text_at(0, 12, y_title, "start"),
            text_at(WIDTH - RIGHT, HEIGHT - 8, x_title, "end"),
            "</svg>",
        ]
    )


def _step(most: float) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten."""
    power = 1.0
    while power * 10 * TICKS < most:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * TICKS >= most)


def _end(most: float) -> float:
    """The end of a scale: the first tick that is not below."""
    step = _step(most)
    return -(-most // step) * step


def _ticks(end: float) -> list[float]:
    step = _step(end)
    return [step * number for number in range(round(end / step) + 1)]
