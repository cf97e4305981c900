"""The cost of one program beside another, by pairs of short windows of load.

The machine's speed varies within seconds. So two clusters run side by side, and windows alternate
between them. Processes of one program differ in the layout of their memory: so both clusters are
started again after some pairs. A figure is the median of the pairs' ratios.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from failslow.base import console
from failslow.base.kit import Kit
from failslow.extras.bench import load, rounds
from failslow.extras.bench.figures import Figure
from failslow.extras.bench.load import Load, Result
from failslow.extras.bench.servers import Servers
from failslow.extras.faults.verdict import CONFIDENCE, FAIL, INCONCLUSIVE, PASS, middle

PAIRS_OF_A_START = 6
WARM_UP_MS, WINDOW_MS = 100, 400

Pair = tuple[Result, Result]
"""Results of the two kinds of clusters."""
Start = Callable[[Kit], AbstractContextManager[Servers]]
Kinds = tuple[Start, Start]


def method(starts: int) -> str:
    """In a few sentences, what `measure` measures and `judged` says."""
    return (
        f"Two clusters run side by side, and windows of {WINDOW_MS} ms alternate between them:"
        f" {starts * PAIRS_OF_A_START} pairs for each load, of {starts} starts. A figure is the"
        f" median of the pairs, with the interval in which it is with {100 * CONFIDENCE:.0f} %."
        " INCONCLUSIVE: the bar is in the interval."
    )


def measure(kit: Kit, kinds: Kinds, each: Load, starts: int) -> list[Pair]:
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
