"""Follows happens-before backwards: what a replica had read, or waited for, when it sent a message.

A replica that restarts has forgotten what it had read: its restart is then the cause.

Source of the relation: Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System",
CACM 1978. Of all that happened before, these are the latest steps: those that may have caused it.
"""

from bisect import bisect_right
from collections import defaultdict
from typing import TypeVar

from failslow.extras.replay.recording import FIRST_CLIENT, Down, Message, Wait, World

DEPENDENCY_READS_MAX = 500
"""Messages that a replica has read since the one that it answers."""

TIMER = "TimeoutEvent"
"""Prefix of the description of a timer."""

Cause = Message | Wait | Down  # one that was down, and restarts
Event = TypeVar("Event")

_Call = tuple[int, int, str, str]  # the caller, the called one, the call, its method


class Causality:
    def __init__(self, world: World) -> None:
        self._requests: dict[_Call, Message] = {}
        self._read: dict[int, list[tuple[int, Message]]] = defaultdict(list)  # by replica
        self._fired: dict[int, list[tuple[int, Wait]]] = defaultdict(list)
        for message in world.messages:
            method, _, kind = message.type.partition(" ")
            if kind == "request":
                call = (message.sender, message.receiver, message.call, method)
                self._requests.setdefault(call, message)
            if message.read is not None:
                self._read[message.receiver].append((message.read, message))
        for wait in world.waits:
            if wait.end is not None and _is_timer(wait):
                self._fired[wait.replica].append((wait.end, wait))
        self._restarted: dict[int, list[tuple[int, Down]]] = defaultdict(list)
        for down in world.downs:
            if down.end is not None:
                self._restarted[down.replica].append((down.end, down))
        _sort(self._read)
        _sort(self._fired)
        _sort(self._restarted)

    def chain(self, replica: int, when: int, longest: int) -> list[Cause]:
        """The causes of a step of the replica at that time, the latest first."""
        return self._back(self.before(replica, when), longest)

    def behind(self, message: Message, longest: int) -> list[Cause]:
        """The causes of the sending of the message, the latest first."""
        return self._back(self._cause_of(message), longest)

    def request_of(self, reply: Message) -> Message | None:
        method = reply.type.partition(" ")[0]
        return self._requests.get((reply.receiver, reply.sender, reply.call, method))

    def before(self, replica: int, when: int) -> Cause | None:
        """The latest message that the replica had read by then, or the timer that fired later, or
        the restart after both."""
        causes = (self._read, self._fired, self._restarted)
        latest = [_latest(cause.get(replica, []), when) for cause in causes]
        known = [each for each in latest if each is not None]
        # The first of equally late ones.
        return max(known, key=lambda each: each[0])[1] if known else None

    def _cause_of(self, message: Message) -> Cause | None:
        if message.sender >= FIRST_CLIENT:
            return None
        request = self.request_of(message) if not message.type.endswith(" request") else None
        return request or self._read_for(message) or self.before(message.sender, message.sent)

    def _read_for(self, message: Message) -> Message | None:
        """The latest message that its sender had read for the same client call or heartbeat."""
        if message.dependency in ("", "nobody"):
            return None
        read = self._read.get(message.sender, [])
        end = bisect_right(read, message.sent, key=lambda event: event[0])
        restarted = _latest(self._restarted.get(message.sender, []), message.sent)
        for when, earlier in reversed(read[max(0, end - DEPENDENCY_READS_MAX) : end]):
            if restarted and when < restarted[0]:
                break
            if earlier.dependency == message.dependency:
                return earlier
        return None

    def _back(self, cause: Cause | None, longest: int) -> list[Cause]:
        found: list[Cause] = []
        while cause is not None and len(found) < longest:
            found.append(cause)
            cause = self._cause_of(cause) if isinstance(cause, Message) else None
        return found


def _is_timer(wait: Wait) -> bool:
    return wait.outcome == "timed out" or wait.event.startswith(TIMER)


def _sort(by_replica: dict[int, list[tuple[int, Event]]]) -> None:
    """By time."""
    for events in by_replica.values():
        events.sort(key=lambda event: event[0])


def _latest(events: list[tuple[int, Event]], when: int) -> tuple[int, Event] | None:
    at = bisect_right(events, when, key=lambda event: event[0])
    return events[at - 1] if at else None
