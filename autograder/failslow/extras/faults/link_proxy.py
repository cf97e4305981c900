"""Links of replicas that know nothing of our files of faults: a proxy before each of their ports.

It does to bytes what a replica of the kit does to its own frames (framework/hosts/real,
faulty_links.h): the sender's file of faults says how late they are, their order stays, and a link
between replicas has a window. The parts that it delays are what one read gives, not frames. The
sender is the owner of the socket: no protocol is read.
"""

import asyncio
import random
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.ports import HOST
from failslow.extras.faults import effect_counts, fault_file
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.socket_owner import CLIENTS, SocketOwners
from failslow.extras.shared.guard import beside

KINDS = ("net-slow", "net-jitter", "packet-loss", "link-slow")
"""The faults of links that it knows."""

WINDOW_BYTES = 64 * 1024
PART_BYTES = 16 * 1024

PACKET_BYTES = 1448
TIMEOUT_MIN_S, TIMEOUT_MAX_S, RETRANSMISSIONS_MAX = 0.2, 120.0, 15
"""Values of framework/faults/retransmission.cc."""


@dataclass(frozen=True)
class Door:
    """A port of a replica as others see it. `port`: its own."""

    replica: int
    listener: socket.socket
    port: int


class Delays:
    """The delay of the parts that a replica sends. `usual_ns`: that of links in all runs, which is
    no fault."""

    def __init__(self, layout: Layout, catalogue: Catalogue, usual_ns: int = 0) -> None:
        self._layout = layout
        self._usual_s = usual_ns / 1e9
        self._count_files: dict[int, effect_counts.CountFile] = {}
        self._kinds: Sequence[FaultKind] = [catalogue.kinds[name] for name in KINDS]
        self._draws = random.Random(1)

    def seconds(self, sender: int | None, receiver: int | None, size: int) -> float:
        """None is a client: what it sends is never late, and not counted."""
        if sender is None:
            return 0.0
        late_s = self._late_s(sender, receiver, size)
        if receiver is not None or late_s > 0:
            if sender not in self._count_files:
                path = self._layout.effect_counts(sender, effect_counts.LINKS)
                self._count_files[sender] = effect_counts.CountFile(path)
            usual_s = self._usual_s if receiver is not None else 0.0
            self._count_files[sender].add(size, size if late_s > usual_s else 0)
        return late_s

    def _late_s(self, sender: int, receiver: int | None, size: int) -> float:
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
def running(doors: Sequence[Door], delays: Delays, owners: SocketOwners) -> Iterator[None]:
    """A process that serves the doors while the body runs; it does not outlive this process.

    Requires: this process has one thread, and the replicas' files of faults are there.
    """

    def serve(end: int) -> None:
        # The usual selector counts in milliseconds.
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        loop.run_until_complete(_serve(end, doors, delays, owners))

    with beside(serve, "the proxy has failed"):
        for door in doors:
            door.listener.close()
        yield


async def _serve(end: int, doors: Sequence[Door], delays: Delays, owners: SocketOwners) -> None:
    """Until the pipe ends."""
    for door in doors:
        await asyncio.start_server(partial(_connect, door, delays, owners), sock=door.listener)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(end, ended.set)
    await ended.wait()


async def _connect(
    door: Door,
    delays: Delays,
    owners: SocketOwners,
    near: asyncio.StreamReader,
    to_near: asyncio.StreamWriter,
) -> None:
    """One connection, both ways."""
    host, port = to_near.get_extra_info("peername")
    here = to_near.get_extra_info("sockname")[1]
    sender = None if host == CLIENTS else owners.replica(port, here)
    try:
        far, to_far = await asyncio.open_connection(HOST, door.port)
    except OSError:  # the replica does not run
        to_near.close()
        return
    # asyncio does this for connections that it opens, and not for those of a listener of ours. A
    # small part must not wait for the receipt of the one before: receivers tell it after 40 ms.
    for writer in (to_near, to_far):
        end = writer.get_extra_info("socket")
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    there = Link(partial(delays.seconds, sender, door.replica), to_far)
    back = Link(partial(delays.seconds, door.replica, sender), to_near)
    await asyncio.gather(there.carry(near), back.carry(far))


class Link:
    """One direction of a connection. `late_s`: the delay of a part, by its bytes."""

    def __init__(self, late_s: Callable[[int], float], to: asyncio.StreamWriter) -> None:
        self._late_s = late_s
        self._to = to
        self._on_wire: deque[bytes] = deque()
        self._bytes = 0
        self._last_due_s = 0.0
        self._changed = asyncio.Event()

    async def carry(self, source: asyncio.StreamReader) -> None:
        """Until the source ends, or the other end is gone."""
        with suppress(OSError):
            part = await source.read(PART_BYTES)
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
        if not self._to.is_closing():
            self._to.write(part)
        self._changed.set()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()
