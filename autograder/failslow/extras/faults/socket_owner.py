"""The replica that opened a connection: the one that has the socket at its other end.

The kernel lists the sockets of the machine with their inodes, and the files of each process. So no
protocol is read, and any program is known.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""A program may speak IPv4 by a socket for IPv6."""
STALE_S = 0.25
"""A process that a replica has started since is known after this time."""

Families = Callable[[], Mapping[int, Sequence[int]]]
"""The processes of each replica."""


class SocketOwners:
    """Looks once per connection, so it may be slow."""

    def __init__(self, families: Families) -> None:
        self._families = families
        self._known: Mapping[int, Sequence[int]] = {}
        self._looked_s = float("-inf")

    def replica(self, port: int, to: int) -> int | None:
        """Of the connection from `port` to the port `to`, both of this machine. None: somebody
        else's."""
        inode = _inode(port, to)
        if inode is None:
            return None
        wanted = f"socket:[{inode}]"
        found = self._owner(wanted)
        if found is None and time.monotonic() - self._looked_s > STALE_S:
            self._known, self._looked_s = self._families(), time.monotonic()
            found = self._owner(wanted)
        return found

    def _owner(self, wanted: str) -> int | None:
        for number, processes in self._known.items():
            if any(wanted in _files(pid) for pid in processes):
                return number
        return None


def _inode(port: int, to: int) -> str | None:
    mine, theirs = f":{port:04X}", f":{to:04X}"
    for table in TABLES:
        with suppress(OSError):
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                words = line.split()
                if words[1].endswith(mine) and words[2].endswith(theirs):
                    return words[9]
    return None


def _files(pid: int) -> list[str]:
    found = []
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(entry.readlink()))
    return found
