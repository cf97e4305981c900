"""Replica processes of this user, found in /proc and ended by process id.

A replica is known by its command line: our program in a data directory, running on that
directory. So the replicas of an earlier run are found even when the file that listed them is
gone. A replica in a container is known by the directory that its command line means there. A
process id is used only through a pidfd that was opened before its start time was read: a signal
cannot hit a stranger that got the id meanwhile.
"""

import os
import re
import select
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from failslow.base.errors import CannotDo

GRACE_S = 5.0
PROGRAM = re.compile(r"(?P<data>/.*)/[a-z0-9]+_real")
DATA_OPTION = "--data"
LAUNCHER = "slow_syncs"
"""It has the words of the replica that it starts, and is none (faults/slow_syncs.py)."""
DATA = re.compile(r"(?P<data>/.*)/replica-(?P<number>\d+)")

# Fields of /proc/PID/stat, counted from the third, and letters of the process state.
PARENT = 1
CPU_TICKS = (11, 12)  # user, system
START_TICKS = 19
SUSPENDED = "T"
ENDED = "Z"


@dataclass(frozen=True)
class Process:
    """A running replica. `start_ticks`, from /proc/PID/stat, tells it from any other process that
    has or had the same id; `status` is the letter from there: SUSPENDED, or another. The status
    may change between two looks, so `==` ignores it."""

    data: Path
    number: int
    pid: int
    start_ticks: int
    status: str = field(compare=False)
    port: int


def find(data: Path | None = None) -> list[Process]:
    """Replicas that run, of one data directory or of all, by directory and number. Those in
    containers are found by root, and for their directory alone."""
    found = [replica for pid in _pids() if (replica := _replica(pid, data))]
    mine = [replica for replica in found if data is None or replica.data == data]
    return sorted(mine, key=lambda replica: (replica.data, replica.number, replica.pid))


def send(replica: Process, number: signal.Signals) -> None:
    """CannotDo when it has ended already."""
    with opened(replica) as handle:
        if handle is None:
            raise CannotDo(f"replica {replica.number} (pid {replica.pid}) has just ended")
        signal.pidfd_send_signal(handle, number)


def end(replicas: Sequence[Process], grace_s: float = GRACE_S) -> list[Process]:
    """SIGTERM to all, SIGKILL to those that still run after the grace period; returns those.

    CannotDo if one survives even that (it hangs in the kernel).
    """
    for replica in replicas:
        with suppress(CannotDo):
            send(replica, signal.SIGTERM)
            send(replica, signal.SIGCONT)  # one that is suspended would not hear the first
    stubborn = _still_running(replicas, grace_s)
    for replica in stubborn:
        with suppress(CannotDo):
            send(replica, signal.SIGKILL)
    await_end(stubborn)
    return stubborn


def kill(replicas: Sequence[Process]) -> None:
    """SIGKILL, and waits for the end."""
    for replica in replicas:
        send(replica, signal.SIGKILL)
    await_end(replicas)


def await_end(replicas: Sequence[Process]) -> None:
    """CannotDo if one has not ended within a bound that only a hanging kernel reaches."""
    if alive := _still_running(replicas, GRACE_S):
        raise CannotDo(f"pid {alive[0].pid} does not end, even by SIGKILL: is its disk stuck?")


def start_ticks(pid: int) -> int | None:
    """When a process was started, in clock ticks since the boot; None when it has ended."""
    fields = _stat(pid)
    return None if fields is None else int(fields[START_TICKS])


def age_s(ticks: int) -> float:
    """Seconds since a process with these `start_ticks` was started."""
    now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return max(0.0, now_s - ticks / os.sysconf("SC_CLK_TCK"))


def cpu_ms(pid: int) -> int | None:
    """CPU time so far; None when the process has ended."""
    fields = _stat(pid)
    if fields is None:
        return None
    ticks = sum(int(fields[at]) for at in CPU_TICKS)
    return ticks * 1000 // os.sysconf("SC_CLK_TCK")


def ran_ns(pid: int) -> int:
    """Processor time, more exact than cpu_ms: by all threads that have not ended."""
    found = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError, ValueError):
            found += int(task.read_text(encoding="ascii").split()[0])
    return found


