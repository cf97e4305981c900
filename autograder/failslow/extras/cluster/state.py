"""cluster.json: the contents of a data directory, and the cluster last started in it.

The list of running processes comes from /proc (see replica_processes.py). This file says which
replicas should run, and keeps ports and the solution's name from one `up` to the next.
"""

import json
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from failslow.base import atomic, yaml_file
from failslow.base.errors import CannotDo
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.ports import HOST


@dataclass
class Replica:
    """`pid` and `start_ticks` (see replica_processes.py) are those of the latest start; None before
    it. `ended` says how the kit ended it, if the kit did. `redis_port`: None for a lab without one.
    `host`: where its ports are.
    """

    port: int
    pid: int | None = None
    start_ticks: int | None = None
    ended: str | None = None
    redis_port: int | None = None
    host: str = HOST


@dataclass
class State:
    """`up`: it should run. `boot`: the kernel's id of the boot in which it was started. `verify`:
    its replicas run with runtime verification. `containers`: of the replicas, by number; empty for
    plain processes. `in_memory`: the environment by which the replicas keep their logs in memory;
    empty: the logs are on disk. `cluster`: its name in its replicas' data directories, which no
    other cluster has; empty for containers, which know it themselves. `groups`: the sizes of the
    groups that the replicas are in, by number; empty: all are in one."""

    lab: str
    solution: str
    up: bool
    boot: str
    replicas: list[Replica] = field(default_factory=list)
    verify: bool = False
    containers: list[str] = field(default_factory=list)
    in_memory: dict[str, str] = field(default_factory=dict)
    cluster: str = ""
    groups: list[int] = field(default_factory=list)

    def check_comes_back(self) -> None:
        """CannotDo when a replica that ends has lost its log."""
        if self.in_memory:
            raise CannotDo(
                "the cluster's replicas keep their logs in memory, so none can start again;"
                " ./kit cluster up --durable makes one whose replicas can"
            )

    @property
    def members(self) -> list[range]:
        """By group: the numbers of its replicas."""
        sizes = self.groups or [len(self.replicas)]
        ends = list(accumulate(sizes))
        return [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    @property
    def ports(self) -> list[int]:
        return [replica.port for replica in self.replicas]

    @property
    def redis_ports(self) -> list[int]:
        """The ports of all replicas, or none."""
        return [each.redis_port for each in self.replicas if each.redis_port is not None]

    @property
    def endpoints(self) -> list[str]:
        """HOST:PORT of all replicas."""
        return [f"{each.host}:{each.port}" for each in self.replicas]

    @property
    def redis_endpoints(self) -> list[str]:
        """Endpoints of the replicas' ports for Redis clients, if they have them."""
        with_redis = [each for each in self.replicas if each.redis_port is not None]
        return [f"{each.host}:{each.redis_port}" for each in with_redis]

    def was_started_before_the_machine(self) -> bool:
        return self.boot != boot_id()


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def load(layout: Layout) -> State | None:
    """None when there is no cluster.json; CannotDo when it makes no sense."""
    content = _content(layout.state)
    if content is None:
        return None
    replicas = [Replica(**replica) for replica in content.pop("replicas")]
    return State(replicas=replicas, **content)


def save(layout: Layout, state: State) -> None:
    """CannotDo when the file cannot be written; it is as before then."""
    atomic.write_text(layout.state, json.dumps(asdict(state), indent=1) + "\n")


def _content(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise CannotDo(f"cannot read {path}: {error}") from error
    complaint = yaml_file.first_complaint(content, "cluster")
    if complaint:
        raise CannotDo(f"{path} was not written by the kit: {complaint}")
    return content
