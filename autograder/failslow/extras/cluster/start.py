"""Starts replicas: each a process of its own, which outlives `kit` unless its caller ends it."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes, state
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.state import State
from failslow.extras.shared import waiting

READY_S = 30.0
FIRST_S = 1.0
LOG_LINES = 15
LOG_BYTES = 16 * 1024
LOST_PROMISE = 3
"""The exit code of a replica whose disk has lost what it had promised: hosts/real/main.h."""

Child = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Options:
    """Settings that the replicas of a cluster have in common.

    `endpoints`: HOST:PORT of all replicas, by number. `cluster`: whose data a replica's directory
    must hold; without it the replica takes any directory. `groups`: see State. `before`: words
    before the program's name, as `taskset` wants them. `verify`: with runtime verification.
    `faults`: they can be injected. `environment`: beyond that of this process.
    """

    program: Path
    endpoints: Sequence[str]
    cluster: str = ""
    groups: Sequence[int] = ()
    before: Sequence[str] = ()
    verify: bool = False
    faults: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def launch(
    layout: Layout,
    options: Options,
    number: int,
    listener: socket.socket,
    redis: socket.socket | None = None,
) -> Child:
    """Starts one replica; every command that runs replicas does it here.

    CannotDo when the program cannot be run.
    """
    argv = [*options.before, *_words(layout, options, number)]
    argv += ["--metrics", str(layout.metrics(number)), "--listen-fd", str(listener.fileno())]
    if options.groups:
        argv += ["--groups", ",".join(str(size) for size in options.groups)]
    inherited = [listener.fileno()]
    if redis is not None:
        argv += ["--redis-listen-fd", str(redis.fileno())]
        inherited.append(redis.fileno())
    if options.verify:
        argv += ["--verify", str(layout.verification(number))]
    if options.faults:
        argv += ["--faults", str(layout.faults(number))]
    layout.metrics(number).unlink(missing_ok=True)
    with layout.log(number).open("ab") as log:
        try:
            return subprocess.Popen(
                argv,
                cwd=layout.data,
                env={**os.environ, **options.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError as error:
            raise CannotDo(f"cannot run {argv[0]}: {error.strerror}") from error


def format_data(layout: Layout, options: Options, number: int) -> None:
    """Makes the replica's data directory that of this replica of the cluster. It is not made by
    the replica's start: a directory that was wiped must not pass for a new one.

    CannotDo when it cannot be made, or holds anything.
    """
    _run(layout, options, number, "--format")


def lose_unsynced(layout: Layout, options: Options, number: int) -> None:
    """Takes from the replica's data directory what a power cut may take.

    CannotDo when the replica runs, or the directory has lost a promise already.
    """
    _run(layout, options, number, "--lose-unsynced")


def _run(layout: Layout, options: Options, number: int, flag: str) -> None:
    """A run of the replica's program that ends by itself. CannotDo with its reason."""
    done = process.run([*_words(layout, options, number), flag])
    if done.exit_code != 0:
        raise CannotDo(f"replica {number}: {_reason(done.errors) or done.how_it_ended()}")


def _words(layout: Layout, options: Options, number: int) -> list[str]:
    argv = [str(options.program), "--id", str(number), "--peers", ",".join(options.endpoints)]
    argv += ["--data", str(layout.replica(number))]
    return [*argv, "--cluster", options.cluster] if options.cluster else argv


def options_of(layout: Layout, current: State) -> Options:
    """Those of a cluster whose program is in its layout."""
    return Options(
        layout.program(current.lab),
        current.endpoints,
        cluster=current.cluster,
        groups=current.groups,
        verify=current.verify,
        faults=True,
        environment=current.in_memory,
    )


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
    options = options_of(layout, current)
    with uninterrupted():
        for number, listener in listeners.items():
            children[number] = launch(layout, options, number, listener, redis.get(number))
            replica = current.replicas[number]
            replica.pid, replica.ended = children[number].pid, None
            replica.start_ticks = replica_processes.start_ticks(replica.pid)
        state.save(layout, current)
    return children


def kill(child: Child) -> None:
    """SIGKILL, and waits for the end."""
    child.kill()
    child.wait()


def await_true(
    layout: Layout, children: Mapping[int, Child], condition: Callable[[], bool]
) -> bool:
    """Waits until the condition holds; False if it does not within READY_S.

    CannotDo, with the reason and the end of its log, when one of the children ends meanwhile.
    """

    def holds() -> bool:
        if condition():
            return True
        for number, child in children.items():
            if (code := child.poll()) is not None:
                raise _ended_at_once(layout, number, code)
        return False

    return waiting.until(holds, READY_S)


def check_stays(layout: Layout, number: int, pid: int) -> None:
    """CannotDo, with the reason, when the replica ends within its first second. Replicas that
    cannot use their files often do."""

    def ended() -> bool:
        return all(each.pid != pid for each in replica_processes.find(layout.data))

    if waiting.until(ended, FIRST_S):
        raise _ended_at_once(layout, number, None)


def _ended_at_once(layout: Layout, number: int, code: int | None) -> CannotDo:
    """`code`: as of subprocess; None if it is unknown."""
    log = last_lines(layout.log(number))
    reason = "" if code is not None and code < 0 else _reason(log)
    if not reason and code is not None:
        reason = process.Completed(code, "", "", timed_out=False).how_it_ended()
    if code != LOST_PROMISE:
        return CannotDo(f"replica {number} ended at once: {reason or 'its log is empty'}", log)
    return CannotDo(
        f"replica {number} does not start: {reason}",
        "  it must not vote again: the others go on without it, until a new cluster is started",
    )


def _reason(log: str) -> str:
    """The last line, without the program's name."""
    lines = log.splitlines()
    return re.sub(r"^/\S*: ", "", lines[-1]) if lines else ""


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
        replica_processes.end(
            [each for each in replica_processes.find(layout.data) if each.number in numbers]
        )
        if isinstance(failure, KeyboardInterrupt):
            raise KeyboardInterrupt("interrupted; what was started is stopped again") from None
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Puts an interrupt off until the body is done. Before a child runs its program, the kit does
    not recognise it as a replica, and would leave it behind."""
    came = []
    handlers = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in process.interrupts()
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt
