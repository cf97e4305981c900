"""`kit bench failover`: the waits of the store's clients when its leader is lost.

Each round starts three replicas, loads the followers' Redis ports, and kills or stops the leader.
"""

import itertools
import os
import signal
import socket
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import redis_load, servers
from failslow.extras.bench.figures import Figure, Section
from failslow.extras.bench.kv import await_leader, leader_of, store_view
from failslow.extras.bench.servers import Servers
from failslow.extras.cluster import metrics
from failslow.extras.cluster.metrics import Metrics
from failslow.extras.shared import waiting
from failslow.lab.labs import ClusterView

ROUNDS = 20
ENDS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}
"""The connections of a killed leader are reset. Those of a stopped one stay."""
CLIENTS = 4
"""The number of clients of each kind, at each follower."""
STEADY_S = 0.5
"""Between the start of the load and the signal."""
PATIENCE_S = 10.0

MEDIAN_AT_MOST_MS = 500.0
P95_AT_MOST_MS = 800.0

TEXT = (
    "Three replicas of the store on the tuned Raft share the first core; clients load the Redis"
    " ports of the two followers from the second. The leader is killed with SIGKILL, or stopped"
    f" with SIGSTOP: {ROUNDS} rounds each, with fresh replicas, and {CLIENTS} clients of each kind"
    " at a follower."
    " A waiting command was sent before the signal, in a session: its time counts from the signal"
    " to the reply. A new command is a SET on a connection made after the signal: its time counts"
    " from its sending until such a SET is executed. A client without sessions sends SET after SET:"
    " the time counts between the last SET that was executed before the signal and the first one"
    " after it."
    " A split vote is a term between those of the two leaders."
)


@dataclass(frozen=True)
class Answer:
    """Times are those of time.monotonic."""

    sent: float
    came: float
    text: bytes

    @property
    def is_executed(self) -> bool:
        return self.text.startswith((b"+", b":"))


@dataclass(frozen=True)
class Waits:
    """In milliseconds. `unknown`: waiting commands in sessions without a proper reply. `split`: the
    terms between the two leaders' terms, in which no candidate got a majority."""

    waiting: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    unknown: int = 0
    split: int = 0


def run(kit: Kit) -> Section:
    servers.check_cores()
    view = store_view(kit)
    rounds: dict[str, list[Waits]] = {how: [] for how in ENDS}
    order = list(ENDS) * ROUNDS
    with console.progress("Killing and stopping leaders") as advance:
        for done, how in enumerate(order):
            advance(done, len(order), how)
            with servers.kv(kit) as cluster:
                leader = await_leader(cluster, view)
                rounds[how].append(_round(cluster, leader, view, ENDS[how]))
    return Section("failover", "A leader that is killed or stopped", TEXT, figures(rounds))


def figures(rounds: Mapping[str, Sequence[Waits]]) -> list[Figure]:
    """The figures of all rounds with the same end; `rounds` has them by the name of the end."""
    return [figure for how, alike in rounds.items() for figure in _figures(how, alike)]


def _figures(how: str, rounds: Sequence[Waits]) -> list[Figure]:
    unknown = sum(each.unknown for each in rounds)
    result = [
        Figure(f"{how}: waiting commands without a reply of the store", unknown, ""),
        Figure(f"{how}: split votes", sum(each.split for each in rounds), ""),
    ]
    kinds = {
        "waiting commands": [each for one in rounds for each in one.waiting],
        "new commands": [each for one in rounds for each in one.new],
        "gaps of clients without sessions": [each for one in rounds for each in one.gaps],
    }
    for name, times in kinds.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        result += [
            Figure(f"{how}: {name}: median", median, "ms", MEDIAN_AT_MOST_MS, True),
            Figure(f"{how}: {name}: p95", p95, "ms", P95_AT_MOST_MS, True),
            Figure(f"{how}: {name}: longest", max(times), "ms"),
        ]
    return result


