"""Real clusters for benchmarks: three replicas of our Raft, or three members of etcd, on one core.

They run while a `with` block runs, on the loopback, with their data under the kit's build
directory, which is removed afterwards.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow import console, process
from failslow.cluster import ports
from failslow.errors import CannotDo
from failslow.kit import Kit

REPLICAS = 3
REPLICA_CORE, CLIENT_CORE = "0", "1"
IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Servers:
    """A cluster that runs. Of our replicas, and none for etcd: metrics files and process ids."""

    target: str
    clients: Sequence[str]
    metrics: Sequence[Path] = ()
    processes: Sequence[int] = ()


def pinned(core: str, argv: Sequence[str | Path]) -> list[str | Path]:
    return ["taskset", "--cpu-list", core, *argv]


@contextmanager
def raft(kit: Kit) -> Iterator[Servers]:
    """Three replicas of the reference Raft."""
    with _data(kit) as data, ExitStack() as running:
        where = _free_addresses(REPLICAS)
        metrics = [data / f"metrics-{number}" for number in range(REPLICAS)]
        processes = []
        for number in range(REPLICAS):
            argv = [kit.binary("lab2_real"), "--id", str(number), "--peers", ",".join(where)]
            argv += ["--data", data / str(number), "--metrics", metrics[number]]
            argv = pinned(REPLICA_CORE, argv)
            processes.append(running.enter_context(process.background(argv)))
        yield Servers("raft", where, metrics, processes)


@contextmanager
def etcd(kit: Kit) -> Iterator[Servers]:
    """Three members of etcd with its defaults, but for the addresses."""
    program = etcd_program(kit)
    with _data(kit) as data, ExitStack() as running:
        addresses = _free_addresses(2 * REPLICAS)
        clients, peers = addresses[:REPLICAS], addresses[REPLICAS:]
        members = ",".join(f"m{number}=http://{peer}" for number, peer in enumerate(peers))
        for number, (client, peer) in enumerate(zip(clients, peers, strict=True)):
            options = {
                "name": f"m{number}",
                "data-dir": str(data / str(number)),
                "listen-client-urls": f"http://{client}",
                "advertise-client-urls": f"http://{client}",
                "listen-peer-urls": f"http://{peer}",
                "initial-advertise-peer-urls": f"http://{peer}",
                "initial-cluster": members,
            }
            argv = [program, *(f"--{name}={value}" for name, value in options.items())]
            running.enter_context(process.background(pinned(REPLICA_CORE, argv)))
        yield Servers("etcd", clients)


def etcd_program(kit: Kit) -> Path:
    """etcd's server: this machine's, or one unpacked from the distribution's package.

    Not installed, because the package starts a server of its own.
    """
    if installed := shutil.which("etcd"):
        return Path(installed)
    place = kit.build / "etcd"
    program = place / "usr" / "bin" / "etcd"
    if not program.is_file():
        place.mkdir(parents=True, exist_ok=True)
        with console.progress("Fetching the package etcd-server"):
            done = process.run(["apt-get", "download", "etcd-server"], cwd=place, merge_errors=True)
        for package in place.glob("etcd-server_*.deb"):
            process.run(["dpkg-deb", "--extract", package, place])
        if not program.is_file():
            raise CannotDo("cannot get the package etcd-server", done.output)
    return program


@contextmanager
def _data(kit: Kit) -> Iterator[Path]:
    kit.build.mkdir(exist_ok=True)
    kind = process.run(["stat", "--file-system", "--format=%T", kit.build]).output.strip()
    if kind in IN_MEMORY:
        raise CannotDo(f"{kit.build} is in memory ({kind}): nothing is durable there")
    with tempfile.TemporaryDirectory(prefix="bench-", dir=kit.build) as name:
        yield Path(name)


def _free_addresses(count: int) -> list[str]:
    with ExitStack() as stack:
        sockets = ports.listen_all(stack, [ports.ANY] * count)
        return [f"{ports.HOST}:{socket.getsockname()[1]}" for socket in sockets]
