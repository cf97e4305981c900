"""The tables that `./kit bench calibrate` prints."""

from collections.abc import Sequence

from rich.table import Column, Table

from failslow.bench.figures import number
from failslow.calibration import section
from failslow.calibration.compare import OFF_MAX, Comparison
from failslow.calibration.profile import Costs
from failslow.console import FAILED, PASSED

FIGURES = ("puts_per_second", "mean", "p50", "p99")


def costs(found: Costs) -> Table:
    cost = Column("cost", justify="right")
    table = Table("what", cost, title="What this machine costs", title_justify="left")
    for each in section.costs(found):
        table.add_row(each.name, f"{number(each.value)} {each.unit}".rstrip())
    return table


def comparisons(rows: Sequence[Comparison]) -> Table:
    title = f"The simulator against the real host: within {100 * OFF_MAX:.0f} %?"
    names = ("puts/s", "model", "ratio", "mean ms", "model", "ratio", "p99 ms", "model")
    columns = [Column(name, justify="right") for name in names]
    table = Table("load", *columns, "verdict", title=title, title_justify="left")
    for each in rows:
        row, model = each.row, each.prediction
        table.add_row(
            row.workload.describe(),
            f"{row.puts_per_second:,.0f}",
            f"{model.puts_per_second:,.0f}",
            f"{each.throughput:.2f}",
            f"{row.mean / 1000:.2f}",
            f"{model.mean / 1000:.2f}",
            f"{each.latency:.2f}",
            f"{row.p99 / 1000:.2f}",
            f"{model.p99 / 1000:.2f}",
            _verdict(each),
        )
    return table


def _verdict(each: Comparison) -> str:
    if each.row.disturbed:
        return "disturbed"
    return PASSED if each.passed else FAILED
