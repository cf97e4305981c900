"""`kit bench raft`: the tuned Raft on real sockets and disks, alone or beside etcd."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, servers
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.extras.bench.load import MEDIAN, P99, Load, Result
from failslow.extras.bench.servers import Servers
from failslow.extras.cluster import metrics

CLIENTS = (1, 64, 256)
BUSY_CLIENTS = 64
"""With them the figures tell what limits our Raft."""
RATES = (1000, 4000)
"""Puts a second in an open loop. Both systems can serve these rates."""
ROUNDS = 3
"""The rounds of a measurement, systems in turn. The median counts: the speed of disks varies."""

TIMES_ETCD_AT_LEAST = {64: 10.0, 256: 14.0}
"""By clients."""
P99_TO_ETCD_AT_MOST = 0.5

TEXT = (
    "Three replicas share the first core, the load generator has the second; everything is on the"
    " loopback and on this machine's disk. A put has a value of 256 bytes and is answered when it"
    " is durable on a majority. Clients share one connection, which suits both systems best. Closed"
    " loop: each client starts a put when its last has ended. Open loop: puts arrive at a fixed"
    " rate and do not wait for each other, and latency counts from when a put was due. Every figure"
    f" is the median of {ROUNDS} rounds, each with fresh data."
)
ETCD_TEXT = (
    " etcd is the distribution's, with its defaults, driven through its gRPC interface by the same"
    " program. It does more for a put than lab 2's Raft: it keeps versions of a key in a database"
    " and serves watchers. So the ratios tell that the course's runtime and Raft are not a toy, and"
    " not that one store beats another."
)

Start = Callable[[Kit], AbstractContextManager[Servers]]
Results = dict[tuple[str, Load], Result]
"""By system and load."""


def run(kit: Kit, with_etcd: bool) -> Section:
    servers.check_cores()
    systems: dict[str, Start] = {"raft": servers.raft}
    definitions = []
    if with_etcd:
        systems["etcd"] = servers.etcd
        definitions = ["FAILSLOW_ETCD=ON"]
    cmake.build(kit, targets=["put_load"], definitions=definitions)
    results, notes = measure(kit, systems)
    figures = [*_own_figures(results), *notes, servers.syncs(kit)]
    if with_etcd:
        figures = [*_ratios(results), *figures]
    text = TEXT + (ETCD_TEXT if with_etcd else "")
    return Section("raft", "The tuned Raft, for real", text, figures, [_plot(results, systems)])


def measure(kit: Kit, systems: dict[str, Start]) -> tuple[Results, list[Figure]]:
    """The median result of each system and load, and the use of our replicas' core meanwhile."""
    loads = [Load(clients) for clients in CLIENTS] + [Load(rate=rate) for rate in RATES]
    rounds: dict[tuple[str, Load], list[Result]] = {}
    notes: list[Figure] = []
    total = ROUNDS * len(loads) * len(systems)
    with console.progress("Measuring") as advance:
        done = 0
        for _ in range(ROUNDS):
            for each in loads:
                for name, start in systems.items():
                    advance(done, total, f"{name}, {each.describe()}")
                    with start(kit) as cluster:
                        result = load.run(kit, cluster, each)
                        if name == "raft" and each == Load(BUSY_CLIENTS):
                            notes = _notes(cluster, each)
                    rounds.setdefault((name, each), []).append(result)
                    done += 1
    return {key: load.median(results) for key, results in rounds.items()}, notes


def _own_figures(results: Results) -> list[Figure]:
    figures = []
    for (name, each), result in results.items():
        label = f"{name}, {each.describe()}"
        if each.rate is None:
            figures.append(Figure(f"{label}: puts", result.puts_per_second, "/s"))
        figures.append(Figure(f"{label}: median", result.percentiles[MEDIAN] / 1000, "ms"))
        figures.append(Figure(f"{label}: p99", result.percentiles[P99] / 1000, "ms"))
        if each.clients == CLIENTS[-1]:
            share = 100 * result.client_cpu_share
            figures.append(Figure(f"{label}: the client's core was busy", share, "%"))
    return figures


def _ratios(results: Results) -> list[Figure]:
    figures = []
    for clients, at_least in TIMES_ETCD_AT_LEAST.items():
        ours, theirs = results["raft", Load(clients)], results["etcd", Load(clients)]
        times = ours.puts_per_second / theirs.puts_per_second
        p99 = ours.percentiles[P99] / theirs.percentiles[P99]
        at = f"{clients} clients"
        figures.append(Figure(f"puts, {at}, ours to etcd's", times, "x", at_least))
        figures.append(
            Figure(f"p99, {at}, ours to etcd's", p99, "x", P99_TO_ETCD_AT_MOST, at_most=True)
        )
    return figures


def _notes(cluster: Servers, each: Load) -> list[Figure]:
    """The limits of our Raft: the load of the replicas' core, and the number of puts that share a
    sync."""
    at = f"raft, {each.describe()}"
    busy = _growth(cluster, "cpu_ms") / 1000
    return [
        Figure(f"{at}: the replicas' core was busy", 100 * busy, "%"),
        Figure(f"{at}: fdatasync by the three replicas", _growth(cluster, "disk_syncs"), "/s"),
    ]


def _growth(cluster: Servers, counter: str) -> float:
    """The growth of a counter, of all replicas, in the last second that they told of."""
    told = [metrics.read(path) for path in cluster.metrics]
    rates = [each.rate(counter) for each in told if each is not None]
    if len(rates) != servers.REPLICAS or None in rates:
        raise CannotDo("a replica wrote no metrics")
    return sum(rate for rate in rates if rate is not None)


def _plot(results: Results, systems: dict[str, Start]) -> Plot:
    closed = [Load(clients) for clients in CLIENTS]
    return Plot(
        "Committed puts in a second, closed loop",
        "per second",
        [each.describe() for each in closed],
        {name: [results[name, each].puts_per_second for each in closed] for name in systems},
    )