def children() -> list[int]:
    """The processes that this one has started, ended ones included until they are waited for."""
    known = ((pid, _stat(pid)) for pid in _pids())
    return [pid for pid, fields in known if fields and int(fields[PARENT]) == os.getpid()]


def descendants(pid: int) -> list[int]:
    """The processes below this one, each after its parent. Ended ones are among them until their
    parents have waited for them."""
    parents = {each: int(fields[PARENT]) for each in _pids() if (fields := _stat(each))}
    found = [pid]
    for above in found:
        found += [each for each, parent in parents.items() if parent == above]
    return found[1:]


def lives(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    fields = _stat(pid)
    return fields is not None and fields[0] != ENDED


def is_stopped(pid: int) -> bool:
    """By a signal, all of it."""
    fields = _stat(pid)
    return fields is not None and fields[0] == SUSPENDED


def name(pid: int) -> str:
    """The name of its program, as the kernel shortens it; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").rstrip("\n")
    except OSError:
        return ""


def memory_bytes(pid: int) -> int | None:
    """Resident memory; None when the process has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _pids() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            yield int(entry.name)


def _replica(pid: int, data: Path | None) -> Process | None:
    """The process, if it is a replica of this user, or one in a container that has this directory,
    and has not ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    options = dict(pairwise(words))
    running = DATA.fullmatch(options.get(DATA_OPTION, ""))
    fields = _stat(pid)
    if not running or fields is None or fields[0] == ENDED:
        return None
    there = Path(running["data"])
    if _is_ours(pid, words, there):
        where = there
    elif data is not None and _is_in_container(pid, there, data):
        where = data
    else:
        return None
    number = int(running["number"])
    port = _port(options.get("--peers", ""), number)
    return Process(where, number, pid, int(fields[START_TICKS]), fields[0], port)


def _is_ours(pid: int, words: Sequence[str], there: Path) -> bool:
    """Whether a process of this user runs our program in that directory."""
    if any(Path(word).name == LAUNCHER for word in words):
        return False
    programs = [Path(match["data"]) for word in words if (match := PROGRAM.fullmatch(word))]
    with suppress(OSError):
        return there in programs and Path(f"/proc/{pid}").stat().st_uid == os.getuid()
    return False


def _is_in_container(pid: int, there: Path, data: Path) -> bool:
    """Whether `there`, as a process with other mounts sees it, is the directory `data`."""
    with suppress(OSError):
        mounts, mine = Path(f"/proc/{pid}/ns/mnt"), Path("/proc/self/ns/mnt")
        return not mounts.samefile(mine) and Path(f"/proc/{pid}/root{there}").samefile(data)
    return False


def _port(peers: str, number: int) -> int:
    """0 when the list of peers is not as we write it."""
    endpoints = peers.split(",")
    port = endpoints[number].rpartition(":")[2] if number < len(endpoints) else ""
    return int(port) if port.isdecimal() else 0


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third on, the process state first."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is a name in parentheses, which may hold anything.
    return text.rpartition(")")[2].split()


@contextmanager
def opened(replica: Process) -> Iterator[int | None]:
    """A pidfd of exactly this process, or None if it has ended. It is closed after the body."""
    try:
        handle = os.pidfd_open(replica.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        now = _stat(replica.pid)
        if now is None or now[0] == ENDED or int(now[START_TICKS]) != replica.start_ticks:
            yield None
        else:
            yield handle
    finally:
        os.close(handle)


def _still_running(replicas: Iterable[Process], patience_s: float) -> list[Process]:
    """Those that have not ended within the time."""
    deadline = time.monotonic() + patience_s
    running = []
    for replica in replicas:
        with opened(replica) as handle:
            if handle is not None and not _has_ended(handle, deadline - time.monotonic()):
                running.append(replica)
    return running


def _has_ended(handle: int, patience_s: float) -> bool:
    poller = select.poll()
    poller.register(handle, select.POLLIN)  # readable once the process has ended
    return bool(poller.poll(max(0, patience_s) * 1000))
