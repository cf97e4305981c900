"""The proxy before replicas that know nothing of files of faults, with sockets of its own."""

import asyncio
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from failslow.extras.cluster import ports
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import effect_counts, fault_file, link_proxy
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.effect_counts import LINKS, Count
from failslow.extras.faults.link_proxy import Delays, Door, retransmission_s
from failslow.extras.faults.socket_owner import CLIENTS, SocketOwners

MS = 10**6
PATIENCE_S = 30


KINDS = [
    FaultKind(number, name, "", 0, 10**12, "", True, name == "link-slow")
    for number, name in enumerate(("cpu-slow", *link_proxy.KINDS))
]


@pytest.fixture
def known() -> Catalogue:
    return Catalogue({kind.name: kind for kind in KINDS}, {})


@pytest.fixture
def layout(tmp_path: Path, known: Catalogue) -> Layout:
    layout = Layout(tmp_path)
    for number in range(3):
        fault_file.make(layout.faults(number), known)
    return layout


@dataclass(frozen=True)
class Faults:
    layout: Layout
    known: Catalogue

    def inject(
        self, replica: int, kind: str, amount: int, to: tuple[int, ...] = (), seconds: float = 60
    ) -> None:
        until_ns = time.monotonic_ns() + round(seconds * 1e9)
        path = self.layout.faults(replica)
        fault_file.inject(path, self.known, self.known.kinds[kind], amount, until_ns, to)


@pytest.fixture
def faults(layout: Layout, known: Catalogue) -> Faults:
    return Faults(layout, known)


# ---- how late a part is ----


def test_what_a_replica_sends_is_late_by_its_own_faults(faults: Faults) -> None:
    delays = Delays(faults.layout, faults.known)
    faults.inject(1, "net-slow", 40 * MS)
    assert delays.seconds(1, 0, 1) == delays.seconds(1, None, 1) == 0.04
    assert delays.seconds(0, 1, 1) == delays.seconds(None, 1, 1) == 0


def test_a_slow_link_is_one_of_those_that_are_named(faults: Faults) -> None:
    delays = Delays(faults.layout, faults.known)
    faults.inject(0, "link-slow", 2 * MS, to=(2,))
    assert delays.seconds(0, 2, 1) == 0.002
    assert delays.seconds(0, 1, 1) == delays.seconds(0, None, 1) == delays.seconds(2, 0, 1) == 0
    faults.inject(0, "net-slow", 40 * MS)
    assert delays.seconds(0, 2, 1) == pytest.approx(0.042)


def test_a_fault_that_is_over_delays_nothing(faults: Faults) -> None:
    faults.inject(0, "net-slow", 40 * MS, seconds=-1)
    assert Delays(faults.layout, faults.known).seconds(0, 1, 1) == 0


def test_jitter_is_spread_below_its_amount(faults: Faults) -> None:
    faults.inject(0, "net-jitter", 40 * MS)
    delays = Delays(faults.layout, faults.known)
    found = [delays.seconds(0, 1, 1) for _ in range(1000)]
    assert 0 <= min(found) < 0.004
    assert 0.036 < max(found) < 0.04


def test_a_lost_packet_comes_after_a_timeout_and_the_next_after_twice_that() -> None:
    draws = random.Random(1)
    found = {round(retransmission_s(100, 0.5, draws), 3) for _ in range(1000)}
    assert {0, 0.2, 0.6, 1.4} <= found
    assert retransmission_s(10**6, 0, draws) == 0
    long = sum(retransmission_s(20 * 1448, 0.1, draws) > 0 for _ in range(100))
    short = sum(retransmission_s(1448, 0.1, draws) > 0 for _ in range(100))
    assert long > 70
    assert short < 30
    assert retransmission_s(1, 1, draws) < 120 * 15


def test_bytes_that_a_fault_delays_are_counted(faults: Faults) -> None:
    delays = Delays(faults.layout, faults.known, usual_ns=2 * MS)
    faults.inject(0, "link-slow", 2 * MS, to=(1,))
    delays.seconds(0, 1, 100)
    path = faults.layout.effect_counts(0, LINKS)
    assert effect_counts.read(path) == Count(100, 0), "the delay of all runs is no fault"
    faults.inject(0, "net-slow", 1 * MS)
    delays.seconds(0, 1, 10)
    delays.seconds(0, None, 5)
    assert effect_counts.read(path) == Count(115, 15)
    delays.seconds(1, 0, 1)
    assert effect_counts.read(path) == Count(115, 15), "each sender has its own"


# ---- connections ----


