"""`kit bench kv`: the key-value store on the tuned Raft, alone or beside Redis and etcd."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, redis_load, servers, unread
from failslow.extras.bench.figures import Figure, Plot, Section
from failslow.extras.bench.load import MEDIAN, P99, Load
from failslow.extras.bench.redis_load import Commands
from failslow.extras.bench.rounds import Disturbed, settled
from failslow.extras.bench.servers import Servers
from failslow.extras.cluster import metrics
from failslow.extras.cluster.metrics import Metrics
from failslow.extras.faults.verdict import INCONCLUSIVE
from failslow.extras.shared import waiting
from failslow.lab.labs import ClusterView, load_labs

PEERS = ("redis", "etcd")
DEFAULT = tuple(Commands(name, pipeline) for pipeline in (1, 16) for name in ("SET", "GET"))
"""As redis-benchmark sends them by itself."""
LARGER = tuple(replace(each, keys=10_000, value_bytes=256) for each in DEFAULT)
"""A state that is worth a snapshot."""
COMMANDS = DEFAULT + LARGER
PUTS = Load(256)
ROUNDS = 5
"""The rounds of a measurement, systems in turn. The median counts: the speed of disks varies."""

SECONDS = 3.0
"""The time that a measurement should take."""
WARM_UP_REQUESTS = {1: 20_000, 16: 100_000}
"""By pipeline. They also put most of the keys there that GET then asks for."""
READY_S = 20.0

TIMES_REDIS_AT_LEAST = dict(zip(COMMANDS, (0.6, 1.0, 0.6, 0.6, 0.5, 0.9, 0.45, 0.5), strict=True))
TIMES_ETCD_AT_LEAST = 4.0

TEXT = (
    "The store on the tuned Raft: three replicas, every write durable on a majority of them,"
    " every read confirmed by a majority. They share the first core, the clients have the second;"
    " everything is on the loopback and on this machine's disk."
    f" redis-benchmark sends SET and GET on {redis_load.CLIENTS} connections to the leader's Redis"
    " port, one command at a time and 16 at once, for one key with values of 3 bytes, as it does"
    f" by itself, and for {LARGER[0].keys:,} keys with {LARGER[0].value_bytes} bytes."
    f" Puts of {PUTS.clients} clients in a closed loop, with 256 bytes, come from the kit's own"
    " load generator, in the store's own messages, on one connection. Every figure is the median of"
    f" {ROUNDS} rounds, each with fresh data; in a round the systems take turns at each load, and a"
    " ratio is that of two turns. One more round lets the system choose the cores. A measurement"
    " that an election or other programs disturb is made again, and left out after the third time."
)
REDIS_TEXT = (
    " Redis is the distribution's: one process that keeps one copy, and answers a write when it is"
    " on disk (appendonly yes, appendfsync always). It has the core that our three replicas"
    " share. While one system is measured, the other waits on the same core, and takes under 1 % of"
    " it."
)
ETCD_TEXT = (
    " etcd is the distribution's, with three members and its defaults, driven through its gRPC"
    " interface by the same load generator. It does more for a put than this store: it keeps"
    " versions of a key in a database and serves watchers."
)

Start = Callable[[Kit], AbstractContextManager[Servers]]
Rounds = dict[tuple[str, Commands], list[redis_load.Result]]
"""By system and commands."""
Results = dict[tuple[str, Commands], redis_load.Result]
"""The medians of the rounds."""
PutResults = dict[str, load.Result]
"""By system."""


def run(kit: Kit, peers: Sequence[str]) -> Section:
    """`peers`: of PEERS."""
    servers.check_cores()
    redis_load.program()
    definitions = ["FAILSLOW_ETCD=ON"] if "etcd" in peers else []
    cmake.build(kit, targets=["put_load"], definitions=definitions)
    rounds, puts, left_out = measure(kit, peers)
    results = {key: redis_load.median(each) for key, each in rounds.items()}
    figures = [*ratios(rounds, puts), *_unread_figures(kit)]
    figures += [
        *command_figures(results),
        *put_figures(puts),
        *on_any_core(kit),
        servers.syncs(kit),
    ]
    text = TEXT + (REDIS_TEXT if "redis" in peers else "") + (ETCD_TEXT if "etcd" in peers else "")
    text += unread.TEXT + "".join(f" {INCONCLUSIVE}: {each}." for each in left_out)
    return Section(
        "kv", "The key-value store on the tuned Raft, for real", text, figures, plots(results, puts)
    )


def measure(kit: Kit, peers: Sequence[str]) -> tuple[Rounds, PutResults, list[str]]:
    """The results of each system: of commands in all rounds, and the median of puts; then a
    sentence for each measurement that was left out. A round has results of all systems, or none."""
    view = store_view(kit)
    speak_redis: dict[str, Start] = {"kv": servers.kv}
    take_puts: dict[str, Start] = {"kv": servers.kv}
    if "redis" in peers:
        speak_redis["redis"] = servers.redis
    if "etcd" in peers:
        take_puts["etcd"] = servers.etcd
    rounds: Rounds = {}
    put_rounds: dict[str, list[load.Result]] = {}
    left_out: list[str] = []
    total = ROUNDS * (len(COMMANDS) + len(take_puts))
    with console.progress("Measuring") as advance:
        done = 0
        for _ in range(ROUNDS):
            with ExitStack() as running:
                clusters = {
                    name: running.enter_context(start(kit)) for name, start in speak_redis.items()
                }
                # In turn for each load: the speed of a machine changes within a minute.
                for commands in COMMANDS:
                    advance(done, total, commands.describe())
                    done += 1
                    try:
                        found = {
                            name: _settled(cluster, view, commands)
                            for name, cluster in clusters.items()
                        }
                    except Disturbed as error:
                        left_out.append(_left_out(commands.describe(), error))
                        continue
                    for name, result in found.items():
                        rounds.setdefault((name, commands), []).append(result)
            for name, start in take_puts.items():
                advance(done, total, f"{name}, {PUTS.describe()}")
                done += 1
                try:
                    put_rounds.setdefault(name, []).append(_settled_puts(kit, start))
                except Disturbed as error:
                    left_out.append(_left_out(f"{name}, {PUTS.describe()}", error))
    medians = {name: load.median(each) for name, each in put_rounds.items() if each}
    return rounds, medians, left_out


def _settled(cluster: Servers, view: ClusterView, commands: Commands) -> redis_load.Result:
    return settled(lambda: _measure(cluster, view, commands), lambda result: result.other_share)


def _settled_puts(kit: Kit, start: Start) -> load.Result:
    def run() -> load.Result:
        with start(kit) as cluster:
            return load.run(kit, cluster, PUTS)

    return settled(run, lambda _: 0.0)


def _left_out(what: str, error: Disturbed) -> str:
    console.note(f"{what}: {INCONCLUSIVE}: {error}")
    return f"{what}: {error}"


def measure_unread(kit: Kit) -> list[tuple[float, float]]:
    """As `unread.measure`, in each round."""
    view = store_view(kit)
    rounds = []
    with console.progress("Measuring beside clients that never read") as advance:
        for done in range(ROUNDS):
            advance(done, ROUNDS, "")
            with servers.kv(kit) as cluster:
                try:
                    found = settled(lambda: _unread(cluster, view), lambda _: 0.0)
                except Disturbed as error:
                    _left_out("clients that never read", error)
                    continue
                rounds.append(found)
    return rounds


def _unread(cluster: Servers, view: ClusterView) -> tuple[float, float]:
    address = cluster.redis[await_leader(cluster, view)]
    redis_load.await_answer(address)
    return unread.measure(cluster, address)


def _unread_figures(kit: Kit) -> list[Figure]:
    """None if every round was disturbed."""
    rounds = measure_unread(kit)
    return unread.figures(rounds) if rounds else []


def on_any_core(kit: Kit) -> list[Figure]:
    """The default commands once, with replicas and clients on the cores that they like."""
    view = store_view(kit)
    figures = []
    with (
        console.progress("Measuring on any core") as advance,
        servers.kv_on_any_core(kit) as cluster,
    ):
        for done, commands in enumerate(DEFAULT):
            advance(done, len(DEFAULT), commands.describe())
            try:
                result = _settled(cluster, view, commands)
            except Disturbed as error:
                _left_out(f"{commands.describe()}, on any core", error)
                continue
            name = f"kv, {commands.describe()}, on any core: commands"
            figures.append(Figure(name, result.per_second, "/s"))
    return figures


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


def ratios(rounds: Rounds, puts: PutResults) -> list[Figure]:
    """The ratios of our figures to those of the peers that were measured.

    For Redis it is the median of the rounds' ratios: in a round both are measured within seconds.
    """
    figures = []
    for commands in COMMANDS:
        if ("redis", commands) in rounds:
            pairs = zip(rounds["kv", commands], rounds["redis", commands], strict=True)
            times = statistics.median(ours.per_second / theirs.per_second for ours, theirs in pairs)
            name = f"{commands.describe()}, ours to Redis's"
            figures.append(Figure(name, times, "x", TIMES_REDIS_AT_LEAST[commands]))
    if {"kv", "etcd"} <= puts.keys():
        times = puts["kv"].puts_per_second / puts["etcd"].puts_per_second
        name = f"puts, {PUTS.describe()}, ours to etcd's"
        figures.append(Figure(name, times, "x", TIMES_ETCD_AT_LEAST))
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


def put_figures(puts: PutResults) -> list[Figure]:
    figures = []
    for system, result in puts.items():
        label = f"{system}, {PUTS.describe()}"
        share = 100 * result.client_cpu_share
        figures += [
            Figure(f"{label}: puts", result.puts_per_second, "/s"),
            Figure(f"{label}: median", result.percentiles[MEDIAN] / 1000, "ms"),
            Figure(f"{label}: p99", result.percentiles[P99] / 1000, "ms"),
            Figure(f"{label}: busy share of the client's core", share, "%"),
        ]
    return figures


def plots(results: Results, puts: PutResults) -> list[Plot]:
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
    by_system = {system: [result.puts_per_second] for system, result in puts.items()}
    plots.append(Plot("Puts in a second", "per second", [PUTS.describe()], by_system))
    return plots
