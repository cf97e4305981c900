"""A process that keeps the replicas of a foreign system: it starts them, and ends all of them.

It ends them when this process closes its end of a pipe, or is killed itself. Each replica runs
below a host, a process that waits for it. Supervisor and hosts are subreapers: a process whose
parent has ended becomes a child of its host. So its replica is still known, and it ends with that.
"""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.replica_processes import Process
from failslow.extras.shared import waiting
from failslow.extras.shared.guard import beside

_PR_SET_CHILD_SUBREAPER = 36
_POLL_MS = 200
STARTED_S = 10.0
LAST_LINES = 8


@dataclass(frozen=True)
class Supervisor:
    """`requests`: the pipe by which replicas are started."""

    layout: Layout
    requests: int

    def start(self, number: int) -> None:
        """Starts a replica, also one that has ended; what is left of it ends before. CannotDo if it
        cannot be started. Any process may call it that has inherited this one's files."""
        before = _read(_note(self.layout, number))
        os.write(self.requests, bytes([number]))
        waiting.until(lambda: _read(_note(self.layout, number)) != before, STARTED_S)
        if self._root(number) is None:
            said = self.last_words(number)
            raise CannotDo(f"replica {number} does not start: {said}", self.last_lines(number))

    def family(self, number: int) -> list[Process]:
        """The processes of a replica, the first one before those that it has started."""
        root = self._root(number)
        if root is None:
            return []
        found = [root, *replica_processes.descendants(root)]
        found += set(replica_processes.descendants(self._host(number))).difference(found)
        own = [pid for pid in found if replica_processes.name(pid) != replica_processes.LAUNCHER]
        return _processes(self.layout, number, own)

    def last_words(self, number: int) -> str:
        return self.last_lines(number).splitlines()[-1]

    def last_lines(self, number: int) -> str:
        """The reason is often some lines above the last one."""
        lines = _read(self.layout.log(number)).strip().splitlines()
        return "\n".join(lines[-LAST_LINES:]) or "it says nothing"

    def _root(self, number: int) -> int | None:
        """The process that was started, if it lives."""
        words = _read(_note(self.layout, number)).split()
        if not words:
            return None
        pid, ticks = int(words[1]), int(words[2])
        same = replica_processes.start_ticks(pid) == ticks
        return pid if same and replica_processes.lives(pid) else None

    def _host(self, number: int) -> int:
        return int(_read(_note(self.layout, number)).split()[0])


@contextmanager
def running(
    layout: Layout,
    commands: Sequence[Sequence[str]],
    environments: Sequence[Mapping[str, str]],
) -> Iterator[Supervisor]:
    """Starts nothing yet. At the end all processes are gone, and the directory `layout.data`, too.

    Requires: this process has one thread."""

    def supervise(requests: int) -> None:
        _supervise(requests, layout, commands, environments)

    with beside(supervise, "a system's supervisor has failed") as requests:
        yield Supervisor(layout, requests)


def _supervise(
    requests: int,
    layout: Layout,
    commands: Sequence[Sequence[str]],
    environments: Sequence[Mapping[str, str]],
) -> None:
    """Until the pipe of requests ends."""
    try:
        _become_subreaper()
        poller = select.poll()
        poller.register(requests, select.POLLIN)
        hosts: dict[int, int] = {}
        while True:
            asked = poller.poll(_POLL_MS)
            _reap()
            if not asked:
                continue
            if not (request := os.read(requests, 1)):
                break
            (number,) = request
            while number in hosts and (left := _below(layout, hosts[number])):
                _end(left)
            hosts[number] = os.fork()
            if hosts[number] == 0:
                _host(layout, number, commands[number], environments[number])
    finally:
        while left := _below(layout, os.getpid()):
            _end(left)
        shutil.rmtree(layout.data, ignore_errors=True)


def _host(
    layout: Layout, number: int, command: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Starts the replica, and waits until it and all that it has started have ended. Never
    returns."""
    try:
        os.setsid()
        _become_subreaper()
        pid = _start(layout, number, command, environment)
        ticks = (replica_processes.start_ticks(pid) or 0) if pid else 0
        note = f"{os.getpid()} {pid} {ticks} {time.monotonic_ns()}"
        atomic.write_text(_note(layout, number), note)
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
    finally:
        os._exit(0)


def _become_subreaper() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _start(
    layout: Layout, number: int, command: Sequence[str], environment: Mapping[str, str]
) -> int:
    """0 for a command that cannot be started."""
    with layout.log(number).open("ab") as log:
        try:
            child = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=layout.replica(number),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        except OSError as error:
            log.write(f"{command[0]}: {error.strerror}\n".encode())
            return 0
    return child.pid


def _below(layout: Layout, pid: int) -> list[Process]:
    """All processes below this one that have not ended."""
    return _processes(layout, 0, replica_processes.descendants(pid))


def _processes(layout: Layout, number: int, pids: Sequence[int]) -> list[Process]:
    return [
        Process(layout.data, number, pid, ticks, "", 0)
        for pid in pids
        if replica_processes.lives(pid)
        and (ticks := replica_processes.start_ticks(pid)) is not None
    ]


def _end(processes: Sequence[Process]) -> None:
    for each in processes:
        with suppress(CannotDo):
            replica_processes.send(each, signal.SIGKILL)
    waiting.until(lambda: not any(replica_processes.lives(each.pid) for each in processes), 1.0)
    _reap()


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _read(path: Path) -> str:
    """Nothing for a file that is not there yet."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _note(layout: Layout, number: int) -> Path:
    return layout.data / f"replica-{number}.pid"
