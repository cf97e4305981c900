"""The replica that opened a connection: the one that has the socket at its other end.

The kernel says the inode of a socket (sock_diag(7)), and lists the files of each process. So no
protocol is read, and any program is known. /proc/net/tcp has the inodes, too, but reading it takes
milliseconds, and each connection waits for that.
"""

import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from failslow.extras.cluster.ports import HOST

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST = 4, 20, 1
_HEAD = struct.Struct("=IHHII")
_ALL_STATES = 0xFFFFFFFF
_ANY_DEVICE_AND_COOKIE = struct.pack("=I", 0) + b"\xff" * 8
_INODE_AT = _HEAD.size + 68
"""The last word of an inet_diag_msg."""
CLIENTS = "127.0.0.2"
"""The kit's own clients connect from this address of the loopback. No replica does: a look takes as
long as the replicas have files, and clients have hundreds of connections."""
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
        """The replica that owns the connection from `port` to the port `to` of this machine. None:
        somebody else owns it."""
        inode = None
        with suppress(OSError):  # a kernel without sock_diag: nobody is known, and faults are void
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


def _inode(port: int, to: int) -> int | None:
    """The inode of the socket on the loopback with that port and that other end."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        here = socket.inet_aton(HOST) + bytes(12)
        ends = struct.pack("!HH", port, to) + 2 * here + _ANY_DEVICE_AND_COOKIE
        wanted = struct.pack("=BBxxI", socket.AF_INET, socket.IPPROTO_TCP, _ALL_STATES) + ends
        head = _HEAD.pack(_HEAD.size + len(wanted), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
        kernel.sendall(head + wanted)
        answer = kernel.recv(4096)
    _, kind, *_ = _HEAD.unpack_from(answer)
    if kind != _SOCK_DIAG_BY_FAMILY:
        return None
    (inode,) = struct.unpack_from("=I", answer, _INODE_AT)
    return int(inode)


def _files(pid: int) -> list[str]:
    found = []
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(entry.readlink()))
    return found
