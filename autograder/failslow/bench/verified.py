"""`kit bench raft --verify`: the cost of runtime verification, by pairs of runs.

A disk's speed varies from minute to minute, so the two runs of a pair follow each other, in turns
with and without verification first. A figure is the median of the pairs' ratios.
"""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from failslow import cmake, console
from failslow.bench import load, servers
from failslow.bench.figures import Figure, Section
from failslow.bench.load import Load, Result
from failslow.bench.servers import Servers
from failslow.kit import Kit

PAIRS = 10
CLOSED = Load(64)
OPEN = Load(rate=4000)
COST_PERCENT_AT_MOST = 3.0

TEXT = (
    f"The reference Raft with and without runtime verification, in {PAIRS} pairs of runs for each"
    " load, in turns with the one and the other first. Three replicas share the first core, the"
    " load generator has the second. Throughput is that of a closed loop, mean latency that of an"
    " open one. Each figure is the median of the pairs; the quartiles beside it say how much the"
    " pairs differ."
)

Pair = tuple[Result, Result]
"""Without verification, and with it."""

Start = Callable[[Kit], AbstractContextManager[Servers]]


def run(kit: Kit) -> Section:
    servers.check_cores()
    cmake.build(kit, targets=["put_load", "lab2_real"])
    closed, opened = (_pairs(kit, each) for each in (CLOSED, OPEN))
    figures = [
        *cost(
            f"throughput lost, {CLOSED.describe()}",
            [1 - on.puts_per_second / off.puts_per_second for off, on in closed],
        ),
        *cost(
            f"mean latency grown, {OPEN.describe()}", [on.mean / off.mean - 1 for off, on in opened]
        ),
    ]
    return Section("verify", "The cost of runtime verification", TEXT, figures)


def _pairs(kit: Kit, each: Load) -> list[Pair]:
    pairs = []
    with console.progress("Measuring") as advance:
        for number in range(PAIRS):
            advance(number, PAIRS, f"pairs, {each.describe()}")
            if number % 2 == 0:
                off = _measured(kit, servers.raft, each)
                on = _measured(kit, servers.verified_raft, each)
            else:
                on = _measured(kit, servers.verified_raft, each)
                off = _measured(kit, servers.raft, each)
            pairs.append((off, on))
    return pairs


def _measured(kit: Kit, start: Start, each: Load) -> Result:
    with start(kit) as cluster:
        return load.run(kit, cluster, each)


def cost(name: str, shares: Sequence[float]) -> list[Figure]:
    """The figures of a cost, from each pair's share. Requires: at least two pairs."""
    low, middle, high = statistics.quantiles(shares, n=4, method="inclusive")
    return [
        Figure(name, 100 * middle, "%", COST_PERCENT_AT_MOST, at_most=True),
        Figure(f"{name}: lower quartile", 100 * low, "%"),
        Figure(f"{name}: upper quartile", 100 * high, "%"),
    ]
