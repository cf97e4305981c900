"""What `./kit bench calibrate` prints."""

from collections.abc import Sequence

from rich.table import Table

from failslow.calibration.compare import OFF_MAX, Comparison
from failslow.calibration.profile import Costs
from failslow.report import FAILED, PASSED

FIGURES = ("puts_per_second", "mean", "p50", "p99")

MEANING = {
    "per_step": "step of the event loop",
    "per_burst": "what another's system call sent, read",
    "per_write": "write to a connection",
    "per_frame": "frame from or to a replica",
    "per_client_frame": "frame from or to a client",
    "per_io": "disk operation, submitted or completed",
    "per_kib": "KiB of frames",
    "per_io_kib": "KiB written to disk",
    "per_observation": "observation: a command applied",
    "per_batch": "batch",
    "per_growth": "batch that begins a block of its file, more",
    "per_directory": "batch that replaces files, more",
}


def costs(found: Costs) -> Table:
    table = Table(title="What this machine costs", title_justify="left")
    table.add_column("what")
    table.add_column("cost", justify="right")
    for name, cost in found.loop.costs.items():
        table.add_row(f"event loop: {MEANING[name]}", _us(cost * 1e6))
    for name, cost in found.disk_thread.costs.items():
        table.add_row(f"disk thread: {MEANING[name]}", _us(cost * 1e6))
    table.add_row("kernel besides, on the replicas' core", f"{100 * found.overhead:.1f} %")
    disk = found.disk
    table.add_row("append and sync, asleep until it is done", _us(disk.sync_ns / 1000))
    table.add_row("  more if it begins a block of its file", _us(disk.growth_ns / 1000))
    table.add_row("  varies by", f"± {disk.sync_spread_permille / 10:g} %")
    table.add_row(
        f"  stragglers, {disk.sync_tail_factor} times longer", f"{disk.sync_tail_permille / 10:g} %"
    )
    table.add_row("  sleeps in one", str(disk.waits_per_batch))
    table.add_row("  more if it replaces files", _us(disk.directory_ns / 1000))
    table.add_row("  at once, of different replicas", str(disk.parallel_batches))
    table.add_row("disk bandwidth", f"{disk.bytes_per_second / 1e6:,.0f} MB/s")
    table.add_row("loopback, to a process on the same core", _us(found.wakeup.switch_ns / 1000))
    table.add_row("loopback, to a core that sleeps", _us(found.wakeup.wake_ns / 1000))
    table.add_row("load generator: turn", _us(found.client.costs["per_turn"] * 1e6))
    table.add_row("load generator: put", _us(found.client.costs["per_operation"] * 1e6))
    fits = (found.loop.error, found.disk_thread.error, found.client.error)
    table.add_row(
        "errors of the fits: event loop, disk thread, load generator",
        ", ".join(f"{100 * error:.0f} %" for error in fits),
    )
    return table


def comparisons(rows: Sequence[Comparison]) -> Table:
    title = f"The simulator against the real host: within {100 * OFF_MAX:.0f} %?"
    table = Table(title=title, title_justify="left")
    table.add_column("load")
    for name in ("puts/s", "model", "ratio", "mean ms", "model", "ratio", "p99 ms", "model"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
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


def _us(microseconds: float) -> str:
    return f"{microseconds:,.2f} us"
