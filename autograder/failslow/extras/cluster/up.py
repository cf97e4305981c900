"""`kit cluster up`: builds a solution, starts its replicas, waits until they serve."""

import secrets
import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import build_submission
from failslow.build.recipe import given, load_recipe
from failslow.extras.cluster import data_directory, ports, replica_processes, start, state, status
from failslow.extras.cluster.layout import Layout, layout_of
from failslow.extras.cluster.state import Replica, State
from failslow.extras.shared.solution import patch_at, submission_in
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.submission import source_directory

REPLICAS = 3
PORT_MAX = 65535


@dataclass(frozen=True)
class Request:
    """None: the earlier value of the data directory, or the default. `durable`: logs are on disk,
    also in a lab whose clusters keep them in memory otherwise. `groups`: see State. Their sum is
    the number of replicas."""

    directory: Path | None
    lab: str | None
    replicas: int | None
    data: Path | None
    port: int | None
    verify: bool = False
    durable: bool = False
    groups: Sequence[int] = ()


def up(kit: Kit, request: Request) -> tuple[Layout, bool]:
    """The cluster's address, and whether it serves.

    CannotDo when it does not run; the replicas that were started are stopped again then.
    """
    labs = load_labs(kit)
    tree = request.directory or default_tree(kit)
    lab = lab_of(labs, tree, request.lab)
    layout = layout_of(request.data or data_directory.default_data(kit, lab.id))
    with _directory(layout), data_directory.locked(layout), ExitStack() as stack:
        before = _examined(layout, lab, request)
        asked = sum(request.groups) or request.replicas or REPLICAS
        count = len(before.replicas) if before else asked
        with_redis = lab.cluster is not None and lab.cluster.redis
        _check_ports(request.port, 2 * count if with_redis else count)
        listeners = _listeners(stack, count, request.port, before.ports if before else [])
        redis: Sequence[socket.socket] = []
        if with_redis:
            first = None if request.port is None else request.port + count
            redis = _listeners(stack, count, first, before.redis_ports if before else [])
        program = build(kit, labs, tree, lab)
        is_new = before is None or bool(before.in_memory)
        current = State(
            lab=lab.id,
            solution=str(tree.resolve()),
            up=True,
            boot=state.boot_id(),
            replicas=[Replica(each.getsockname()[1]) for each in listeners],
            verify=request.verify,
            in_memory=_in_memory(lab, request),
            cluster=secrets.token_hex(8) if before is None or is_new else before.cluster,
            groups=before.groups if before else list(request.groups),
        )
        with _writing(layout):
            if before and is_new:
                _forget(layout, len(before.replicas))
            _prepare(layout, lab, program, len(listeners))
            for number in range(len(listeners)) if is_new else ():
                start.format_data(layout, start.options_of(layout, current), number)
        for replica, listener in zip(current.replicas, redis, strict=False):
            replica.redis_port = listener.getsockname()[1]
        state.save(layout, current)
        try:
            serves = _start(layout, lab, current, listeners, redis)
        except BaseException:
            current.up = False
            with suppress(CannotDo):  # the disk may be the cause
                state.save(layout, current)
            raise
    return layout, serves


def default_tree(kit: Kit) -> Path:
    """The reference; a student's copy of the kit has none, but the student's own work."""
    return kit.reference if kit.reference.is_dir() else kit.labs


def lab_of(labs: Labs, tree: Path, asked: str | None) -> Lab:
    """The lab that is asked for, or the last one in the tree that can run."""
    patched = patch_at(tree)
    if patched is None and not tree.is_dir():
        raise CannotDo(f"no such directory: {tree}")
    able = [lab for lab in labs.by_id.values() if lab.cluster]
    if asked:
        lab = labs.get(asked)
    elif patched:
        lab = labs.get(patched.lab)
    else:
        there = [lab for lab in able if source_directory(tree, lab)]
        if not there:
            names = ", ".join(f"{lab.directory}/" for lab in able)
            raise CannotDo(f"{tree} holds nothing to run as a cluster ({names})")
        lab = there[-1]
    if lab.cluster is None:
        names = ", ".join(lab.id for lab in able)
        raise CannotDo(f"{lab.id} does not run as a cluster (labs that do: {names})")
    return lab


def _in_memory(lab: Lab, request: Request) -> dict[str, str]:
    """See State."""
    return dict(lab.cluster.in_memory) if lab.cluster and not request.durable else {}


