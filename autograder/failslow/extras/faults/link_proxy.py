"""Links of replicas that know nothing of our files of faults: a proxy before each of their ports.

It does to bytes what a replica of the kit does to its own frames (framework/hosts/real,
faulty_links.h): the sender's file of faults says how late they are, their order stays, and a link
between replicas has a window. The parts that it delays are what one read gives, not frames.
"""

import asyncio
import os
import random
import re
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.ports import HOST
from failslow.extras.faults import fault_file
from failslow.extras.faults.catalogue import Catalogue, FaultKind

KINDS = ("net-slow", "net-jitter", "packet-loss", "link-slow")
"""The faults of links that it knows."""

WINDOW_BYTES = 64 * 1024
PART_BYTES = 16 * 1024
HEAD_BYTES_MAX = 16 * 1024
HEAD_END = b"\r\n\r\n"
SENDER = re.compile(rb"^x-peerurls:[^\r]*?:(\d+)", re.IGNORECASE | re.MULTILINE)
"""By this header of HTTP a member of etcd says its own address."""

PACKET_BYTES = 1448
TIMEOUT_MIN_S, TIMEOUT_MAX_S, RETRANSMISSIONS_MAX = 0.2, 120.0, 15
"""As framework/faults/retransmission.cc."""


@dataclass(frozen=True)
class Door:
    """A port of a replica as others see it. `port`: its own. `of_peers`: not of clients."""

    replica: int
    listener: socket.socket
    port: int
    of_peers: bool


class Delays:
    """The delay of the parts that a replica sends."""

    def __init__(self, layout: Layout, catalogue: Catalogue) -> None:
        self._layout = layout
        self._kinds: Sequence[FaultKind] = [catalogue.kinds[name] for name in KINDS]
        self._draws = random.Random(1)

    def seconds(self, sender: int | None, receiver: int | None, size: int) -> float:
        """None is a client: what it sends is never late."""
        if sender is None:
            return 0.0
        on = fault_file.read(self._layout.faults(sender), self._kinds)
        late_ns = on["net-slow"].amount if "net-slow" in on else 0
        if "link-slow" in on and receiver is not None and on["link-slow"].names(receiver):
            late_ns += on["link-slow"].amount
        late_s = late_ns / 1e9
        if "net-jitter" in on:
            late_s += self._draws.random() * on["net-jitter"].amount / 1e9
        if "packet-loss" in on:
            late_s += retransmission_s(size, on["packet-loss"].amount / 1000, self._draws)
        return late_s


def retransmission_s(size: int, loss: float, draws: random.Random) -> float:
    """The delay of a part when TCP loses that share of its packets, and sends them again."""
    late_s, timeout_s = 0.0, TIMEOUT_MIN_S
    missing = max(1, -(-size // PACKET_BYTES))
    for _ in range(RETRANSMISSIONS_MAX):
        missing = sum(draws.random() < loss for _ in range(missing))
        if missing == 0:
            break
        late_s += timeout_s
        timeout_s = min(2 * timeout_s, TIMEOUT_MAX_S)
    return late_s


@contextmanager
def running(doors: Sequence[Door], layout: Layout, catalogue: Catalogue) -> Iterator[None]:
    """A process that serves the doors while the body runs; it does not outlive this process.

    Requires: this process has one thread, and the replicas' files of faults are there.
    """
    delays = Delays(layout, catalogue)
    end, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        _child(end, doors, delays)
    os.close(end)
    for door in doors:
        door.listener.close()
    try:
        yield
    finally:
        os.close(held)
        os.waitpid(child, 0)


def _child(end: int, doors: Sequence[Door], delays: Delays) -> None:
    """Never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The usual selector counts in milliseconds.
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        loop.run_until_complete(_serve(end, doors, delays))
    finally:
        os._exit(0)


async def _serve(end: int, doors: Sequence[Door], delays: Delays) -> None:
    """Until the pipe ends."""
    senders = {door.listener.getsockname()[1]: door.replica for door in doors if door.of_peers}
    for door in doors:
        await asyncio.start_server(partial(_connect, door, delays, senders), sock=door.listener)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(end, ended.set)
    await ended.wait()


async def _connect(
    door: Door,
    delays: Delays,
    senders: Mapping[int, int],
    near: asyncio.StreamReader,
    to_near: asyncio.StreamWriter,
) -> None:
    """One connection, both ways."""
    try:
        head = await _head(near) if door.of_peers else b""
        far, to_far = await asyncio.open_connection(HOST, door.port)
    except OSError:  # the replica does not run
        to_near.close()
        return
    match = SENDER.search(head)
    sender = senders.get(int(match[1])) if match else None
    there = Link(partial(delays.seconds, sender, door.replica), to_far)
    back = Link(partial(delays.seconds, door.replica, sender), to_near)
    await asyncio.gather(there.carry(near, head), back.carry(far))


async def _head(near: asyncio.StreamReader) -> bytes:
    """The first bytes, up to the end of a head of HTTP if they are one."""
    head = b""
    while HEAD_END not in head and len(head) < HEAD_BYTES_MAX:
        part = await near.read(PART_BYTES)
        if not part:
            break
        head += part
    return head


class Link:
    """One direction of a connection. `late_s`: the delay of a part, by its bytes."""

    def __init__(self, late_s: Callable[[int], float], to: asyncio.StreamWriter) -> None:
        self._late_s = late_s
        self._to = to
        self._on_wire: deque[bytes] = deque()
        self._bytes = 0
        self._last_due_s = 0.0
        self._changed = asyncio.Event()

    async def carry(self, source: asyncio.StreamReader, first: bytes = b"") -> None:
        """Until the source ends, or the other end is gone."""
        with suppress(OSError):
            part = first or await source.read(PART_BYTES)
            while part:
                self._send(part)
                await self._until(lambda: self._bytes < WINDOW_BYTES)
                await self._to.drain()
                part = await source.read(PART_BYTES)
        await self._until(lambda: not self._on_wire)
        self._to.close()

    def _send(self, part: bytes) -> None:
        due_s = max(time.monotonic() + self._late_s(len(part)), self._last_due_s)
        self._last_due_s = due_s
        self._on_wire.append(part)
        self._bytes += len(part)
        asyncio.get_running_loop().call_at(due_s, self._arrive)

    def _arrive(self) -> None:
        part = self._on_wire.popleft()
        self._bytes -= len(part)
        self._to.write(part)
        self._changed.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()
