"""`kit bench detector`: lab 7's store on real sockets, without a fault.

Pairs of runs beside lab 3's store, which has the same Raft alone, give the cost: that of the
detectors, their vitals and the exchange of health. Healthy runs show whether a leader stays.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from failslow.base import console
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, servers, verified
from failslow.extras.bench.figures import Figure, Section
from failslow.extras.bench.load import Load
from failslow.extras.bench.servers import Servers
from failslow.extras.bench.verified import Pair
from failslow.extras.cluster import up
from failslow.extras.faults.verdict import CONFIDENCE
from failslow.lab.labs import load_labs

PLAIN, WATCHED = "lab3", "lab7"
CLOSED, OPEN = Load(64), Load(rate=1000)
COST_PERCENT_AT_MOST = 1.0
STARTS = 20
HEALTHY_RUNS, HEALTHY_MS = 10, 60_000
HEALTHY = Load(8)

TEXT = (
    "The stores of labs 3 and 7, three replicas each, with files in memory. The replicas share"
    " the first core, the load generator has the second. Two clusters run side by side, and windows"
    f" of {verified.WINDOW_MS} ms alternate between them:"
    f" {STARTS * verified.PAIRS_OF_A_START} pairs for each load, of {STARTS} starts. Each is the"
    f" median of the pairs, with the interval in which it is with {100 * CONFIDENCE:.0f} %."
    f" INCONCLUSIVE: the bar is in the interval. A healthy run is {HEALTHY.describe()} for"
    f" {HEALTHY_MS // 1000} s, with the files on this machine's disk."
)


def run(kit: Kit) -> Section:
    servers.check_cores()
    cmake.build(kit, targets=["put_load"])
    kinds = _starter(kit, PLAIN, in_memory=True), _starter(kit, WATCHED, in_memory=True)
    closed, opened = (verified.pairs(kit, kinds, each, STARTS) for each in (CLOSED, OPEN))
    return section(closed, opened, _changed(kit))


def section(closed: Sequence[Pair], opened: Sequence[Pair], changed: int) -> Section:
    """`changed`: the healthy runs in which another replica led."""
    lost = [1 - watched.puts_per_second / plain.puts_per_second for plain, watched in closed]
    grown = [watched.mean / plain.mean - 1 for plain, watched in opened]
    figures = [
        *verified.judged(f"throughput lost, {CLOSED.describe()}", lost, COST_PERCENT_AT_MOST),
        *verified.judged(f"mean latency grown, {OPEN.describe()}", grown, COST_PERCENT_AT_MOST),
        Figure(
            f"of {HEALTHY_RUNS} healthy runs, with another leader", changed, "", 0, at_most=True
        ),
    ]
    return Section("detector", "The cost of a detector", TEXT, figures)


def _changed(kit: Kit) -> int:
    changed = 0
    with console.progress("Measuring healthy runs") as advance:
        for number in range(HEALTHY_RUNS):
            advance(number, HEALTHY_RUNS, "runs")
            with _starter(kit, WATCHED, in_memory=False)(kit) as cluster:
                changed += _has_another_leader(kit, cluster)
    return changed


def _has_another_leader(kit: Kit, cluster: Servers) -> bool:
    try:
        load.run(kit, cluster, HEALTHY, window_ms=HEALTHY_MS)
    except load.LeaderChanged:
        return True
    return False


def _starter(
    kit: Kit, lab: str, in_memory: bool
) -> Callable[[Kit], AbstractContextManager[Servers]]:
    labs = load_labs(kit)
    program = up.build(kit, labs, kit.reference, labs.get(lab))
    return partial(servers.replicas_of, target="kv", program=program, in_memory=in_memory)
