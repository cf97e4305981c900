"""The containers of docker-compose.yml, seen as a cluster of this machine.

Their replicas share a volume that is laid out as a data directory, and their processes are in
/proc. So commands on plain processes work on them, for root: only a start is the engine's.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import metrics, replica_processes, state
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.state import Replica, State
from failslow.extras.shared import waiting
from failslow.extras.shared.engine import docker
from failslow.extras.shared.guard import guarded
from failslow.lab.labs import load_labs

PEER_PORT, REDIS_PORT = 5400, 6379
READY_S = 30.0
VOLUME = "/cluster"
SERVICE, PROJECT, WORKING_DIR = (
    f"com.docker.compose.{name}" for name in ("service", "project", "project.working_dir")
)
LAB, SOLUTION = "failslow.lab", "failslow.solution"
LOAD_SERVICE = "load"

Container = dict[str, Any]
"""A container as `docker inspect` describes it."""


def adopted(kit: Kit) -> Layout:
    """The data directory of this checkout's containers, with a cluster.json as of now.

    CannotDo when there are none, or this user may not look into them.
    """
    replicas = _replicas(kit)
    volume = next(
        (each["Source"] for each in replicas[0]["Mounts"] if each["Destination"] == VOLUME), ""
    )
    layout = Layout(Path(volume))
    if not os.access(volume, os.R_OK | os.W_OK | os.X_OK):
        raise CannotDo("the volume of the containers belongs to root: try again with sudo")
    labels = replicas[0]["Config"]["Labels"]
    lab = load_labs(kit).get(labels[LAB])
    has_redis = lab.cluster is not None and lab.cluster.redis
    current = State(
        lab=lab.id,
        solution=labels[SOLUTION],
        up=any(each["State"]["Running"] for each in replicas),
        boot=state.boot_id(),
        replicas=[_replica(each, has_redis) for each in replicas],
        verify=True,
        containers=[each["Id"] for each in replicas],
    )
    state.save(layout, current)
    return layout


@contextmanager
def without_load(kit: Kit) -> Iterator[None]:
    """The containers' own load generator does not run while the body does."""
    services = [each for each in _of_project(kit) if _label(each, SERVICE) == LOAD_SERVICE]
    running = [each["Id"] for each in services if each["State"]["Running"]]
    if not running:
        yield
        return
    with guarded(lambda: _ignored(docker("start", *running))):
        docker("stop", *running)
        yield


def _ignored(_: object) -> None:
    """The engine repeats the names of the containers."""


def start(layout: Layout, current: State, number: int) -> int:
    """Returns the process id once the replica's event loop runs. CannotDo when it does not."""
    layout.metrics(number).unlink(missing_ok=True)
    docker("start", current.containers[number])

    def pid() -> int | None:
        if metrics.read(layout.metrics(number)) is None:
            return None
        running = replica_processes.find(layout.data)
        return next((each.pid for each in running if each.number == number), None)

    if (found := waiting.first(pid, READY_S)) is None:
        raise CannotDo(f"replica {number} has written no metrics for {READY_S:.0f} s")
    return found


def _replicas(kit: Kit) -> list[Container]:
    """By number."""
    replicas = [each for each in _of_project(kit) if LAB in each["Config"]["Labels"]]
    return sorted(replicas, key=lambda each: _label(each, SERVICE))


def _of_project(kit: Kit) -> list[Container]:
    """The containers of this checkout, and of one project of it. CannotDo when there are none."""
    ids = docker("ps", "--all", "--quiet", "--filter", f"label={PROJECT}").split()
    found: list[Container] = json.loads(docker("inspect", *ids)) if ids else []
    here = [each for each in found if _label(each, WORKING_DIR) == str(kit.root)]
    wanted = os.environ.get("COMPOSE_PROJECT_NAME")
    projects = sorted({_label(each, PROJECT) for each in here})
    chosen = [wanted] if wanted in projects else projects
    if not chosen:
        raise CannotDo("this checkout has no containers: docker compose up --build --detach")
    if len(chosen) > 1:
        names = ", ".join(chosen)
        raise CannotDo(f"there are several projects: say which by COMPOSE_PROJECT_NAME ({names})")
    return [each for each in here if _label(each, PROJECT) == chosen[0]]


def _label(container: Container, name: str) -> str:
    return str(container["Config"]["Labels"].get(name, ""))


def _replica(container: Container, has_redis: bool) -> Replica:
    (network,) = container["NetworkSettings"]["Networks"].values()
    running = container["State"]["Running"]
    pid = container["State"]["Pid"] if running else None
    return Replica(
        port=PEER_PORT,
        pid=pid,
        start_ticks=replica_processes.start_ticks(pid) if pid else None,
        ended=None if running else f"its container ended ({container['State']['Status']})",
        redis_port=REDIS_PORT if has_redis else None,
        host=network["IPAMConfig"]["IPv4Address"],
    )
