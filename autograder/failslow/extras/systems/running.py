"""A foreign system that runs, in the place of a cluster of ours: the same experiments.

Faults of the processor and of memory come from outside. Those of links come from a proxy before
each port, and those of the disk from a program that makes the replicas' syncs.
"""

import hashlib
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import servers
from failslow.extras.cluster import ports, state
from failslow.extras.cluster.layout import Layout, layout_of
from failslow.extras.cluster.state import Replica, State
from failslow.extras.faults import effect_counts, fault_file, link_proxy, slow_syncs
from failslow.extras.faults.bench import Bench, HeldBytes
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.effect_counts import LINKS, STOPS, SYNCS, Count
from failslow.extras.faults.experiment import LINK_DELAY_NS
from failslow.extras.faults.injectors import SYNC_KINDS, of_systems
from failslow.extras.faults.link_proxy import Delays, Door
from failslow.extras.faults.socket_owner import SocketOwners
from failslow.extras.faults.sweep import VOID
from failslow.extras.faults.targets import Place
from failslow.extras.shared import waiting
from failslow.extras.systems import placeholders, questions, supervisor
from failslow.extras.systems.description import ALL, ANY, LEADER, ONE, SEEN, System, names_of
from failslow.extras.systems.placeholders import Names
from failslow.extras.systems.supervisor import Supervisor

READ_SHARES = {"read": 1.0, "mixed": 0.5, "write": 0.0}
"""By the names of sweep.MIXES."""
ROLE_S = 30.0
ONCE_S = 120.0
_PROOFS = {"cpu": STOPS, "disk": SYNCS, "fs": SYNCS, "net": LINKS, "packet": LINKS, "link": LINKS}
"""By the first word of a fault's kind: the count that proves it."""
_NOTHING = {
    STOPS: "the replica was never stopped at work",
    SYNCS: "no sync lasted longer",
    LINKS: "no byte came late",
}


@dataclass(frozen=True, kw_only=True)
class SystemBench(Bench):
    """`kinds`: the names of the faults that its replicas can get. `names`: of its words."""

    system: System
    supervisor: Supervisor
    names: Names
    kinds: frozenset[str]
    program_bytes: bytes

    @property
    def program(self) -> str:
        return self.system.name

    @property
    def load(self) -> str:
        return self.system.name

    @property
    def digest(self) -> str:
        content = self.system.text.encode() + self.program_bytes
        return hashlib.sha256(content).hexdigest()[:16]

    @property
    def warm_up_s(self) -> float:
        """A program of the system's own takes longer to connect."""
        return 3.0 if "command" in self.system.works["write"] else 1.0

    def can_have(self, kind: FaultKind) -> bool:
        return kind.name in self.kinds

    def role(self, number: int) -> str | None:
        """None for a replica that does not say."""
        if self.system.role is None:
            return ANY
        return questions.ask(self.system.role, self.names, number, len(self.place.replicas))

    def proposers(self) -> list[int]:
        """The leader; of a system without roles all replicas."""
        if not (found := self.leaders()):
            raise CannotDo(f"{self.program} has no leader now")
        return found

    def leaders(self) -> list[int]:
        return [each for each in self.place.replicas if self.role(each) in (LEADER, ANY)]

    def target(self, word: str) -> int:
        if word not in (*self.system.roles, ANY):
            known = ", ".join([*self.system.roles, ANY])
            raise CannotDo(f"--target: {self.program} has no {word}, but {known}")
        for number in self.place.replicas:
            if word in (ANY, self.role(number)):
                return number
        raise CannotDo(f"{self.program} has no {word} now")

    def applied(self, number: int) -> int | None:
        """Always the same for a system that does not say: there is nothing to wait for."""
        if self.system.progress is None:
            return 0
        value = questions.ask(self.system.progress, self.names, number, len(self.place.replicas))
        try:
            return None if value is None else round(float(value))
        except ValueError:
            return None

    def watch_held(self, holder: int, number: int) -> HeldBytes:
        """A foreign system does not say what it holds."""
        return lambda: 0

    def watch_leaders(self) -> Callable[[], int]:
        """A client goes on with a replica that still takes its operations."""
        before = set(self.leaders())
        return lambda: len(set(self.leaders()) - before)

    def watch_bite(self, kind: FaultKind, number: int) -> Callable[[], str]:
        """From now on. The result says why the fault had no effect; empty if it had one."""
        proof = _PROOFS.get(kind.name.partition("-")[0])
        if proof is None:
            return lambda: ""
        before = self.count(number, proof)

        def why() -> str:
            slowed = (self.count(number, proof) - before).slowed
            return "" if slowed > 0 else f"{VOID}{_NOTHING[proof]}"

        return why

    def count(self, number: int, what: str) -> Count:
        return effect_counts.read(self.place.layout.effect_counts(number, what))

    def put_load(self, *options: object) -> list[str]:
        port = self.system.ports[0]
        seen = [self.names(each)[f"{port}.{SEEN}"] for each in self.place.replicas]
        if self.at == LEADER:
            first = self.proposers()[0]
            seen = [*seen[first:], *seen[:first]]
        if self.at == ONE:
            seen = seen[:1]
        spec = {
            "endpoints": seen,
            "spread": self.at == ALL,
            "works": self.system.works,
            "value_bytes": self.value_bytes,
            "read_share": READ_SHARES[self.mix],
            "here": str(self.system.path.resolve().parent),
        }
        argv = [sys.executable, "-m", "failslow.extras.systems.load", json.dumps(spec)]
        return [*argv, *map(str, options)]


