"""Listening sockets on the loopback, made by the kit and handed to the replicas.

A port is bound before anything is started and stays bound until its replica owns it: there is no
moment in which somebody else could take it.
"""

import errno
import itertools
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes

HOST = "127.0.0.1"
ANY = 0
UNHANDED = range(10_000, 32_000)
"""For programs that take no socket. By its defaults, the kernel gives none of these ports to a
connection, nor for ANY."""
_next = itertools.count(os.getpid() * 97)


def listen_all(stack: ExitStack, ports: Sequence[int]) -> list[socket.socket]:
    """A socket for each port, closed with the stack. CannotDo for a port that is not free."""
    return [stack.enter_context(listen(port)) for port in ports]


def listen_as_before(stack: ExitStack, ports: Sequence[int]) -> list[socket.socket]:
    """Listens at all ports, and replaces a port that is taken by one of the kernel's choice."""
    sockets = []
    for number, port in enumerate(ports):
        try:
            listener = listen(port)
        except CannotDo as error:
            listener = listen(ANY)
            chosen = listener.getsockname()[1]
            console.note(f"{error}; replica {number} gets port {chosen} instead")
        sockets.append(stack.enter_context(listener))
    return sockets


def listen(port: int) -> socket.socket:
    """A listening socket on `port` (ANY: the kernel chooses). CannotDo if it cannot be had."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Connections of an earlier run may linger; they must not keep the port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(socket.SOMAXCONN)
        listener.setblocking(False)  # as a replica wants it
    except OSError as error:
        listener.close()
        raise CannotDo(_complaint(port, error)) from error
    return listener


def find_free(count: int) -> list[int]:
    """Ports that are free now, for programs that take no socket. CannotDo if there are too few.
    Requires: count > 0.

    Two processes of ours look in different places, and one never gives a port twice in a row.
    """
    found: list[int] = []
    for number in itertools.islice(_next, len(UNHANDED)):
        port = UNHANDED[number % len(UNHANDED)]
        with suppress(CannotDo):
            listen(port).close()
            found.append(port)
        if len(found) == count:
            return found
    raise CannotDo(f"no {count} free ports between {UNHANDED.start} and {UNHANDED.stop}")


def endpoint(listener: socket.socket) -> str:
    """HOST:PORT."""
    return f"{HOST}:{listener.getsockname()[1]}"


def _complaint(port: int, error: OSError) -> str:
    if error.errno != errno.EADDRINUSE:
        return f"cannot listen on port {port}: {error.strerror}"
    for replica in replica_processes.find():
        if replica.port == port:
            return (
                f"port {port} is in use by replica {replica.number} of the cluster in"
                f" {replica.data} (pid {replica.pid})"
            )
    return f"port {port} is in use"
