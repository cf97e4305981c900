"""Prints a grade as tables."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from failslow.base.console import FAILED, PASSED
from failslow.grade import losses
from failslow.grade.model import Grade, LabGrade, TestRow
from failslow.measurement import sweep_table
from failslow.measurement.figures import FIGURES, MEAN_LATENCY, THROUGHPUT
from failslow.measurement.formatting import seconds
from failslow.measurement.measure import Measurement
from failslow.measurement.runs import REALISTIC
from failslow.measurement.scoring import Judged, Row
from failslow.measurement.settings import (
    FOLLOWER,
    MEDIAN,
    SUBMIT,
    WITH_DEAD,
    WORST,
    Graded,
)

COLUMNS = (
    "throughput\nlost",
    "latency\ngrown",
    "stall\nunans.",
    "p99",
    "held",
    "catch-up",
    "vs\ndead",
    "spare",
)
PARTS_FRAME = 7
"""Lines of the table of parts, and of what follows it, that are no part."""


def print_lab(console: Console, lab: LabGrade, verbose: bool) -> None:
    """Prints the lost points with their reasons on one screen, and a line for each part. `verbose`:
    all reasons, the rows that lost nothing, and the measurement's figures."""
    for remark in lab.missing:
        console.print(remark, markup=False, soft_wrap=True)
    parts = _parts_table(lab)
    lost = [row for row in lab.rows if not row.earned]
    if verbose:
        losses.print_all(console, lost)
        console.print(_rows_table(lab))
        if lab.measurement:
            _print_measurement(console, lab.measurement, lab.rows[-1].title)
    elif lost:
        losses.print_brief(console, lost, reserved=parts.row_count + PARTS_FRAME)
    console.print(parts)
    if lab.measurement:
        rows = lab.measurement.rows
        made, planned = sum(row.made for row in rows), sum(row.planned for row in rows)
        console.print(f"{made} of {planned} measured runs decided their rows.", style="dim")


def print_score(console: Console, grade: Grade) -> None:
    """Requires: the labs were printed."""
    console.print(grade.losses)
    console.print(f"[bold]Score: {_of(grade.score, grade.max_score)}[/bold]")
    if grade.partial:
        console.print(f"[yellow]{grade.partial}[/yellow]")
    if grade.key.mark:
        console.print(f"[yellow]{grade.key.mark}[/yellow]")


def _of(score: float, max_score: float) -> str:
    return f"{score:g} of {max_score:g}"


def _parts_table(lab: LabGrade) -> Table:
    """The sums: one line for each part, then the lab's."""
    name = escape(f"{lab.lab.id} {lab.lab.title}")
    table = Table("part", title_justify="left", box=box.SIMPLE_HEAD, show_footer=True)
    table.columns[0].footer = f"[bold]{name}[/bold]"
    table.add_column("points", f"{lab.score:g}/{lab.max_score:g}", justify="right", no_wrap=True)
    table.add_column("lines that lost points", justify="right")
    for part in lab.lab.parts:
        rows = [row for row in lab.rows if row.part == part.id]
        if not rows:
            continue
        score, most = sum(row.score for row in rows), sum(row.max_score for row in rows)
        lost = sum(1 for row in rows if not row.earned)
        shown = f"[red]{lost}[/red] of {len(rows)}" if lost else f"0 of {len(rows)}"
        table.add_row(escape(part.title), f"{score:g}/{most:g}", shown)
    return table


def _rows_table(lab: LabGrade) -> Table:
    """The table of the rows that lost nothing."""
    title = f"{lab.lab.id}: {escape(lab.lab.title)}, without a loss"
    table = Table(title=title, title_justify="left")
    table.add_column("test", overflow="fold", ratio=1)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in filter(lambda row: row.earned, lab.rows):
        points = f"{row.score:g}/{row.max_score:g}" if row.max_score else ""
        hidden = "[dim]hidden[/dim] " if row.hidden else ""
        table.add_row(f"{hidden}{escape(row.title)}{_margins(row)}", points, PASSED)
    return table


def _margins(row: TestRow) -> str:
    """The distance of a measured row from its limits. A test has none."""
    return f"\n[dim]{escape(row.output)}[/dim]" if row.max_score and row.output else ""


