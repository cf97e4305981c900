"""A limit of a replica's memory, processor or disk, by a control group of its own (version 1 or 2).

It needs a group that this user may write: root's, or one that the system has delegated.

A limit of the disk in version 2 belongs to the group in which the replica is. There the kernel
charges what is written to the group that wrote to the file first, so a new group would be charged
for none of the replica's open files.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo

MOUNT = Path("/sys/fs/cgroup")
NAME = "failslow-{pid}"
MEMORY, CPU, DISK = "memory", "cpu", "blkio"
"""The kernel's controllers, by their names in version 1."""

_LIMITS = {
    MEMORY: ("memory.limit_in_bytes", "memory.max"),
    CPU: ("cpu.cfs_quota_us", "cpu.max"),
    DISK: ("blkio.throttle.write_bps_device", "io.max"),
}
"""The file of a controller's limit, in version 1 and 2."""
_READS = "blkio.throttle.read_bps_device"
"""The file of version 1 for the bandwidth of reads."""
_PERIOD = "cpu.cfs_period_us"
"""The file of version 1 for the period."""
QUOTA_MIN_US, PERIOD_MAX_US = 1000, 1_000_000
"""The kernel's own bounds."""


@dataclass(frozen=True)
class Group:
    """`home`: the group that the process came from; `path` itself if no group was made.
    `before`: then, what the file `limit` said."""

    path: Path
    home: Path
    limit: Path
    before: str = ""


def make(pid: int, controller: str) -> Group:
    """A group for that process, without a limit yet. CannotDo when no group may be made here."""
    homes = list(_homes(pid, controller))
    own = homes[0] / _LIMITS[DISK][1] if homes else None
    if controller == DISK and own is not None and os.access(own, os.W_OK):
        return Group(homes[0], homes[0], own, own.read_text(encoding="ascii"))
    for home in homes:
        path = home / NAME.format(pid=pid)
        try:
            path.mkdir(exist_ok=True)
        except OSError:
            continue
        for name in _LIMITS[controller]:
            if os.access(path / name, os.W_OK):
                return Group(path, _home_of(pid, controller, home), path / name)
        with suppress(OSError):
            path.rmdir()
    why = "it needs root" if os.getuid() != 0 else "the system hands out no such controller"
    raise CannotDo(f"no control group for {controller} may be made here ({why})")


def limit_memory(group: Group, pid: int, limit_bytes: int) -> None:
    """Limits the memory that the process takes from now on. Earlier memory stays counted in the
    group that it came from. The kernel ends a process for which it finds no more room."""
    _write(group.limit, str(limit_bytes))
    _write(group.path / "cgroup.procs", str(pid))


def limit_cpu(group: Group, pid: int, percent: int, period_us: int) -> None:
    """Gives the process that share of the processor that it had, at once at each period's begin. A
    period in which the share is less than the kernel's least is made longer."""
    share = _cores(group) * percent / 100
    period_us = min(PERIOD_MAX_US, max(period_us, round(QUOTA_MIN_US / share)))
    quota_us = max(QUOTA_MIN_US, int(period_us * share))
    if group.limit.name == _LIMITS[CPU][0]:
        _write(group.path / _PERIOD, str(period_us))
        _write(group.limit, str(quota_us))
    else:
        _write(group.limit, f"{quota_us} {period_us}")
    _write(group.path / "cgroup.procs", str(pid))


def limit_disk(group: Group, pid: int, device: str, bytes_per_second: int) -> None:
    """Gives the process this bandwidth to read, and the same to write, on a `device_of`."""
    if group.limit.name == _LIMITS[DISK][0]:
        _write(group.path / _READS, f"{device} {bytes_per_second}")
        _write(group.limit, f"{device} {bytes_per_second}")
    else:
        _write(group.limit, f"{device} rbps={bytes_per_second} wbps={bytes_per_second}")
    _write(group.path / "cgroup.procs", str(pid))


def device_of(path: Path) -> str:
    """The numbers "major:minor" of the whole disk below a file. CannotDo when there is none, as
    below a file system in memory or in layers."""
    number = path.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    here = Path("/sys/dev/block") / device
    if not here.exists():
        raise CannotDo(f"{path} is on no disk of its own, so a control group cannot throttle it")
    if (here / "partition").exists():
        return (here.resolve().parent / "dev").read_text(encoding="ascii").strip()
    return device


def _cores(group: Group) -> float:
    """The cores that a process may use in its home: a limit, or one core, as a replica uses."""
    with suppress(OSError, ValueError):
        text = (group.home / group.limit.name).read_text(encoding="ascii")
        if group.limit.name == _LIMITS[CPU][0]:
            text += (group.home / _PERIOD).read_text(encoding="ascii")
        quota, period = map(int, text.split())  # version 2 says "max" where there is no limit
        if quota > 0:
            return min(1.0, quota / period)
    return 1.0


def remove(group: Group) -> None:
    """Its processes go back to where they came from. A group that was not made gets its limits
    back."""
    if group.path == group.home:
        _restore(group.limit, group.before)
    else:
        _remove(group.path, group.home)


def remove_of(pid: int, controller: str) -> None:
    """Removes the group of a process, as `remove` does. Does nothing if it is in no such group."""
    top, now = _group_of(pid, controller)
    if top is None:
        return
    if (top / now).name == NAME.format(pid=pid):
        _remove(top / now, (top / now).parent)
    elif controller == DISK and (limit := top / now / _LIMITS[DISK][1]).exists():
        _restore(limit, "")


def _restore(limit: Path, before: str) -> None:
    try:
        now = limit.read_text(encoding="ascii")
    except OSError:  # the group has ended with its processes
        return
    if now != before:
        for line in now.splitlines():
            _write(limit, f"{line.split()[0]} rbps=max wbps=max")
        for line in before.splitlines():
            _write(limit, line)


def _remove(path: Path, home: Path) -> None:
    if not path.is_dir():
        return
    for pid in (path / "cgroup.procs").read_text(encoding="ascii").split():
        with suppress(CannotDo):  # it has ended
            _write(home / "cgroup.procs", pid)
    with suppress(OSError):
        path.rmdir()


def _homes(pid: int, controller: str) -> Iterator[Path]:
    """The groups in which one for the process might be made: its own group and those above, the
    nearest first."""
    top, now = _group_of(pid, controller)
    if top is None:
        return
    group = top / now
    while True:
        yield group
        if group == top:
            return
        group = group.parent


def _home_of(pid: int, controller: str, otherwise: Path) -> Path:
    top, now = _group_of(pid, controller)
    return otherwise if top is None else top / now


def _group_of(pid: int, controller: str) -> tuple[Path | None, str]:
    """The mounted hierarchy with the controller, and the process's path in it."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None, ""
    unified = ""
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return MOUNT / controller, path.lstrip("/")
        if not controllers:
            unified = path.lstrip("/")
    return (MOUNT, unified) if (MOUNT / "cgroup.controllers").exists() else (None, "")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="ascii")
    except OSError as error:
        raise CannotDo(f"cannot write {file}: {error.strerror}") from error
