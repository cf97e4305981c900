"""The knowledge of lab 6 alone: see failslow/extras/lab_kits.py.

`kit bench saucr`: the reference SAUCR on real sockets and disks, beside a log in memory and one on
disks. Both are variants of the reference. A long check: a small world under every schedule with two
deviations.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake, gtest
from failslow.extras.bench import disk, load, servers, verified
from failslow.extras.bench.figures import Figure, Section
from failslow.extras.bench.load import Load
from failslow.extras.bench.servers import Servers, Setup
from failslow.extras.bench.verified import Pair
from failslow.extras.check.step import Counts
from failslow.extras.faults.verdict import CONFIDENCE
from failslow.lab.mutants import variants_of

MANY_SEEDS = ("Chaos.SurvivesAnything", "Partitions.RandomCuts")
"""Chaos: a rule that is broken may break rarely."""

SCOPE = "SaucrScope.EverySchedule"
SCOPE_DEVIATIONS, SCOPE_TIMEOUT_S = 2, 1800
"""A grade has one deviation. The limit of time is for a slow machine."""

SAUCR, MEMORY, DISK = "saucr", "memory-durable", "disk-durable"
REPLICAS = 5
LOST_PERCENT_AT_MOST = {1: 9.0, 8: 5.0, 64: 5.0}
"""By clients. Document 003, section 5.2.1, has 0 to 9 %."""
STARTS, STARTS_ON_DISK = 8, 2

TEXT = (
    f"{REPLICAS} replicas share the first core, the load generator has the second; everything is on"
    " the loopback and on this machine's disk. A put has a value of 256 bytes. The log in memory"
    " commits a put once three replicas have it, and never syncs. SAUCR needs a fourth, and syncs"
    " in the background. Two clusters run side by side, and windows of"
    f" {verified.WINDOW_MS} ms alternate between them: {STARTS * verified.PAIRS_OF_A_START} pairs"
    f" for each number of clients, of {STARTS} starts. A figure is the median of the pairs, with"
    f" the interval in which it is with {100 * CONFIDENCE:.0f} %. INCONCLUSIVE: the bar is in the"
    " interval."
)


def run(kit: Kit) -> Section:
    """CannotDo in a student's kit: it has no variants."""
    servers.check_cores()
    if not variants_of(kit, "lab6"):
        raise CannotDo("this kit has no variants of lab6's reference: courses keep them")
    cmake.build(kit, targets=["put_load", *map(_program, (SAUCR, MEMORY, DISK))])
    figures = []
    for clients, at_most in LOST_PERCENT_AT_MOST.items():
        of = Load(clients)
        figures += lost(f"{of.describe()}: puts lost", _pairs(kit, SAUCR, of, STARTS), at_most)
    for clients in LOST_PERCENT_AT_MOST:
        of = Load(clients)
        figures += times(f"{of.describe()}: puts", _pairs(kit, DISK, of, STARTS_ON_DISK))
    return Section("saucr", "The reference SAUCR, for real", TEXT, [*figures, disk.syncs(kit)])


def lost(name: str, pairs: Sequence[Pair], at_most: float) -> list[Figure]:
    """The cost to a log in memory."""
    shares = [1 - ours.puts_per_second / memory.puts_per_second for memory, ours in pairs]
    return verified.judged(name, shares, at_most)


def times(name: str, pairs: Sequence[Pair]) -> list[Figure]:
    memory, ours = (load.median(each) for each in zip(*pairs, strict=True))
    return [
        Figure(f"{name}, memory-durable", memory.puts_per_second, "/s"),
        Figure(f"{name}, disk-durable", ours.puts_per_second, "/s"),
    ]


def _pairs(kit: Kit, system: str, of: Load, starts: int) -> list[Pair]:
    kinds = (_starter(MEMORY), _starter(system))
    return verified.pairs(kit, kinds, of, starts)


def _program(system: str) -> str:
    return f"{system}_real"


def _starter(system: str) -> Callable[[Kit], AbstractContextManager[Servers]]:
    return partial(_started, system=system)


@contextmanager
def _started(kit: Kit, system: str) -> Iterator[Servers]:
    """Once it has served for a second: SAUCR begins in slow mode."""
    program = kit.binary(_program(system))
    with servers.replicas_of(kit, "log", program, Setup(replicas=REPLICAS)) as cluster:
        load.run(kit, cluster, Load(8), warm_up_ms=1000, window_ms=200)
        yield cluster


def many_seeds(kit: Kit, seeds: range) -> Counts:
    """SCOPE with SCOPE_DEVIATIONS, once: its world is that of one seed."""
    options = gtest.Options(bound=SCOPE_DEVIATIONS, timeout_s=SCOPE_TIMEOUT_S)
    outcome = gtest.run_test(kit.binary("lab6_hidden_sim"), SCOPE, options)
    explored = json.loads(outcome.explored)
    counts = Counts()
    for failure in outcome.failures:
        counts.expect(False, f"{SCOPE} fails with {SCOPE_DEVIATIONS} deviations: {failure}")
    counts.expect(explored["complete"], f"{SCOPE} ends before all schedules have run")
    counts.remarks.append(f"{SCOPE}: {sum(explored['runs'])} schedules")
    return counts


BENCHMARKS = {"saucr": run}
