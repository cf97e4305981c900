"""One load on a fresh cluster: its throughput and latency, and the work of the replicas for it."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from failslow import waiting
from failslow.bench import clocks, load, servers
from failslow.bench.servers import Servers
from failslow.calibration.workloads import Workload
from failslow.errors import CannotDo
from failslow.kit import Kit

WARM_UP_S, WINDOW_S = 0.7, 3.0
SETTLE_S, MARGIN_S = 0.2, 0.3
"""The load generator starts a little later than this program. The clocks are read SETTLE_S after
the end of the warm-up, and MARGIN_S before the end of the window."""
TIMEOUT_S = 60.0

FOREIGN_MAX = 0.35
"""Cores' worth of work that is not ours. The kernel's own share for the replicas' disk and network
is 0.1 to 0.3; somebody's compiler is 1."""
ATTEMPTS = 4


@dataclass(frozen=True)
class Replica:
    """Of one second. `loop` and `disk`: processor time of its two threads, in seconds."""

    loop: float
    disk: float
    counters: dict[str, float]


@dataclass(frozen=True)
class Row:
    """Times in microseconds. `client_cpu`: seconds of processor time a second.

    `foreign`: the other work of the two cores, in cores. `overhead`: the other work of the
    replicas' core, as a share of its work for the replicas.
    """

    workload: Workload
    puts_per_second: float
    mean: float
    p50: float
    p99: float
    client_cpu: float
    client_turns: float
    replicas: tuple[Replica, ...]
    foreign: float
    overhead: float

    @property
    def disturbed(self) -> bool:
        return self.foreign > FOREIGN_MAX


def measure(kit: Kit, workload: Workload) -> Row:
    """Measured again while other work disturbs it, and never for its result."""
    for _ in range(ATTEMPTS):
        row = _measure_once(kit, workload)
        if not row.disturbed:
            break
    return row


def _measure_once(kit: Kit, workload: Workload) -> Row:
    # The kernel must not write back the last cluster's files during this measurement.
    os.sync()
    with servers.raft(kit) as cluster, ThreadPoolExecutor(1) as pool:
        _wait_for_metrics(cluster)
        times = {"warm_up_ms": round(1000 * WARM_UP_S), "window_ms": round(1000 * WINDOW_S)}
        achieved = pool.submit(load.run, kit, cluster, workload, **times)
        time.sleep(WARM_UP_S + SETTLE_S)
        first_lines = [len(_lines(path)) for path in cluster.metrics]
        first = clocks.read(list(cluster.processes))
        time.sleep(WINDOW_S - SETTLE_S - MARGIN_S)
        last = clocks.read(list(cluster.processes))
        lines = [_lines(path) for path in cluster.metrics]
    counters = [rates(told[start:]) for told, start in zip(lines, first_lines, strict=True)]
    return row_of(workload, achieved.result(), counters, first, last)


def _wait_for_metrics(cluster: Servers) -> None:
    """The replicas run, and have led or followed for a second."""
    if not waiting.until(lambda: all(_lines(path) for path in cluster.metrics), TIMEOUT_S):
        raise CannotDo("a replica wrote no metrics")


def _lines(path: Path) -> list[bytes]:
    """Whole lines so far."""
    if not path.exists():
        return []
    text = path.read_bytes()
    return text[: text.rfind(b"\n") + 1].splitlines()


def rates(lines: list[bytes]) -> dict[str, float]:
    """Growth per second of every counter, from the first line to the last."""
    if len(lines) < 2:
        raise CannotDo("a replica wrote its metrics too seldom")
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    seconds = (last["uptime_ms"] - first["uptime_ms"]) / 1000
    return {
        name: (value - first[name]) / seconds
        for name, value in last.items()
        if isinstance(value, int)
    }


def row_of(
    workload: Workload,
    achieved: load.Result,
    counters: list[dict[str, float]],
    first: clocks.Instant,
    last: clocks.Instant,
) -> Row:
    replica_core, client_core = (clocks.busy_share(first, last, core) for core in clocks.CORES)
    shares = clocks.shares(first, last)
    ours = sum(loop + disk for loop, disk in shares.values())
    if ours <= 0:
        raise CannotDo("the replicas used no processor time")
    return Row(
        workload,
        puts_per_second=achieved.puts_per_second,
        mean=achieved.mean,
        p50=achieved.percentiles[load.MEDIAN],
        p99=achieved.percentiles[load.P99],
        client_cpu=achieved.client_cpu_share,
        client_turns=achieved.client_turns,
        replicas=tuple(
            Replica(loop, disk, each)
            for (loop, disk), each in zip(shares.values(), counters, strict=True)
        ),
        foreign=replica_core + client_core - ours - achieved.client_cpu_share,
        overhead=max(0.0, replica_core / ours - 1),
    )
