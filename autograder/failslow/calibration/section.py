"""The calibration on the page of results."""

from collections.abc import Sequence

from failslow.bench.figures import Figure, Plot, Section
from failslow.calibration.compare import OFF_MAX, Comparison
from failslow.calibration.profile import Costs

KEY = "calibrate"
TEXT = (
    "The costs of the real host on this machine, and the simulator's predictions from them for the"
    " reference Raft: three processes on one core and one disk, clients on another core. The costs"
    " come from other loads than those that are compared."
)

MEANING = {
    "per_step": "step of the event loop",
    "per_burst": "read of the data of one system call",
    "per_write": "write to a connection",
    "per_frame": "frame from or to a replica",
    "per_client_frame": "frame from or to a client",
    "per_io": "disk operation, submitted or completed",
    "per_kib": "KiB of frames",
    "per_io_kib": "KiB written to disk",
    "per_observation": "observation: a command applied",
    "per_batch": "batch",
    "per_growth": "batch that begins a block of its file, in addition",
    "per_directory": "batch that replaces files, in addition",
    "per_turn": "turn",
    "per_operation": "put",
}


def section(found: Costs, comparisons: Sequence[Comparison]) -> Section:
    verdicts = [figure for each in comparisons for figure in _verdicts(each)]
    return Section(
        key=KEY,
        title="The simulator against the real host",
        text=TEXT,
        figures=[*verdicts, *costs(found)],
        plots=_plots(comparisons),
    )


def costs(found: Costs) -> list[Figure]:
    disk = found.disk
    threads = {
        "event loop": found.loop,
        "disk thread": found.disk_thread,
        "load generator": found.client,
    }
    of_threads = [
        Figure(f"{thread}: {MEANING[name]}", 1e6 * cost, "us")
        for thread, fit in threads.items()
        for name, cost in fit.costs.items()
    ]
    errors = [
        Figure(f"{thread}: error of these costs, root mean square", 100 * fit.error, "%")
        for thread, fit in threads.items()
    ]
    return [
        *of_threads,
        *errors,
        Figure("other work of the replicas' core", 100 * found.overhead, "%"),
        Figure("append and sync, asleep until it is done", disk.sync_ns / 1000, "us"),
        Figure("  in addition if it begins a block of its file", disk.growth_ns / 1000, "us"),
        Figure("  in addition if it replaces files", disk.directory_ns / 1000, "us"),
        Figure("  varies by, up or down", disk.sync_spread_permille / 10, "%"),
        Figure("  stragglers", disk.sync_tail_permille / 10, "%"),
        Figure("  and these take longer by", disk.sync_tail_factor, "x"),
        Figure("  sleeps in one", disk.waits_per_batch, ""),
        Figure("  at once, of different replicas", disk.parallel_batches, ""),
        Figure("disk bandwidth", disk.bytes_per_second / 1e6, "MB/s"),
        Figure("loopback, to a process on the same core", found.wakeup.switch_ns / 1000, "us"),
        Figure("loopback, to a core that sleeps", found.wakeup.wake_ns / 1000, "us"),
    ]


def _verdicts(each: Comparison) -> list[Figure]:
    load = each.row.workload.describe()
    off = {"puts a second": each.throughput, "mean latency": each.latency}
    return [
        Figure(f"{load}: {what}, off by", 100 * abs(ratio - 1), "%", 100 * OFF_MAX, at_most=True)
        for what, ratio in off.items()
    ]


def _plots(comparisons: Sequence[Comparison]) -> list[Plot]:
    labels = [each.row.workload.describe() for each in comparisons]
    return [
        Plot(
            "Mean latency",
            "ms",
            labels,
            {
                "measured": [each.row.mean / 1000 for each in comparisons],
                "predicted": [each.prediction.mean / 1000 for each in comparisons],
            },
        ),
        Plot(
            "Puts a second",
            "1/s",
            labels,
            {
                "measured": [each.row.puts_per_second for each in comparisons],
                "predicted": [each.prediction.puts_per_second for each in comparisons],
            },
        ),
    ]
