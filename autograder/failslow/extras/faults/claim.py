"""One injector for each replica and kind of fault, and how it is found again.

The injector holds a lock on a small file, and so does its guard until the fault is healed. So a
file that is not locked is a leftover of an injector and a guard that were both killed.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes
from failslow.extras.cluster.layout import Layout


@dataclass(frozen=True)
class Claim:
    """`pid` and `start_ticks` are the injector's. `fault`: 'net-slow 40 ms'. `ends_s`: on
    CLOCK_BOOTTIME."""

    replica: int
    kind: str
    fault: str
    mechanism: str
    pid: int
    start_ticks: int
    ends_s: float

    @property
    def left_s(self) -> float:
        return max(0.0, self.ends_s - time.clock_gettime(time.CLOCK_BOOTTIME))

    @property
    def line(self) -> str:
        """For people."""
        return f"replica {self.replica}: {self.fault} for {self.left_s:.0f} s more"


def of_this_process(replica: int, kind: str, fault: str, mechanism: str, seconds: float) -> Claim:
    pid = os.getpid()
    ticks = replica_processes.start_ticks(pid)
    assert ticks is not None, "this process runs"
    ends_s = time.clock_gettime(time.CLOCK_BOOTTIME) + seconds
    return Claim(replica, kind, fault, mechanism, pid, ticks, ends_s)


@contextmanager
def claimed(layout: Layout, claim: Claim) -> Iterator[None]:
    """Holds the claim. CannotDo when another injector does."""
    path = layout.injection(claim.replica, claim.kind)
    handle = _locked(path)
    if handle is None:
        other = read(path)
        by = f" (pid {other.pid}, {other.left_s:.0f} s left)" if other else ""
        raise CannotDo(
            f"replica {claim.replica} has {claim.kind} already{by}: ./kit faults heal ends it"
        )
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(asdict(claim)).encode(), 0)
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def read(path: Path) -> Claim | None:
    """None when the file makes no sense."""
    try:
        return Claim(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_held(path: Path) -> bool:
    """Whether an injector, or the guard of one, holds this claim."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def active(layout: Layout) -> list[Claim]:
    """The claims that are held."""
    held = (read(path) for path in layout.injections() if is_held(path))
    return [claim for claim in held if claim is not None]


def _locked(path: Path) -> int | None:
    """A locked handle of the file that has this name; None when another process has the lock."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)  # its holder has just removed it
