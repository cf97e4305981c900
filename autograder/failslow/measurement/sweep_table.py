"""A sweep as a table, and as lines of text."""

import math
from collections.abc import Sequence

from rich import box
from rich.table import Table

from failslow.measurement.formatting import percent, seconds, size
from failslow.measurement.sweep import Cell, Spread

COLUMNS = (
    "throughput\nlost",
    "latency\ngrown",
    "p99\nlongest",
    "stall",
    "held\nheap",
    "catch-up",
    "lag",
)

LEGEND = (
    "Medians over the seeds, with the worst seed in brackets: throughput with more commands than"
    " the capacity, latency at 65 % of it. The 99th percentile is a median, too, above the longest"
    " latency; all other figures are those of the worst run. Held: bytes that the leader held for"
    " one peer, above the growth of a healthy replica's heap. Lag: the fewest entries that a slow"
    " replica was behind; near 0 the fault delays answers alone, or nothing."
)


def table(title: str, cells: Sequence[Cell]) -> Table:
    """Two lines for each cell."""
    result = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    result.add_column("fault\n(of replicas)")
    for name in COLUMNS:
        result.add_column(name, justify="right")
    for cell in cells:
        result.add_row(f"{cell.fault}\n({cell.replicas}, {cell.victim})", *_figures(cell))
    return result


def line(cell: Cell) -> str:
    """A cell in one line of plain text, for a report without tables."""
    where = f"{cell.replicas} replicas, slow {cell.victim}, {cell.fault}"
    if cell.misbehaved is not None:
        return f"{where}: {cell.misbehaved}"
    return (
        f"{where}: throughput lost {cost(cell.throughput.median)}, latency grown"
        f" {cost(cell.latency.median)}, 99th percentile {_times(cell.p99)}, longest stall"
        f" {seconds(cell.stall_ns)}"
    )


def cost(share: float) -> str:
    """A share in a narrow column; from a doubling on, a factor."""
    if math.isinf(share):
        return "all"
    if share < 1:
        return percent(share).replace(" %", "%")
    return f"{share + 1:.{0 if share >= 9 else 1}f}x"


def _figures(cell: Cell) -> list[str]:
    if cell.misbehaved is not None:
        return ["error", *[""] * (len(COLUMNS) - 1)]
    return [
        _spread(cell.throughput),
        _spread(cell.latency),
        f"{_times(cell.p99)}\n{seconds(cell.longest_ns)}",
        seconds(cell.stall_ns),
        f"{size(cell.held_bytes)}\n{size(cell.heap_bytes)}",
        seconds(cell.catch_up_ns),
        f"{cell.lag}",
    ]


def _spread(spread: Spread) -> str:
    return f"{cost(spread.median)}\n({cost(spread.worst)})"


def _times(ratio: float) -> str:
    return "never" if math.isinf(ratio) else f"{ratio:.2f}x"
