"""Servers for benchmarks: three replicas of ours, three members of etcd or one Redis, on one core.

They run while a `with` block runs, on the loopback. Their data are under the kit's build directory,
and are removed afterwards.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench.figures import Figure
from failslow.extras.cluster import ports, start, up
from failslow.extras.cluster.layout import layout_of
from failslow.lab.labs import load_labs

REPLICAS = 3
CLUSTER = "benchmark"
REPLICA_CORE, CLIENT_CORE = "0", "1"
IN_MEMORY = ("tmpfs", "ramfs")
MEMORY = Path("/dev/shm")
"""The directory of Linux whose files are in memory."""
SYNCS_S = 1.0


@dataclass(frozen=True)
class Servers:
    """A cluster that runs. `metrics` and `processes`: of our replicas, none for etcd. `clients` are
    addresses for put_load, `redis` those for Redis clients."""

    target: str
    clients: Sequence[str] = ()
    metrics: Sequence[Path] = ()
    processes: Sequence[int] = ()
    redis: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Options of our replicas. `with_redis`: each has a port for Redis clients. `in_memory`: their
    files are there. `environment`: beyond that of this process. `replicas`: their number."""

    with_redis: bool = False
    in_memory: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    replicas: int = REPLICAS


DURABLE = Setup()
"""Their files are on the disk of the build's directory."""


def check_cores() -> None:
    """CannotDo when servers and clients cannot have a core each."""
    if (os.cpu_count() or 1) < 2:
        raise CannotDo("this benchmark needs two cores: one for the replicas, one for the clients")


def pinned(core: str, argv: Sequence[str | Path]) -> list[str | Path]:
    return [*_on(core), *argv]


def _on(core: str) -> list[str]:
    return ["taskset", "--cpu-list", core]


def raft(kit: Kit) -> AbstractContextManager[Servers]:
    """Three replicas of the tuned Raft."""
    return replicas_of(kit, "log", _tuned(kit, "lab2"))


def raft_in_memory(kit: Kit) -> AbstractContextManager[Servers]:
    """The tuned Raft with its files in memory."""
    return replicas_of(kit, "log", _tuned(kit, "lab2"), Setup(in_memory=True))


def log_in_memory(kit: Kit, lab: str) -> dict[str, str]:
    """The environment in which replicas of a lab keep their log in memory alone. Requires: it runs
    as a cluster."""
    view = load_labs(kit).get(lab).cluster
    assert view is not None, "it runs as a cluster"
    return dict(view.in_memory)


def kv(kit: Kit) -> AbstractContextManager[Servers]:
    """Three replicas of the store on the tuned Raft, each with a port for Redis clients."""
    return replicas_of(kit, "kv", _tuned(kit, "lab3"), Setup(with_redis=True))


def _tuned(kit: Kit, lab: str) -> Path:
    """The program of a replica that has the tuned solutions."""
    labs = load_labs(kit)
    return up.build(kit, labs, kit.fast, labs.get(lab))


@contextmanager
def replicas_of(kit: Kit, target: str, program: Path, setup: Setup = DURABLE) -> Iterator[Servers]:
    """Replicas of a program. `target`: the load generator's word for its clients' protocol."""
    with _memory() if setup.in_memory else _data(kit) as data, ExitStack() as stack:
        layout = layout_of(data)
        listeners = ports.listen_all(stack, [ports.ANY] * setup.replicas)
        redis = ports.listen_all(stack, [ports.ANY] * setup.replicas) if setup.with_redis else []
        where = Servers(
            target,
            clients=[ports.endpoint(each) for each in listeners],
            metrics=[layout.metrics(number) for number in range(setup.replicas)],
            redis=[ports.endpoint(each) for each in redis],
        )
        options = start.Options(
            program,
            where.clients,
            CLUSTER,
            before=_on(REPLICA_CORE),
            environment=setup.environment,
        )
        children = []
        for number, (listener, other) in enumerate(zip_longest(listeners, redis)):
            start.format_data(layout, options, number)
            child = start.launch(layout, options, number, listener, other)
            stack.callback(start.kill, child)
            children.append(child.pid)
        yield replace(where, processes=children)