@dataclass(frozen=True, kw_only=True)
class _Replicas:
    """The replicas of a system before they start. `own`: the addresses where they listen, replica
    by replica, in the order of the system's ports; `seen`: those by which all others reach them,
    likewise. `kinds`: of faults. `path`: by which programs are found."""

    kit: Kit
    known: Catalogue
    system: System
    layout: Layout
    own: Sequence[str]
    seen: Sequence[str]
    kinds: frozenset[str]
    path: str

    @property
    def numbers(self) -> range:
        return range(self.system.replicas)

    def names(self, number: int) -> dict[str, str]:
        data = self.layout.replica(number)
        own, seen = self._of(self.own, number), self._of(self.seen, number)
        return names_of(self.system, number, data, own, seen)

    def command(self, number: int) -> list[str]:
        """Makes the directory of a replica, with its files."""
        data, faults = self.layout.replica(number), self.layout.faults(number)
        data.mkdir()
        fault_file.make(faults, self.known)
        _write_files(self.system, self.names, number, data)
        start = self.system.start_of(number)
        argv = placeholders.fill_all(start, self.names, number, self.system.replicas)
        if not self.kinds.issuperset(SYNC_KINDS):
            return argv
        counts = self.layout.effect_counts(number, SYNCS)
        return [*slow_syncs.before(self.kit, faults, counts), *argv]

    def environment(self, number: int) -> dict[str, str]:
        more = {
            name: placeholders.fill(value, self.names, number, self.system.replicas)
            for name, value in self.system.environment.items()
        }
        return {**os.environ, "PATH": self.path, **more}

    def doors(self, listeners: Sequence[socket.socket]) -> list[Door]:
        """`listeners`: at the addresses `seen`."""
        return [
            Door(at // len(self.system.ports), listener, _port(self.own[at]))
            for at, listener in enumerate(listeners)
        ]

    def state(self) -> State:
        replicas = [Replica(_port(self._of(self.seen, number)[0])) for number in self.numbers]
        return State(self.system.name, str(self.system.path), True, state.boot_id(), replicas)

    def _of(self, addresses: Sequence[str], number: int) -> list[str]:
        count = len(self.system.ports)
        return [*addresses[number * count :][:count]]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


@contextmanager
def running(kit: Kit, known: Catalogue, system: System, out: Path) -> Iterator[SystemBench]:
    """Its replicas while the body runs, with their data in a new directory below `out`, which is
    removed with them. CannotDo when one cannot be started, or is not ready in its time."""
    program, path = _program(kit, system)
    out.mkdir(parents=True, exist_ok=True)
    layout = layout_of(Path(tempfile.mkdtemp(prefix="system-", dir=out)))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, layout.data, ignore_errors=True)
        own = servers.free_addresses(system.replicas * len(system.ports))
        listeners = ports.listen_all(stack, [ports.ANY] * len(own))
        replicas = _Replicas(
            kit=kit,
            known=known,
            system=system,
            layout=layout,
            own=own,
            seen=[ports.endpoint(each) for each in listeners],
            kinds=_kinds(kit, system),
            path=path,
        )
        commands = [replicas.command(number) for number in replicas.numbers]
        environments = [replicas.environment(number) for number in replicas.numbers]
        kept = stack.enter_context(supervisor.running(layout, commands, environments))
        owners = SocketOwners(
            lambda: {each: [one.pid for one in kept.family(each)] for each in replicas.numbers}
        )
        delays = Delays(layout, known, LINK_DELAY_NS)
        stack.enter_context(link_proxy.running(replicas.doors(listeners), delays, owners))
        bench = SystemBench(
            kit=kit,
            place=Place(layout, replicas.state(), known, kept.start, kept.family),
            system=system,
            supervisor=kept,
            names=replicas.names,
            kinds=replicas.kinds,
            program_bytes=program.read_bytes(),
            at=system.clients_at,
        )
        for number in replicas.numbers:
            kept.start(number)
        _await_ready(bench)
        yield bench


