"""`kit bench detector`: lab 7's store on real sockets, without a fault.

Pairs of runs beside lab 3's store, which has the same Raft alone, give the cost: that of the
detectors, their vitals and the exchange of health.
"""

from collections.abc import Sequence
from functools import partial

from failslow.extras.for_labs import Kit, figures, load, pairs, programs, servers

PLAIN, WATCHED = "lab3_real", "lab7_real"
CLOSED, OPEN = load.Load(64), load.Load(rate=1000)
COST_PERCENT_AT_MOST = 1.0
STARTS = 20

TEXT = (
    "The stores of labs 3 and 7, three replicas each, with files in memory. The replicas share"
    f" the first core, the load generator has the second. {pairs.method(STARTS)}"
)


def run(kit: Kit) -> figures.Section:
    servers.check_cores()
    programs.build(kit, ["put_load", PLAIN, WATCHED])

    def starter(program: str) -> pairs.Start:
        return partial(
            servers.replicas_of,
            target="kv",
            program=kit.binary(program),
            setup=servers.Setup(in_memory=True),
        )

    kinds = starter(PLAIN), starter(WATCHED)
    return section(*(pairs.measure(kit, kinds, each, STARTS) for each in (CLOSED, OPEN)))


def section(closed: Sequence[pairs.Pair], opened: Sequence[pairs.Pair]) -> figures.Section:
    lost = [1 - watched.puts_per_second / plain.puts_per_second for plain, watched in closed]
    grown = [watched.mean / plain.mean - 1 for plain, watched in opened]
    found = [
        *pairs.judged(f"throughput lost, {CLOSED.describe()}", lost, COST_PERCENT_AT_MOST),
        *pairs.judged(f"mean latency grown, {OPEN.describe()}", grown, COST_PERCENT_AT_MOST),
    ]
    return figures.Section("detector", "The cost of a detector", TEXT, found)
