"""`kit bench kv`: the key-value store on the tuned Raft, alone or beside Redis."""

import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import redis_load, servers
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.extras.bench.redis_load import Commands
from failslow.extras.bench.rounds import Disturbed, settled
from failslow.extras.bench.servers import Servers
from failslow.extras.cluster import metrics
from failslow.extras.cluster.metrics import Metrics
from failslow.extras.faults.verdict import INCONCLUSIVE
from failslow.extras.shared import waiting
from failslow.lab.labs import ClusterView, load_labs

DEFAULT = tuple(Commands(name, pipeline) for pipeline in (1, 16) for name in ("SET", "GET"))
"""The commands that redis-benchmark sends by itself."""
LARGER = tuple(replace(each, keys=10_000, value_bytes=256) for each in DEFAULT)
"""A state that is worth a snapshot."""
COMMANDS = DEFAULT + LARGER
ROUNDS = 5
"""The rounds of a measurement, systems in turn. The median counts: the speed of disks varies."""

SECONDS = 3.0
"""The time that a measurement should take."""
WARM_UP_REQUESTS = {1: 20_000, 16: 100_000}
"""By pipeline. They also put most of the keys there that GET then asks for."""
READY_S = 20.0

TIMES_REDIS_AT_LEAST = dict(zip(COMMANDS, (0.6, 1.0, 0.6, 0.6, 0.5, 0.9, 0.45, 0.5), strict=True))

TEXT = (
    "The store on the tuned Raft: three replicas, every write durable on a majority of them,"
    " every read confirmed by a majority. They share the first core, the clients have the second;"
    " everything is on the loopback and on this machine's disk."
    f" redis-benchmark sends SET and GET on {redis_load.CLIENTS} connections to the leader's Redis"
    " port, one command at a time and 16 at once, for one key with values of 3 bytes, as it does"
    f" by itself, and for {LARGER[0].keys:,} keys with {LARGER[0].value_bytes} bytes."
    f" Every figure is the median of {ROUNDS} rounds, each with fresh data; in a round the systems"
    " take turns at each load, and a ratio is that of two turns. A measurement that an election or"
    " other programs disturb is made again, and left out after the third time."
)
REDIS_TEXT = (
    " Redis is the distribution's: one process that keeps one copy, and answers a write when it is"
    " on disk (appendonly yes, appendfsync always). It has the core that our three replicas"
    " share. While one system is measured, the other waits on the same core, and takes under 1 % of"
    " it."
)
Rounds = dict[tuple[str, Commands], list[redis_load.Result]]
"""By system and commands."""
Results = dict[tuple[str, Commands], redis_load.Result]
"""The medians of the rounds."""


def run(kit: Kit, with_redis: bool) -> Section:
    servers.check_cores()
    redis_load.program()
    rounds, left_out = measure(kit, with_redis)
    results = {key: redis_load.median(each) for key, each in rounds.items()}
    figures = [*ratios(rounds), *command_figures(results), servers.syncs(kit)]
    text = TEXT + (REDIS_TEXT if with_redis else "")
    text += "".join(f" {INCONCLUSIVE}: {each}." for each in left_out)
    title = "The key-value store on the tuned Raft, for real"
    return Section("kv", title, text, figures, plots(results))


def measure(kit: Kit, with_redis: bool) -> tuple[Rounds, list[str]]:
    """The results of each system in all rounds, and a sentence for each measurement that was left
    out. A round has results of all systems, or none."""
    view = store_view(kit)
    starts = {"kv": servers.kv} | ({"redis": servers.redis} if with_redis else {})
    rounds: Rounds = {}
    left_out: list[str] = []
    with console.progress("Measuring") as advance:
        for number in range(ROUNDS):
            with ExitStack() as running:
                clusters = {
                    name: running.enter_context(start(kit)) for name, start in starts.items()
                }
                # In turn for each load: the speed of a machine changes within a minute.
                for at, commands in enumerate(COMMANDS, start=number * len(COMMANDS)):
                    advance(at, ROUNDS * len(COMMANDS), commands.describe())
                    try:
                        found = {
                            name: _settled(cluster, view, commands)
                            for name, cluster in clusters.items()
                        }
                    except Disturbed as error:
                        left_out.append(f"{commands.describe()}: {error}")
                        console.note(f"{commands.describe()}: {INCONCLUSIVE}: {error}")
                        continue
                    for name, result in found.items():
                        rounds.setdefault((name, commands), []).append(result)
    return rounds, left_out


