"""Probe replicas: does an injector slow the right operations, by the amount asked, in its time?

A probe (tools/probe) is a replica that repeats one operation. Its mean time with the fault is
compared with the time that the healthy probe and the amount of the fault let expect.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import ports, replica_processes, start, state
from failslow.extras.cluster.layout import layout_of
from failslow.extras.cluster.state import Replica, State
from failslow.extras.faults import injection
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.faults.injectors import Injection, injector_of
from failslow.extras.faults.neighbours import Neighbours
from failslow.extras.faults.targets import Place
from failslow.extras.shared import waiting

PROGRAM = "probe_real"
PROBER, OTHER = 0, 1
HEALTHY_S, FAULT_S = 0.6, 2.5
SETTLE_S = 0.1
"""The beginning of a fault that is left out: operations that began before it end there. And its
end: on a busy machine a fault is over a little before its injector says so."""
TOLERANCE = 0.2

_MS = 10**6
_MB = 1 << 20
SPIN_NS = _MS
"""The processor time of an operation of a cpu probe. On a busy machine it takes longer."""
APPEND_BYTES = 256 * 1024
"""The bytes of one operation of a disk probe, which is a write and a sync: two system calls."""


@dataclass(frozen=True)
class Trial:
    """A fault whose effect can be computed. `expected`: the mean time of an operation, from the
    healthy one, both in ns."""

    kind: str
    resource: str
    amount: int
    expected: Callable[[float], float]


TRIALS = (
    Trial("cpu-slow", "cpu", 5, lambda _: SPIN_NS / 0.05),
    Trial("cpu-contention", "cpu", 6, lambda _: SPIN_NS / 0.06),
    Trial("disk-slow", "disk", 4 * _MB, lambda healthy: healthy + 1e9 * APPEND_BYTES / (4 * _MB)),
    Trial("disk-contention", "disk", 20, lambda healthy: healthy / 0.2),
    Trial("fs-delay", "disk", 10 * _MS, lambda healthy: healthy + 2 * 10 * _MS),
    Trial("net-slow", "net", 40 * _MS, lambda healthy: healthy + 40 * _MS),
    Trial("net-jitter", "net", 40 * _MS, lambda healthy: healthy + 20 * _MS),
    Trial("link-slow", "net", 40 * _MS, lambda healthy: healthy + 40 * _MS),
)


@dataclass(frozen=True)
class Effect:
    """Mean times of an operation, in ns. `others_cores`: the processors that other programs used
    meanwhile."""

    trial: Trial
    healthy: float
    slow: float
    recovered: float
    others_cores: float = 0.0

    @property
    def expected(self) -> float:
        return self.trial.expected(self.healthy)

    @property
    def is_faithful(self) -> bool:
        """Whether the replica was as slow as asked, and as fast as before afterwards."""
        added = self.expected - self.healthy
        off = abs(self.slow - self.expected) / self.expected
        return off <= TOLERANCE and self.recovered - self.healthy < TOLERANCE * added


def measure(
    kit: Kit, catalogue: Catalogue, resource: str, in_containers: bool = False
) -> Iterator[Effect]:
    """All trials of one resource whose injectors work here. `in_containers`: of the injectors that
    containers get; they act on any process.

    CannotDo when the probe does not run. Requires: it is built, and this process has one thread.
    """
    with _probes(kit, catalogue, resource, in_containers) as place:
        for trial in TRIALS:
            injector = injector_of(place, place.catalogue.kinds[trial.kind])
            if trial.resource == resource and injector.missing() is None:
                yield _effect(place, trial)


@contextmanager
def _probes(kit: Kit, catalogue: Catalogue, resource: str, in_containers: bool) -> Iterator[Place]:
    """In the build directory: what is written to memory costs no bandwidth."""
    with tempfile.TemporaryDirectory(dir=kit.build) as directory, ExitStack() as stack:
        layout = layout_of(Path(directory))
        program = layout.program("probe")
        atomic.copy(kit.binary(PROGRAM), program)
        program.chmod(0o755)
        listeners = ports.listen_all(stack, [ports.ANY] * 2)
        endpoints = [ports.endpoint(each) for each in listeners]
        os.environ["FAULT_PROBE"] = resource
        children = {}
        for number, listener in enumerate(listeners):
            options = start.Options(program, endpoints, faults=True)
            child = start.launch(layout, options, number, listener)
            stack.callback(start.kill, child)
            children[number] = child
        current = State("probe", resource, True, state.boot_id(), [Replica(0), Replica(0)])
        current.containers = ["probe", "other"] if in_containers else []
        place = Place(layout, current, catalogue)
        if not start.await_true(layout, children, lambda: bool(_operations(place, 0))):
            raise CannotDo(f"the {resource} probe does nothing", start.last_lines(layout.log(0)))
        yield place


def _effect(place: Place, trial: Trial) -> Effect:
    neighbours = Neighbours(replica_processes.children())
    healthy = _mean(place, HEALTHY_S)
    kind = place.catalogue.kinds[trial.kind]
    receivers = (OTHER,) if kind.to_receivers else ()
    wanted = Injection(kind, trial.amount, PROBER, receivers, FAULT_S)
    began_ns: list[int] = []
    injection.inject(place, wanted, lambda: began_ns.append(time.monotonic_ns()))
    from_ns = began_ns[0] + round(SETTLE_S * 1e9)
    to_ns = began_ns[0] + round((FAULT_S - SETTLE_S) * 1e9)
    slow = _between(place, from_ns, to_ns)
    if not slow:
        raise CannotDo(f"the probe did nothing under {trial.kind}")
    recovered = _mean(place, HEALTHY_S)
    return Effect(trial, healthy, statistics.mean(slow), recovered, neighbours.cores())


def _mean(place: Place, seconds: float) -> float:
    """The mean time of the operations that begin within these seconds."""
    from_ns = time.monotonic_ns()
    to_ns = from_ns + round(seconds * 1e9)

    def is_over() -> bool:
        operations = _operations(place, from_ns)
        return bool(operations) and operations[-1][0] >= to_ns

    if not waiting.until(is_over, start.READY_S):
        raise CannotDo("the probe stands still")
    return statistics.mean(_between(place, from_ns, to_ns))


def _between(place: Place, from_ns: int, to_ns: int) -> list[float]:
    """The times of the operations that began and ended there."""
    return [
        float(took)
        for ended, took in _operations(place, from_ns)
        if ended - took >= from_ns and ended <= to_ns
    ]


def _operations(place: Place, from_ns: int) -> list[tuple[int, int]]:
    """The end of each operation of the probe, from that time on, and its duration."""
    text = place.layout.log(PROBER).read_text(encoding="ascii")
    rows = (line.split(" ") for line in text[: text.rfind("\n") + 1].splitlines())
    found = [(int(row[0]), int(row[1])) for row in rows if all(map(str.isdigit, row))]
    return [row for row in found if row[0] >= from_ns]
