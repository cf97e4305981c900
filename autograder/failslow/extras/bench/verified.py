"""`kit bench raft --verify`: the cost of runtime verification, by pairs of runs.

The files are in memory: a disk's speed varies, and the same cost is a larger share of a shorter
put. The machine's speed varies within seconds, too. So two clusters run side by side, and short
windows of load alternate between them. Processes of one program differ in the layout of their
memory: so both clusters are started again after some pairs. A figure is the median of the pairs'
ratios.
"""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from failslow.base import console
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, rounds, servers
from failslow.extras.bench.figures import Figure, Section
from failslow.extras.bench.load import Load, Result
from failslow.extras.bench.servers import Servers
from failslow.extras.faults.verdict import CONFIDENCE, FAIL, INCONCLUSIVE, PASS, middle

STARTS = 20
PAIRS_OF_A_START = 6
WARM_UP_MS, WINDOW_MS = 100, 400
CLOSED = Load(64)
OPEN = Load(rate=4000)
COST_PERCENT_AT_MOST = 3.0

TEXT = (
    "Two clusters of the tuned Raft, one with runtime verification, in"
    f" {STARTS * PAIRS_OF_A_START} pairs of windows of {WINDOW_MS} ms for each load. Both clusters"
    f" are started {STARTS} times, in turns. The one that waits is idle. Three replicas of each"
    " share the first core, the load generator has the second. Throughput is that of a closed loop,"
    " mean latency that of an open one. Each figure is the median of the pairs; the quartiles"
    " beside it say how much the pairs differ."
)

Pair = tuple[Result, Result]
"""Of the two kinds of clusters: here without verification, and with it."""
Start = Callable[[Kit], AbstractContextManager[Servers]]
Kinds = tuple[Start, Start]


def run(kit: Kit) -> Section:
    servers.check_cores()
    cmake.build(kit, targets=["put_load"])
    kinds = (servers.raft_in_memory, servers.verified_raft_in_memory)
    closed, opened = (pairs(kit, kinds, each, STARTS) for each in (CLOSED, OPEN))
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


def method(starts: int) -> str:
    """In a few sentences, what `pairs` measures and `judged` says."""
    return (
        f"Two clusters run side by side, and windows of {WINDOW_MS} ms alternate between them:"
        f" {starts * PAIRS_OF_A_START} pairs for each load, of {starts} starts. A figure is the"
        f" median of the pairs, with the interval in which it is with {100 * CONFIDENCE:.0f} %."
        " INCONCLUSIVE: the bar is in the interval."
    )


def pairs(kit: Kit, kinds: Kinds, each: Load, starts: int) -> list[Pair]:
    """Both clusters start so often, and run side by side; PAIRS_OF_A_START windows alternate. A
    start in which a leader has changed is made again."""
    found: list[Pair] = []
    with console.progress("Measuring") as advance:
        for start in range(starts):
            advance(start, starts, f"starts, {each.describe()}")
            of_start = partial(_pairs_of_a_start, kit, kinds, each, start % 2 == 0)
            found += rounds.settled(of_start, others_cores=lambda _: 0.0)
    return found


def _pairs_of_a_start(kit: Kit, kinds: Kinds, each: Load, in_order: bool) -> list[Pair]:
    found: list[Pair] = []
    with ExitStack() as stack:
        order = kinds if in_order else reversed(kinds)
        started = [stack.enter_context(start(kit)) for start in order]
        for _ in range(PAIRS_OF_A_START):
            first, second = (_measured(kit, cluster, each) for cluster in started)
            found.append((first, second) if in_order else (second, first))
    return found


def _measured(kit: Kit, cluster: Servers, each: Load) -> Result:
    return load.run(kit, cluster, each, warm_up_ms=WARM_UP_MS, window_ms=WINDOW_MS)


def judged(name: str, shares: Sequence[float], at_most: float) -> list[Figure]:
    """A cost, from each pair's share: only a known one is held against its bar, in per cent."""
    found = middle(shares)
    low, high = 100 * found.low, 100 * found.high
    word = PASS if high <= at_most else FAIL if low > at_most else INCONCLUSIVE
    known = at_most if word != INCONCLUSIVE else None
    return [
        Figure(f"{name}: {word}", 100 * found.value, "%", known, at_most=True),
        Figure(f"{name}: from", low, "%"),
        Figure(f"{name}: to", high, "%"),
    ]


def cost(name: str, shares: Sequence[float]) -> list[Figure]:
    """The figures of a cost, from each pair's share. Requires: at least two pairs."""
    low, middle, high = statistics.quantiles(shares, n=4, method="inclusive")
    return [
        Figure(name, 100 * middle, "%", COST_PERCENT_AT_MOST, at_most=True),
        Figure(f"{name}: lower quartile", 100 * low, "%"),
        Figure(f"{name}: upper quartile", 100 * high, "%"),
    ]