def _program(kit: Kit, system: System) -> tuple[Path, str]:
    """The program, and the PATH by which it is found: this machine's, or with the file's packages
    before it."""
    name = system.program.replace("{here}", str(system.path.resolve().parent))
    path = os.environ.get("PATH", os.defpath)
    if (found := shutil.which(name, path=path)) is not None:
        return Path(found), path
    if system.packages:
        unpacked = servers.unpacked(kit, name, system.packages)
        return unpacked, f"{unpacked.parent}:{path}"
    raise CannotDo(f"{system.path}: there is no program {name} here; is its package installed?")


def _write_files(system: System, names: Names, number: int, data: Path) -> None:
    for name, text in system.files.items():
        path = data / placeholders.fill(name, names, number, system.replicas)
        if data not in path.resolve().parents:
            raise CannotDo(f"{system.path}: files: {name} is not below the replica's directory")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(placeholders.fill(text, names, number, system.replicas), encoding="utf-8")


def _kinds(kit: Kit, system: System) -> frozenset[str]:
    """The faults that its replicas can get here. A note says why others are missing. Requires:
    slow_syncs is built."""
    injectors = of_systems(lambda: slow_syncs.missing(kit))
    lacks = {name: each.missing() for name, each in injectors.items()}
    for name, missing in lacks.items():
        if missing:
            console.note(f"{name}: not on {system.name} ({missing})")
    return frozenset(name for name, missing in lacks.items() if not missing)


def _await_ready(bench: SystemBench) -> None:
    """CannotDo, with its last line, for a replica that is not ready in its time."""
    system, count = bench.system, len(bench.place.replicas)
    for number in bench.place.replicas:

        def is_ready(number: int = number) -> bool:
            if not bench.supervisor.family(number):
                raise CannotDo(
                    f"{system.path}: start: replica {number} has ended:"
                    f" {bench.supervisor.last_words(number)}",
                    bench.supervisor.last_lines(number),
                )
            return questions.ask(system.ready, bench.names, number, count) is not None

        if not waiting.until(is_ready, system.ready.within_s):
            raise CannotDo(
                f"{system.path}: ready: replica {number} is not, after"
                f" {system.ready.within_s:g} s; its last line:"
                f" {bench.supervisor.last_words(number)}"
            )
    if system.once:
        argv = placeholders.fill_all(system.once, bench.names, 0, count)
        done = process.run(argv, timeout_s=ONCE_S, merge_errors=True)
        if done.exit_code != 0:
            said = done.output.strip().rpartition("\n")[2]
            raise CannotDo(f"{system.path}: once: {done.how_it_ended()}: {said}")

    def leads() -> bool:
        return bool(bench.leaders())

    if not waiting.until(leads, ROLE_S):
        raise CannotDo(f"{system.path}: role: no replica is a leader within {ROLE_S:.0f} s")
