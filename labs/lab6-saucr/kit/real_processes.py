"""`kit bench saucr`: the reference SAUCR on real sockets and disks.

Beside it run a log in memory and one on disks, which are variants of the reference.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from failslow.extras.for_labs import Kit, figures, load, pairs, programs, servers

from .published import DISK, MEMORY, SAUCR

REPLICAS = 5
LOST_PERCENT_AT_MOST = {1: 9.0, 8: 5.0, 64: 5.0}
"""By clients. Document 003, section 5.2.1, has 0 to 9 %."""
STARTS, STARTS_ON_DISK = 8, 2

TEXT = (
    f"{REPLICAS} replicas share the first core, the load generator has the second; everything is on"
    " the loopback and on this machine's disk. A put has a value of 256 bytes. The log in memory"
    " commits a put once three replicas have it, and never syncs. SAUCR needs a fourth, and syncs"
    f" in the background. {pairs.method(STARTS)}"
)


def run(kit: Kit) -> figures.Section:
    """CannotDo in a student's kit: it has no variants."""
    servers.check_cores()
    targets = ["put_load", *map(_program, (SAUCR, MEMORY, DISK))]
    programs.build(kit, targets, variants_of_lab="lab6")
    found = []
    for clients, at_most in LOST_PERCENT_AT_MOST.items():
        of = load.Load(clients)
        found += lost(f"{of.describe()}: puts lost", _pairs(kit, SAUCR, of, STARTS), at_most)
    for clients in LOST_PERCENT_AT_MOST:
        of = load.Load(clients)
        found += times(f"{of.describe()}: puts", _pairs(kit, DISK, of, STARTS_ON_DISK))
    found.append(servers.syncs(kit))
    return figures.Section("saucr", "The reference SAUCR, for real", TEXT, found)


def lost(name: str, found: Sequence[pairs.Pair], at_most: float) -> list[figures.Figure]:
    """The cost to a log in memory."""
    shares = [1 - ours.puts_per_second / memory.puts_per_second for memory, ours in found]
    return pairs.judged(name, shares, at_most)


def times(name: str, found: Sequence[pairs.Pair]) -> list[figures.Figure]:
    memory, ours = (load.median(each) for each in zip(*found, strict=True))
    return [
        figures.Figure(f"{name}, memory-durable", memory.puts_per_second, "/s"),
        figures.Figure(f"{name}, disk-durable", ours.puts_per_second, "/s"),
    ]


def _pairs(kit: Kit, system: str, of: load.Load, starts: int) -> list[pairs.Pair]:
    kinds = (_starter(MEMORY), _starter(system))
    return pairs.measure(kit, kinds, of, starts)


def _program(system: str) -> str:
    return f"{system}_real"


def _starter(system: str) -> Callable[[Kit], AbstractContextManager[servers.Servers]]:
    return partial(_started, system=system)


@contextmanager
def _started(kit: Kit, system: str) -> Iterator[servers.Servers]:
    """Once it has served for a second: SAUCR begins in slow mode."""
    program = kit.binary(_program(system))
    with servers.replicas_of(kit, "log", program, servers.Setup(replicas=REPLICAS)) as cluster:
        load.run(kit, cluster, load.Load(8), warm_up_ms=1000, window_ms=200)
        yield cluster
