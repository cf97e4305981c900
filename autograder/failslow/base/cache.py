"""A directory of results that are kept for the next time, the most recently used ones.

Several commands use a checkout side by side. What one of them works with, no other removes: it
holds a lock on the entry, which ends with its process.
"""

import fcntl
import os
import shutil
import threading
from collections import deque
from pathlib import Path

HELD_MAX = 32
"""Entries that a process holds, the latest. Far more than it works with at one time."""

_held: deque[int] = deque()
_held_lock = threading.Lock()


def hold(entry: Path) -> bool:
    """Keeps an entry that is there from being removed, and counts as its use. Whether it is there.

    Waits while another process removes it.
    """
    try:
        handle = os.open(entry, os.O_RDONLY)
    except FileNotFoundError:
        return False
    fcntl.flock(handle, fcntl.LOCK_SH)
    if not entry.exists():
        os.close(handle)
        return False
    os.utime(entry)
    with _held_lock:
        _held.append(handle)
        while len(_held) > HELD_MAX:
            os.close(_held.popleft())
    return True


def copy(entry: Path, to: Path) -> bool:
    """Copies an entry, a file, if it is there, and counts as its use. Whether it is there."""
    try:
        os.utime(entry)
        shutil.copyfile(entry, to)
    except FileNotFoundError:
        return False
    return True


def keep_latest(directory: Path, count: int) -> None:
    """Removes all other entries but those that a process holds. Hidden names are no entries."""
    if not directory.is_dir():
        return
    entries = [path for path in directory.iterdir() if not path.name.startswith(".")]
    entries.sort(key=_last_use, reverse=True)
    for old in entries[count:]:
        _remove(old)


def _last_use(path: Path) -> float:
    """0 if it is gone: another command removes old entries, too."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(entry: Path) -> None:
    try:
        handle = os.open(entry, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    except BlockingIOError:
        return  # somebody works with it
    finally:
        os.close(handle)