def _print_measurement(console: Console, measurement: Measurement, ungraded: str) -> None:
    """`ungraded`: the title of what has no points, the lab's last row if there is any."""
    console.print(_measurement_table(measurement))
    capacities = ", ".join(
        f"{value:,.0f} commands/s with {load_name(*load)}"
        for load, value in measurement.capacities.items()
    )
    console.print(f"Capacity without a fault: {capacities}.")
    console.print(f"Strengths of the faults: {', '.join(measurement.strengths)}.")
    unslowed = {
        (row.graded.mix, row.graded.replicas): row.unslowed
        for row in measurement.rows
        if row.unslowed
    }
    for load, each in unslowed.items():
        console.print(
            f"The worst runs with {load_name(*load)} without a fault: {each.throughput:,.0f}"
            f" commands/s (floor {each.throughput_floor:,.0f}), {seconds(each.latency_ns)} on"
            f" average (ceiling {seconds(each.latency_ceiling_ns)})."
        )
    console.print(
        "Medians of the worst slow minority, with the worst run in brackets. The longest stall"
        " stands above the share of unanswered commands. In the last two columns throughput lost"
        " stands above latency grown: slow against dead followers ('vs dead'), and, with realistic"
        " jitter, slow against normal ones ('spare': the cost of a lost spare).\n",
        style="dim",
        soft_wrap=True,
    )
    if measurement.ungraded:
        title = f"{ungraded} (one seed, no points)"
        console.print(sweep_table.table(title, measurement.ungraded))


def _measurement_table(measurement: Measurement) -> Table:
    """Two lines to a row: ten columns must fit a terminal."""
    table = Table(title="Slow replicas against none", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("fault\n(of replicas)")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    table.add_column("verdict\n(points)")
    for row in measurement.rows:
        table.add_row(f"{row.graded.fault}\n({_whose(row.graded)})", *_figures(row), _verdict(row))
    return table


def load_name(mix: str, replicas: int) -> str:
    """'3 replicas', or 'get, 3 replicas' where the clients have several mixes of commands."""
    return f"{replicas} replicas" if mix == SUBMIT else f"{mix}, {replicas} replicas"


def _whose(row: Graded) -> str:
    mix = [] if row.mix == SUBMIT else [row.mix]
    victim = [] if row.victim == FOLLOWER else [row.victim]
    return ", ".join([*mix, str(row.replicas), *victim])


def _verdict(row: Row) -> str:
    verdict = PASSED if row.passed else losses.VOID if row.is_void else FAILED
    return f"{verdict}\n({row.score:g}/{row.points})"


def _figures(row: Row) -> list[str]:
    if row.error is not None:
        return ["error", *[""] * (len(COLUMNS) - 1)]
    dead = [each for each in row.criteria if each.criterion.compared_with == WITH_DEAD]
    spare = [each for each in row.criteria if REALISTIC in each.criterion.runs]
    return [
        _median_and_worst(row, THROUGHPUT),
        _median_and_worst(row, MEAN_LATENCY),
        _lines([row.find("stall", WORST), row.find("unanswered", WORST)]),
        _lines([row.find("p99", MEDIAN)]),
        _lines([row.find("held bytes", WORST)]),
        _lines([row.find("catch-up", WORST)]),
        _lines(dead),
        _lines(spare),
    ]


def _lines(found: Sequence[Judged | None]) -> str:
    """Not all labs bound all figures."""
    return "\n".join(_marked(each, _cell(each)) for each in found if each)


def _median_and_worst(row: Row, figure: str) -> str:
    worst = row.find(figure, WORST)
    in_brackets = [] if worst is None else [_marked(worst, f"({_cell(worst)})")]
    return "\n".join([_lines([row.find(figure, MEDIAN)]), *in_brackets])


def _cell(judged: Judged) -> str:
    """A value in a narrow column."""
    unit = FIGURES[judged.criterion.figure].unit
    return unit(judged.value).replace(" %", "%")


def _marked(judged: Judged, text: str) -> str:
    return text if judged.passed else f"[red]{text}[/red]"