@contextmanager
def redis(kit: Kit) -> Iterator[Servers]:
    """One Redis, alone, that answers a write when it is on disk. Its other settings are its own."""
    program = redis_program(kit)
    with _data(kit) as data:
        (address,) = free_addresses(1)
        host, _, port = address.rpartition(":")
        options = {
            "bind": host,
            "port": port,
            "dir": str(data),
            "logfile": str(data / "log"),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        argv: list[str | Path] = [program]
        for name, value in options.items():
            argv += [f"--{name}", value]
        with process.background(pinned(REPLICA_CORE, argv)) as pid:
            yield Servers("redis", processes=[pid], redis=[address])


@contextmanager
def etcd(kit: Kit) -> Iterator[Servers]:
    """Three members of etcd with its defaults, but for the addresses."""
    program = _program(kit, "etcd", ["etcd-server"])
    with _data(kit) as data, ExitStack() as running:
        addresses = free_addresses(2 * REPLICAS)
        clients, peers = addresses[:REPLICAS], addresses[REPLICAS:]
        cluster = [f"m{number}=http://{peer}" for number, peer in enumerate(peers)]
        for number, (client, peer) in enumerate(zip(clients, peers, strict=True)):
            options = {
                "name": f"m{number}",
                "data-dir": data / str(number),
                "listen-client-urls": f"http://{client}",
                "advertise-client-urls": f"http://{client}",
                "listen-peer-urls": f"http://{peer}",
                "initial-advertise-peer-urls": f"http://{peer}",
                "initial-cluster": ",".join(cluster),
            }
            words = [f"--{name}={value}" for name, value in options.items()]
            argv: list[str | Path] = [program, *words]
            running.enter_context(process.background(pinned(REPLICA_CORE, argv)))
        yield Servers("etcd", clients)


def redis_program(kit: Kit) -> Path:
    # In the distributions this program is a link to one of redis-tools.
    return _program(kit, "redis-server", ["redis-server", "redis-tools"])


def _program(kit: Kit, name: str, packages: Sequence[str]) -> Path:
    """A server: this machine's, or one of the distribution's packages. They are not installed,
    because they start servers of their own."""
    installed = shutil.which(name)
    return Path(installed) if installed else unpacked(kit, name, packages)


def unpacked(kit: Kit, name: str, packages: Sequence[str]) -> Path:
    """The program of the distribution's packages. CannotDo when it is not in them."""
    place = kit.build / name
    program = place / "usr" / "bin" / name
    if not program.is_file():
        place.mkdir(parents=True, exist_ok=True)
        words = f"the package{'s' if len(packages) > 1 else ''} {' and '.join(packages)}"
        with console.progress(f"Fetching {words}"):
            done = process.run(["apt-get", "download", *packages], cwd=place, merge_errors=True)
        for package in place.glob("*.deb"):
            process.run(["dpkg-deb", "--extract", package, place])
        if not program.is_file():
            raise CannotDo(f"cannot get {words}", done.output)
    return program


@contextmanager
def _data(kit: Kit) -> Iterator[Path]:
    kit.build.mkdir(exist_ok=True)
    kind = process.run(["stat", "--file-system", "--format=%T", kit.build]).output.strip()
    if kind in IN_MEMORY:
        raise CannotDo(f"{kit.build} is in memory ({kind}): nothing is durable there")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=kit.build) as name:
        yield Path(name)


@contextmanager
def _memory() -> Iterator[Path]:
    if not MEMORY.is_dir():
        raise CannotDo(f"there is no {MEMORY} for files in memory")
    with tempfile.TemporaryDirectory(prefix="failslow-bench-", dir=MEMORY) as name:
        yield Path(name)


def free_addresses(count: int) -> list[str]:
    """HOST:PORT of ports that are free now."""
    return [f"{ports.HOST}:{port}" for port in ports.find_free(count)]


def syncs(kit: Kit) -> Figure:
    """The disk's own pace: the syncs of one process that appends a block and syncs, alone, in the
    build's directory. Figures of durable writes are read beside it."""
    path = kit.build / "bench-sync"
    count = 0
    with path.open("wb", buffering=0) as file:
        end = time.monotonic() + SYNCS_S
        while time.monotonic() < end:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            count += 1
    path.unlink()
    return Figure("fdatasync after 4 KiB, one process alone", count / SYNCS_S, "/s")
