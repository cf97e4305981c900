"""etcd in the place of a cluster of ours: the same experiments, on the faults that it can get.

Its members lie as replicas do in a cluster's directory, so injectors find them. Faults of the
processor and of memory come from outside anyway. Those of links come from a proxy, and those of the
disk from a program that makes the members' syncs.
"""

import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras import waiting
from failslow.extras.bench import servers
from failslow.extras.cluster import ports, replica_processes, state
from failslow.extras.cluster.layout import Layout, layout_of
from failslow.extras.cluster.ports import HOST
from failslow.extras.cluster.state import Replica, State
from failslow.extras.faults import fault_file, link_proxy, slow_syncs
from failslow.extras.faults.bench import Bench, HeldBytes
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.injectors import SYNC_KINDS, Injector, of_etcd
from failslow.extras.faults.link_proxy import Door
from failslow.extras.faults.targets import Place

NAME = "etcd"
FOLLOWER, LEADER = ROLES = ("follower", "leader")

LEADS, APPLIED = "etcd_server_is_leader", "etcd_server_proposals_applied_total"
"""Metrics of a member."""

ANSWER_S, LEADER_S = 2.0, 30.0


def injectors_of(kit: Kit) -> dict[str, Injector]:
    """Requires: slow_syncs is built."""
    return of_etcd(lambda: slow_syncs.missing(kit))


@dataclass(frozen=True, kw_only=True)
class EtcdBench(Bench):
    """`own_ports`: where the members themselves take clients, by number. `kinds`: the names of the
    faults that they can get."""

    own_ports: tuple[int, ...]
    kinds: frozenset[str]

    @property
    def program(self) -> str:
        return NAME

    @property
    def load(self) -> str:
        return NAME

    def can_have(self, kind: FaultKind) -> bool:
        return kind.name in self.kinds

    def proposers(self) -> list[int]:
        for number in self.place.replicas:
            if self._metrics(number).get(LEADS) == 1:
                return [number]
        raise CannotDo("etcd has no leader now")

    def target(self, word: str) -> int:
        (leader,) = self.proposers()
        if word == LEADER:
            return leader
        if word == FOLLOWER:
            return next(each for each in self.place.replicas if each != leader)
        raise CannotDo(f"--target: etcd has no {word}, but {', '.join(ROLES)}")

    def applied(self, number: int) -> int | None:
        found = self._metrics(number).get(APPLIED)
        return None if found is None else round(found)

    def watch_held(self, holder: int, number: int) -> HeldBytes:
        """etcd does not say what it holds."""
        return lambda: 0

    def _metrics(self, number: int) -> dict[str, float]:
        """Empty for a member that does not answer."""
        url = f"http://{HOST}:{self.own_ports[number]}/metrics"
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return {}
        words = [line.split() for line in lines if line.startswith((LEADS, APPLIED))]
        return {name: float(value) for name, value in words}


@contextmanager
def running(kit: Kit, known: Catalogue, replicas: int, out: Path) -> Iterator[EtcdBench]:
    """Members of etcd while the body runs, with their data in a new directory below `out`, which is
    removed with them. CannotDo when etcd cannot be had, or elects no leader."""
    program = servers.etcd_program(kit)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=out) as data, ExitStack() as stack:
        layout = layout_of(Path(data))
        copy = Path(shutil.copy(program, layout.program(NAME)))
        for number in range(replicas):
            fault_file.make(layout.faults(number), known)
        inner = servers.free_addresses(2 * replicas)
        clients, peers = inner[:replicas], inner[replicas:]
        own_ports = tuple(int(each.rpartition(":")[2]) for each in clients)
        for_clients, for_peers = _doors(stack, clients, False), _doors(stack, peers, True)
        seen = [ports.endpoint(door.listener) for door in for_peers]
        current = _state(copy, [door.listener.getsockname()[1] for door in for_clients])
        stack.enter_context(link_proxy.running([*for_clients, *for_peers], layout, known))
        kinds = _kinds(kit)
        commands = []
        for number, (client, peer) in enumerate(zip(clients, peers, strict=True)):
            words = servers.etcd_member(copy, layout.replica(number), number, client, peer, seen)
            slow = kinds.issuperset(SYNC_KINDS)
            before = slow_syncs.before(kit, layout.faults(number)) if slow else []
            commands.append([*before, *map(str, words)])
        stack.callback(_end, layout)
        for command in commands:
            stack.enter_context(process.background(command))
        place = Place(layout, current, known, lambda number: _start(commands[number]))
        bench = EtcdBench(kit=kit, place=place, own_ports=own_ports, kinds=kinds)
        _await_leader(bench)
        yield bench


def _kinds(kit: Kit) -> frozenset[str]:
    """The faults that members can get here. A note says why others are missing."""
    lacks = {name: each.missing() for name, each in injectors_of(kit).items()}
    for name, missing in lacks.items():
        if missing:
            console.note(f"{name}: not on etcd ({missing})")
    return frozenset(name for name, missing in lacks.items() if not missing)


def _start(command: Sequence[str]) -> None:
    """Starts a member again. It may outlive this process, which may be an injector's guard."""
    nowhere = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def _end(layout: Layout) -> None:
    """Ends the members that were started again."""
    replica_processes.end(replica_processes.find(layout.data), grace_s=0)


def _doors(stack: ExitStack, own: list[str], of_peers: bool) -> list[Door]:
    listeners = ports.listen_all(stack, [ports.ANY] * len(own))
    return [
        Door(number, listener, int(address.rpartition(":")[2]), of_peers)
        for number, (listener, address) in enumerate(zip(listeners, own, strict=True))
    ]


def _state(program: Path, client_ports: list[int]) -> State:
    version = process.run([program, "--version"]).output.partition("\n")[0]
    return State(NAME, version, True, state.boot_id(), [Replica(port) for port in client_ports])


def _await_leader(bench: EtcdBench) -> None:
    def leads() -> bool:
        try:
            return bool(bench.proposers())
        except CannotDo:
            return False

    if not waiting.until(leads, LEADER_S):
        raise CannotDo(f"etcd elects no leader within {LEADER_S:.0f} s")
