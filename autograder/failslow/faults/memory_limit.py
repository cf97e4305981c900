"""A limit of a replica's memory, by a control group of its own (version 1 or 2).

It needs a group that this user may write: root's, or one that the system has delegated.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.errors import CannotDo

MOUNT = Path("/sys/fs/cgroup")
NAME = "failslow-{pid}"
LIMITS = ("memory.limit_in_bytes", "memory.max")
"""The file of the limit, in version 1 and 2."""


@dataclass(frozen=True)
class Group:
    """`home`: the group that the process came from."""

    path: Path
    home: Path
    limit: Path


def make(pid: int) -> Group:
    """A group for that process, without a limit and without the process. CannotDo when no group may
    be made here."""
    homes = list(_homes(pid))
    for home in homes:
        path = home / NAME.format(pid=pid)
        try:
            path.mkdir(exist_ok=True)
        except OSError:
            continue
        for name in LIMITS:
            if os.access(path / name, os.W_OK):
                return Group(path, _home_of(pid, home), path / name)
        with suppress(OSError):
            path.rmdir()
    raise CannotDo("no control group for memory may be made here (it needs root)")


def put(group: Group, pid: int, limit_bytes: int) -> None:
    """Limits the memory that the process takes from now on. What it has already stays counted in
    the group that it came from. The kernel ends a process for which it finds no more room."""
    _write(group.limit, str(limit_bytes))
    _write(group.path / "cgroup.procs", str(pid))


def remove(group: Group) -> None:
    """Its processes go back to where they came from."""
    _remove(group.path, group.home)


def remove_of(pid: int) -> None:
    """As `remove`, when only the process is known. Nothing happens if it is in no such group."""
    top, now = _memory_group(pid)
    if top is not None and (top / now).name == NAME.format(pid=pid):
        _remove(top / now, (top / now).parent)


def _remove(path: Path, home: Path) -> None:
    if not path.is_dir():
        return
    for pid in (path / "cgroup.procs").read_text(encoding="ascii").split():
        with suppress(CannotDo):  # it has ended
            _write(home / "cgroup.procs", pid)
    with suppress(OSError):
        path.rmdir()


def _homes(pid: int) -> Iterator[Path]:
    """The groups in which one for the process might be made: its own memory group and those above,
    the nearest first."""
    top, now = _memory_group(pid)
    if top is None:
        return
    group = top / now
    while True:
        yield group
        if group == top:
            return
        group = group.parent


def _home_of(pid: int, otherwise: Path) -> Path:
    top, now = _memory_group(pid)
    return otherwise if top is None else top / now


def _memory_group(pid: int) -> tuple[Path | None, str]:
    """The mounted hierarchy with the memory controller, and the process's path in it."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None, ""
    unified = ""
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return MOUNT / "memory", path.lstrip("/")
        if not controllers:
            unified = path.lstrip("/")
    return (MOUNT, unified) if (MOUNT / "cgroup.controllers").exists() else (None, "")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="ascii")
    except OSError as error:
        raise CannotDo(f"cannot write {file}: {error.strerror}") from error
