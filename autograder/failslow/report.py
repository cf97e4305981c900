"""Prints a grade as tables."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from failslow.grading import Grade, LabGrade, TestRow
from failslow.measurement.explain import mebibytes, percent, seconds
from failslow.measurement.measure import Measurement
from failslow.measurement.scoring import (
    CATCH_UP,
    HELD_BYTES,
    LATENCY_VS_DEAD,
    MEAN_LATENCY,
    P99,
    THROUGHPUT,
    THROUGHPUT_VS_DEAD,
    Criterion,
    Row,
)

PASSED = "[green]passed[/green]"
FAILED = "[red]FAILED[/red]"


def print_grade(console: Console, grade: Grade) -> None:
    """Every lab's rows, the measurement's figures, then what was lost and why, then the sum."""
    for lab in grade.labs:
        console.print(_lab_table(lab))
        if lab.measurement:
            _print_measurement(console, lab.measurement)
    for row in grade.rows:
        if not row.passed or row.score < row.max_score:
            _print_loss(console, row)
    for lab in grade.labs:
        console.print(f"{lab.lab.id} {escape(lab.lab.title)}: {_of(lab.score, lab.max_score)}")
    console.print(f"[bold]Score: {_of(grade.score, grade.max_score)}[/bold]")


def _of(score: float, max_score: float) -> str:
    return f"{score:g} of {max_score:g}"


def _lab_table(lab: LabGrade) -> Table:
    table = Table(title=f"{lab.lab.id}: {escape(lab.lab.title)}", title_justify="left")
    table.add_column("test", overflow="fold", ratio=1)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in lab.rows:
        points = f"{row.score:g}/{row.max_score:g}" if row.max_score else ""
        hidden = "[dim]hidden[/dim] " if row.hidden else ""
        table.add_row(f"{hidden}{escape(row.title)}", points, PASSED if row.passed else FAILED)
    return table


def _print_loss(console: Console, row: TestRow) -> None:
    name = f"{row.title} ({row.test_id})" if row.hidden else row.title
    console.print(f"\n[red]{row.lab}[/red] [bold]{escape(name)}[/bold]")
    shown = row.output if not row.hidden else f"{row.output}\n{row.detail}"
    console.print(shown, markup=False, soft_wrap=True)


def _print_measurement(console: Console, measurement: Measurement) -> None:
    console.print(_measurement_table(measurement))
    capacities = ", ".join(
        f"{value:.0f} operations/s with {replicas} replicas"
        for replicas, value in measurement.capacities.items()
    )
    console.print(f"Capacity without a fault: {capacities}.")
    console.print(
        "Median over the seeds, worst seed in brackets. Low jitter, but for 'vs dead': realistic"
        " jitter, slow against dead. 'spare' is what losing the spare costs under realistic"
        " jitter: reported, not charged.\n",
        style="dim",
    )


def _measurement_table(measurement: Measurement) -> Table:
    table = Table(title="Slow followers against none", title_justify="left")
    table.add_column("fault", no_wrap=True)
    for name in ("throughput lost", "latency grown", "p99", "held", "catch-up", "vs dead", "spare"):
        table.add_column(name, justify="right")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in measurement.rows:
        table.add_row(f"{row.replicas}x {row.fault}", *_figures(row), *_verdict(row))
    return table


def _verdict(row: Row) -> tuple[str, str]:
    return f"{row.score:g}/{row.points}", PASSED if row.passed else FAILED


def _figures(row: Row) -> list[str]:
    if row.error is not None:
        return ["error", *[""] * 6]
    by_name = {criterion.name: criterion for criterion in row.criteria}
    return [
        _share(by_name[THROUGHPUT]),
        _share(by_name[MEAN_LATENCY]),
        _marked(by_name[P99], f"{by_name[P99].value:.2f}x"),
        _marked(by_name[HELD_BYTES], mebibytes(by_name[HELD_BYTES].value)),
        _marked(by_name[CATCH_UP], seconds(by_name[CATCH_UP].value)),
        f"{_bare(by_name[THROUGHPUT_VS_DEAD])} {_bare(by_name[LATENCY_VS_DEAD])}",
        f"{percent(row.realistic_throughput or 0.0)} {percent(row.realistic_latency or 0.0)}",
    ]


def _share(criterion: Criterion) -> str:
    text = f"{percent(criterion.value)} ({percent(criterion.worst)})"
    return _marked(criterion, text)


def _bare(criterion: Criterion) -> str:
    return _marked(criterion, percent(criterion.value))


def _marked(criterion: Criterion, text: str) -> str:
    return text if criterion.passed else f"[red]{text}[/red]"