def waits(
    lost: float,
    sessions: Sequence[Sequence[Answer]],
    new: Sequence[Answer],
    plain: Sequence[Sequence[Answer]],
) -> Waits:
    """The waits of one round. The answers of each client are in order."""
    under_way = [each for client in sessions for each in client if each.sent < lost < each.came]
    return Waits(
        waiting=[1000 * (each.came - lost) for each in under_way],
        new=[1000 * (each.came - each.sent) for each in new],
        gaps=[1000 * gap_at(lost, client) for client in plain],
        unknown=sum(not each.is_executed for each in under_way),
    )


def gap_at(lost: float, answers: Sequence[Answer]) -> float:
    """Seconds between the executed commands around the loss of the leader."""
    executed = [each.came for each in answers if each.is_executed]
    return min(t for t in executed if t > lost) - max(t for t in executed if t <= lost)


def split_votes(before: int, told: Sequence[Metrics | None], view: ClusterView) -> int | None:
    """`before`: the term of the lost leader. `told`: what the others say now. None when none of
    them leads yet."""
    leader = leader_of(told, view)
    return None if leader is None else _term(told[leader], view) - before - 1


def _term(told: Metrics | None, view: ClusterView) -> int:
    (shown,) = (each for each in view.shows if each.name == "term")
    return (told.observed(shown.kind, shown.value) or 0) if told else 0


def _round(cluster: Servers, leader: int, view: ClusterView, end: signal.Signals) -> Waits:
    before = _term(metrics.read(cluster.metrics[leader]), view)
    others = [path for number, path in enumerate(cluster.metrics) if number != leader]
    followers = [address for number, address in enumerate(cluster.redis) if number != leader]
    for address in followers:
        redis_load.await_answer(address)
    with ExitStack() as stack:
        sessions = [stack.enter_context(_load(to, in_session=True)) for to in followers * CLIENTS]
        plain = [stack.enter_context(_load(to, in_session=False)) for to in followers * CLIENTS]
        time.sleep(STEADY_S)
        lost = time.monotonic()
        os.kill(cluster.processes[leader], end)
        with ThreadPoolExecutor(len(followers) * CLIENTS) as pool:
            new = list(pool.map(_ask_anew, followers * CLIENTS))

        def all_served() -> bool:
            return all(_is_served(lost, client) for client in sessions + plain)

        if not waiting.until(all_served, PATIENCE_S):
            raise CannotDo(f"a client is not served {PATIENCE_S:.0f} s after the leader was lost")

    def split() -> int | None:
        return split_votes(before, [metrics.read(path) for path in others], view)

    votes = waiting.first(split, PATIENCE_S)
    if votes is None:
        raise CannotDo(f"no replica leads {PATIENCE_S:.0f} s after the leader was lost")
    return replace(waits(lost, sessions, new, plain), split=votes)


def _is_served(lost: float, client: Sequence[Answer]) -> bool:
    return any(each.is_executed and each.sent > lost for each in client[-3:])


class _Connection:
    """Sends one line at a time."""

    def __init__(self, address: str) -> None:
        self._socket = redis_load.connect(address)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb")

    def ask(self, line: str) -> Answer:
        """The reply must be one line, too."""
        sent = time.monotonic()
        self._socket.sendall(line.encode() + b"\r\n")
        text = self._replies.readline()
        return Answer(sent, time.monotonic(), text)

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def _ask_anew(address: str) -> Answer:
    """The first command on a new connection, repeated until it is executed."""
    with closing(_Connection(address)) as client:
        first = answer = client.ask("SET x 2")
        while not answer.is_executed:
            answer = client.ask("SET x 2")
    return Answer(first.sent, answer.came, answer.text)


@contextmanager
def _load(address: str, in_session: bool) -> Iterator[list[Answer]]:
    """A client in a thread, one command after another. Yields its answers so far, in order."""
    answers: list[Answer] = []
    ends = threading.Event()
    with closing(_Connection(address)) as client:
        session = client.ask("SESSION NEW").text[1:].strip().decode() if in_session else ""

        def work() -> None:
            for number in itertools.count(1):
                if ends.is_set():
                    return
                line = f"SESSION {session} {number} INCR n" if session else "SET x 1"
                answers.append(client.ask(line))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield answers
        finally:
            ends.set()
            thread.join()