def _start(
    layout: Layout,
    lab: Lab,
    current: State,
    listeners: Sequence[socket.socket],
    redis: Sequence[socket.socket],
) -> bool:
    """Returns whether the cluster serves within start.READY_S."""

    def serves() -> bool:
        return status.serves(lab, current, status.of_all(layout, current, lab))

    by_replica = dict(enumerate(listeners))
    with start.ended_on_failure(layout, by_replica), _writing(layout):
        children = start.start(layout, current, by_replica, dict(enumerate(redis)))
        return start.await_true(layout, children, serves)


@contextmanager
def _directory(layout: Layout) -> Iterator[None]:
    """Makes the data directory; one that stays empty is removed again."""
    made = not layout.data.exists()
    if not made and not layout.data.is_dir():
        raise CannotDo(f"{layout.data} is not a directory")
    with _writing(layout):
        layout.data.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if made:
            with suppress(OSError):
                layout.data.rmdir()


@contextmanager
def _writing(layout: Layout) -> Iterator[None]:
    """Reports an error of the system in one line."""
    try:
        yield
    except OSError as error:
        raise CannotDo(f"cannot write in {layout.data}: {error.strerror}") from error


def _examined(layout: Layout, lab: Lab, request: Request) -> State | None:
    """The state of an earlier run in a directory that may be used now; CannotDo if it may not."""
    running = replica_processes.find(layout.data)
    before = state.load(layout)
    if running:
        what = "an earlier cluster whose cluster.json is gone" if before is None else "a cluster"
        raise CannotDo(f"{what} still runs in {layout.data}", data_directory.leftovers(running))
    if before is None:
        if any(layout.data.iterdir()):
            raise CannotDo(f"{layout.data} is not empty and holds no cluster: name another --data")
        return None
    if before.lab != lab.id:
        raise CannotDo(f"{layout.data} holds data of {before.lab}, not of {lab.id}")
    had = len(before.replicas)
    if request.replicas not in (None, had):
        raise CannotDo(
            f"{layout.data} holds data of {had} replicas, not of {request.replicas}:"
            " name another --data, or remove it"
        )
    if request.groups and list(request.groups) != [len(each) for each in before.members]:
        raise CannotDo(
            f"{layout.data} holds data of other groups: name another --data, or remove it"
        )
    if not before.cluster and not before.in_memory:
        raise CannotDo(
            f"{layout.data} holds data of an earlier version of the kit, without an identity:"
            " name another --data, or remove it"
        )
    if _in_memory(lab, request) and not before.in_memory:
        raise CannotDo(f"{layout.data} holds logs: add --durable, or name another --data")
    if before.up:
        why = "the machine restarted" if before.was_started_before_the_machine() else "it died"
        console.note(f"The cluster in {layout.data} ended without a 'down' ({why}); starting again")
    return before


def _check_ports(first: int | None, count: int) -> None:
    if first is not None and first + count - 1 > PORT_MAX:
        raise CannotDo(f"--port: there are no {count} ports from {first} on")


def _listeners(
    stack: ExitStack, count: int, first: int | None, before: Sequence[int]
) -> Sequence[socket.socket]:
    """On the ports from `first` on; without it, on those of before or on any free ones."""
    if first is not None:
        return ports.listen_all(stack, range(first, first + count))
    if before:
        return ports.listen_as_before(stack, before)
    return ports.listen_all(stack, [ports.ANY] * count)


def build(kit: Kit, labs: Labs, tree: Path, lab: Lab) -> Path:
    """The replica program of a solution. CannotDo when it does not compile."""
    with submission_in(kit, labs, tree, lab.id) as submission:
        cmake.configure(kit)
        recipe = load_recipe(kit)
        target = recipe.real(lab)
        cmake.build(kit, targets=given(kit, [target]))
        return build_submission(kit, labs, submission, recipe, [target]) / target.name


def _forget(layout: Layout, replicas: int) -> None:
    """Removes the files of replicas whose logs were in memory: they say not to start."""
    for number in range(replicas):
        shutil.rmtree(layout.replica(number), ignore_errors=True)


def _prepare(layout: Layout, lab: Lab, program: Path, replicas: int) -> None:
    atomic.copy(program, layout.program(lab.id))
    layout.program(lab.id).chmod(0o755)
    for number in range(replicas):
        start.rotate_log(layout, number)
        layout.verification(number).unlink(missing_ok=True)
