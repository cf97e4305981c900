"""The data directory that a command means, and whether it is one of ours."""

import fcntl
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import replica_processes, state
from failslow.extras.cluster.layout import Layout, layout_of
from failslow.extras.cluster.replica_processes import Process
from failslow.extras.cluster.state import State

CONTAINERS = Path("containers of docker-compose.yml")
"""Stands for their data directory on a command line."""


def default_data(kit: Kit, lab_id: str) -> Path:
    return _base(kit) / lab_id


def named_or_only(kit: Kit, data: Path | None) -> Layout | None:
    """The cluster that a command means: the one named, or the only one of this checkout; None if
    there is none.

    CannotDo when there is more than one, and none or several of them run; and for CONTAINERS, as
    `containers.adopted`.
    """
    if data == CONTAINERS:  # a student's kit has no option that says so
        from failslow.extras.cluster import containers

        return containers.adopted(kit)
    if data is not None:
        return layout_of(data)
    running = {process.data for process in replica_processes.find()}
    base = _base(kit)
    here = {path.parent for path in base.glob("*/cluster.json")}
    here |= {path for path in running if path.parent == base}
    chosen = here & running if len(here) > 1 and len(here & running) == 1 else here
    if len(chosen) > 1:
        names = ", ".join(str(path) for path in sorted(chosen))
        raise CannotDo(f"there are several clusters: say which with --data ({names})")
    return Layout(chosen.pop()) if chosen else None


def of_command(kit: Kit, data: Path | None) -> Layout:
    """The layout of `named_or_only`. CannotDo when there is none."""
    layout = named_or_only(kit, data)
    if layout is None:
        elsewhere = ", ".join(sorted({str(process.data) for process in replica_processes.find()}))
        hint = f"; elsewhere run: {elsewhere} (say which with --data)" if elsewhere else ""
        where = "./kit cluster up starts one"
        raise CannotDo(f"there is no cluster under {_base(kit)} ({where}){hint}")
    return layout


def _base(kit: Kit) -> Path:
    return (kit.root / "out" / "cluster").resolve()


def loaded(layout: Layout) -> State:
    """CannotDo when the directory holds no cluster."""
    current = state.load(layout)
    if current is None:
        raise CannotDo(
            f"there is no cluster in {layout.data}", leftovers(replica_processes.find(layout.data))
        )
    return current


def leftovers(running: Sequence[Process]) -> str:
    """Names replicas that run, and the command that ends each cluster's."""
    lines = [
        f"  replica {process.number}: pid {process.pid}, port {process.port}, data"
        f" {process.data}/replica-{process.number}"
        for process in running
    ]
    for data in sorted({process.data for process in running}):
        lines.append(f"  to end them: {down_command(data)}")
    return "\n".join(lines)


def down_command(data: Path) -> str:
    return f"./kit cluster down --data {shlex.quote(str(data))}"


@contextmanager
def locked(layout: Layout) -> Iterator[None]:
    """Keeps a second `kit cluster` away from the directory, which must exist."""
    try:
        handle = os.open(layout.data, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CannotDo(f"cannot open {layout.data}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise CannotDo(f"another ./kit cluster is at work in {layout.data}") from error
    finally:
        os.close(handle)