def _settled(cluster: Servers, view: ClusterView, commands: Commands) -> redis_load.Result:
    return settled(lambda: _measure(cluster, view, commands), lambda result: result.other_share)


def store_view(kit: Kit) -> ClusterView:
    """The status of the store's replicas."""
    view = load_labs(kit).get("lab3").cluster
    assert view is not None, "lab 3's replicas run as processes"
    return view


def _measure(cluster: Servers, view: ClusterView, commands: Commands) -> redis_load.Result:
    """CannotDo when it is lost: no leader, another leader, a connection that broke."""
    leader = await_leader(cluster, view)
    address = cluster.redis[leader]
    redis_load.await_answer(address)
    warm_up = WARM_UP_REQUESTS[commands.pipeline]
    rate = redis_load.run(cluster, address, commands, warm_up).per_second
    result = redis_load.run(cluster, address, commands, max(warm_up, round(rate * SECONDS)))
    if await_leader(cluster, view) != leader:
        raise CannotDo("the leader changed during the measurement")
    return result


def await_leader(cluster: Servers, view: ClusterView) -> int:
    """Its number; 0 of servers that have none. CannotDo when no replica leads in time."""
    if not cluster.metrics:
        return 0

    def ask() -> int | None:
        return leader_of([metrics.read(path) for path in cluster.metrics], view)

    if (leader := waiting.first(ask, READY_S)) is None:
        raise CannotDo(f"no replica has led within {READY_S:.0f} s")
    return leader


def leader_of(replicas: Sequence[Metrics | None], view: ClusterView) -> int | None:
    """The number of the replica that shows it, if there is one."""
    (shown,) = (each for each in view.shows if each.name == view.ready_name)
    for number, told in enumerate(replicas):
        value = None if told is None else told.observed(shown.kind, shown.value)
        if value is not None and shown.in_words(value) == view.ready_is:
            return number
    return None


def ratios(rounds: Rounds) -> list[Figure]:
    """The ratios of our figures to those of Redis, if it was measured: medians of the rounds'
    ratios. In a round both are measured within seconds."""
    figures = []
    for commands in COMMANDS:
        if ("redis", commands) in rounds:
            pairs = zip(rounds["kv", commands], rounds["redis", commands], strict=True)
            times = statistics.median(ours.per_second / theirs.per_second for ours, theirs in pairs)
            name = f"{commands.describe()}, ours to Redis's"
            figures.append(Figure(name, times, "x", TIMES_REDIS_AT_LEAST[commands]))
    return figures


def command_figures(results: Results) -> list[Figure]:
    others = max((result.other_share for result in results.values()), default=0.0)
    figures = [Figure("the kernel's and other work beside it, at most", 100 * others, "%")]
    for (system, commands), result in results.items():
        label = f"{system}, {commands.describe()}"
        figures.append(Figure(f"{label}: commands", result.per_second, "/s"))
        if result.median is not None and result.p99 is not None:
            figures.append(Figure(f"{label}: median", result.median, "ms"))
            figures.append(Figure(f"{label}: p99", result.p99, "ms"))
        busy = f"{label}: busy share of the"
        figures.append(Figure(f"{busy} servers' core", 100 * result.server_share, "%"))
        figures.append(Figure(f"{busy} client's core", 100 * result.client_share, "%"))
    return figures


def plots(results: Results) -> list[Plot]:
    measured = [each for each in COMMANDS if ("kv", each) in results]
    labels = [commands.describe() for commands in measured]
    systems = list(dict.fromkeys(system for system, _ in results))
    rates = {
        system: [results[system, commands].per_second for commands in measured]
        for system in systems
    }
    title = "Commands in a second, by redis-benchmark"
    plots = [Plot(title, "per second", labels, rates)]
    tails = {
        system: [results[system, commands].p99 or 0.0 for commands in measured]
        for system in systems
    }
    if all(map(all, tails.values())):
        plots.append(Plot("99th percentile of latency, by redis-benchmark", "ms", labels, tails))
    return plots
