"""Starts replicas: each a process of its own that outlives `kit`."""

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from failslow import process, waiting
from failslow.cluster import metrics, processes, state
from failslow.cluster.layout import Layout
from failslow.cluster.ports import HOST
from failslow.cluster.state import State
from failslow.errors import CannotDo

READY_S = 30.0
LOG_LINES = 15
LOG_BYTES = 16 * 1024

Child = subprocess.Popen[bytes]


def start(
    layout: Layout,
    current: State,
    listeners: Mapping[int, socket.socket],
    redis: Mapping[int, socket.socket],
) -> dict[int, Child]:
    """Starts the replicas that have a listener, and writes them down. `redis`: their listeners
    for Redis clients, if the lab has them.

    CannotDo when a program cannot be run. Requires: inside `ended_on_failure`.
    """
    children = {}
    with uninterrupted():
        for number, listener in listeners.items():
            children[number] = _start_one(layout, current, number, listener, redis.get(number))
            replica = current.replicas[number]
            replica.pid, replica.ended = children[number].pid, None
            replica.start_ticks = processes.start_ticks(replica.pid)
        state.save(layout, current)
    return children


def await_true(
    layout: Layout, children: Mapping[int, Child], condition: Callable[[], bool]
) -> bool:
    """Waits until the condition holds; False if it does not within READY_S.

    CannotDo, with the end of its log, when one of the children ends meanwhile.
    """

    def holds() -> bool:
        if condition():
            return True
        for number, child in children.items():
            if (code := child.poll()) is not None:
                how = process.Completed(code, "", "", timed_out=False).how_it_ended()
                raise CannotDo(
                    f"replica {number} ended at once: {how}", last_lines(layout.log(number))
                )
        return False

    return waiting.until(holds, READY_S)


def has_metrics(layout: Layout, number: int) -> bool:
    """Whether a replica's event loop runs."""
    return metrics.read(layout.metrics(number)) is not None


def rotate_log(layout: Layout, number: int) -> None:
    """Keeps the log of the run before."""
    with suppress(FileNotFoundError):
        layout.log(number).replace(layout.earlier_log(number))


def last_lines(log: Path, count: int = LOG_LINES) -> str:
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-count:])


@contextmanager
def ended_on_failure(layout: Layout, numbers: Collection[int]) -> Iterator[None]:
    """Ends these replicas again if the body raises anything."""
    try:
        yield
    except BaseException as failure:
        processes.end([each for each in processes.find(layout.data) if each.number in numbers])
        if isinstance(failure, KeyboardInterrupt):
            raise KeyboardInterrupt("interrupted; what was started is stopped again") from None
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Puts an interrupt off until the body is done: a child is not left halfway to its program,
    where nobody would recognise it as a replica."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    came = []
    handlers = {
        number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def _start_one(
    layout: Layout,
    current: State,
    number: int,
    listener: socket.socket,
    redis: socket.socket | None,
) -> Child:
    layout.metrics(number).unlink(missing_ok=True)
    peers = ",".join(f"{HOST}:{port}" for port in current.ports)
    argv = [str(layout.program(current.lab))]
    argv += ["--id", str(number), "--peers", peers, "--data", str(layout.replica(number))]
    argv += ["--listen-fd", str(listener.fileno()), "--metrics", str(layout.metrics(number))]
    inherited = [listener.fileno()]
    if redis is not None:
        argv += ["--redis-listen-fd", str(redis.fileno())]
        inherited.append(redis.fileno())
    with layout.log(number).open("ab") as log:
        try:
            return subprocess.Popen(
                argv,
                cwd=layout.data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError as error:
            raise CannotDo(f"cannot run {argv[0]}: {error.strerror}") from error