@contextmanager
def proxied(faults: Faults, speaker: int | None = 1) -> Iterator[tuple[list[int], socket.socket]]:
    """The ports of the doors of three replicas, and the listener of replica 2. The others do not
    run, but this process is the replica `speaker`."""
    own = [ports.listen(ports.ANY) for _ in range(3)]
    listeners = [ports.listen(ports.ANY) for _ in range(3)]
    seen = [each.getsockname()[1] for each in listeners]
    doors = [
        Door(number, listener, mine.getsockname()[1])
        for number, (listener, mine) in enumerate(zip(listeners, own, strict=True))
    ]
    for dead in own[:2]:
        dead.close()
    own[2].settimeout(PATIENCE_S)
    families = {} if speaker is None else {speaker: [os.getpid()]}
    owners = SocketOwners(lambda: families)
    delays = Delays(faults.layout, faults.known)
    with own[2], link_proxy.running(doors, delays, owners):
        yield seen, own[2]


def connect(port: int) -> socket.socket:
    return socket.create_connection((ports.HOST, port), timeout=PATIENCE_S)


def accepted(listener: socket.socket) -> socket.socket:
    there, _ = listener.accept()
    there.settimeout(PATIENCE_S)
    return there


def received(there: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (part := there.recv(65536)):
        found += part
    return found


@contextmanager
def linked(
    faults: Faults, speaker: int | None = 1, source: str = ""
) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection to replica 2 from an address: its near end, and the replica's."""
    with (
        proxied(faults, speaker) as (seen, listener),
        socket.create_connection(
            (ports.HOST, seen[2]), timeout=PATIENCE_S, source_address=(source, 0)
        ) as near,
        accepted(listener) as there,
    ):
        yield near, there


def test_a_peer_is_known_by_its_socket_and_is_late_both_ways(faults: Faults) -> None:
    faults.inject(1, "link-slow", 80 * MS, to=(2,))
    faults.inject(2, "link-slow", 60 * MS, to=(1,))
    with linked(faults) as (near, there):
        for sender, receiver, least_s in ((near, there, 0.08), (there, near, 0.06)):
            began_s = time.monotonic()
            sender.sendall(b"hello")
            assert received(receiver, 5) == b"hello"
            assert time.monotonic() - began_s >= least_s


def test_bytes_keep_their_order_and_their_end(faults: Faults) -> None:
    faults.inject(1, "net-jitter", 5 * MS)
    content = random.Random(1).randbytes(10**6)
    with linked(faults) as (near, there), ThreadPoolExecutor(1) as other:
        other.submit(lambda: (near.sendall(content), near.shutdown(socket.SHUT_WR)))
        assert received(there, len(content) + 1) == content


def test_a_link_between_replicas_has_a_window(faults: Faults) -> None:
    faults.inject(2, "net-slow", 50 * MS)
    size = 4 * link_proxy.WINDOW_BYTES
    with linked(faults) as (near, there):
        began_s = time.monotonic()
        there.sendall(bytes(size))
        assert received(near, size) == bytes(size)
        # Bytes beyond the window wait for those under way.
        assert time.monotonic() - began_s >= 3 * 0.05


@pytest.mark.parametrize(
    ("speaker", "source"), [(None, ""), (1, CLIENTS)], ids=["another program", "the kit itself"]
)
def test_what_a_client_sends_is_never_late(
    faults: Faults, speaker: int | None, source: str
) -> None:
    faults.inject(1, "net-slow", 10_000 * MS, seconds=3600)
    with linked(faults, speaker, source) as (near, there):
        near.sendall(b"hello")
        assert received(there, 5) == b"hello"
        spoke = effect_counts.read(faults.layout.effect_counts(1, LINKS))
        assert spoke == Count(0, 0), "no replica spoke"


def test_a_small_part_waits_for_no_receipt_of_the_one_before(
    faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_delay = []

    class Seen(link_proxy.Link):
        def __init__(self, late_s: Callable[[int], float], to: asyncio.StreamWriter) -> None:
            super().__init__(late_s, to)
            end = to.get_extra_info("socket")
            without_delay.append(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)

    async def pass_nothing(own: socket.socket, listener: socket.socket) -> None:
        door = Door(0, listener, own.getsockname()[1])
        known = Delays(faults.layout, faults.known), SocketOwners(lambda: {})
        done = asyncio.Event()

        async def one(near: asyncio.StreamReader, to_near: asyncio.StreamWriter) -> None:
            await link_proxy._connect(door, *known, near, to_near)
            done.set()

        async with await asyncio.start_server(one, sock=listener):
            with connect(listener.getsockname()[1]):
                pass
            there, _ = await asyncio.get_running_loop().sock_accept(own)
            there.close()
            await done.wait()

    monkeypatch.setattr(link_proxy, "Link", Seen)
    with ports.listen(ports.ANY) as own:
        own.setblocking(False)
        asyncio.run(pass_nothing(own, ports.listen(ports.ANY)))
    assert without_delay == [True, True]


def test_a_replica_that_does_not_run_takes_no_connection(faults: Faults) -> None:
    with (
        proxied(faults) as (seen, _),
        connect(seen[0]) as near,
        suppress(ConnectionResetError),
    ):
        assert near.recv(1) == b""


def test_the_doors_close_with_the_body(faults: Faults) -> None:
    with proxied(faults) as (seen, _):
        connect(seen[2]).close()
    with pytest.raises(ConnectionRefusedError):
        connect(seen[2])
