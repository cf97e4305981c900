"""A recording in Chrome's trace format, which Perfetto (https://ui.perfetto.dev) opens.

Each replica is a process. A process has a thread for its messages and one for each row of
coroutines. A message is a flow from its sender to its receiver. Counters show a replica's
observations and the bytes that it holds. Markers show the history.
"""

import json
from collections.abc import Iterator
from typing import Any

from failslow.extras.replay.recording import FIRST_CLIENT, Message, Wait, World, name_of
from failslow.extras.replay.rows import rows_of
from failslow.lab.shown import Shown

Event = dict[str, Any]

MESSAGES = 0  # the thread of a process's messages; its coroutines' rows follow
CLIENTS = 900  # the process of all clients
WORLD = 901  # the process of notes and faults
PROCESSES = 1000  # the number of process ids for one cluster

# Perfetto shows no arrow at a slice without length.
MESSAGE_US = 1.0


def document(worlds: list[World], shows: tuple[Shown, ...]) -> str:
    events: list[Event] = []
    for number, world in enumerate(worlds):
        events += _World(world, number, len(worlds)).events(shows)
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, separators=(",", ":"))


class _World:
    def __init__(self, world: World, number: int, worlds: int) -> None:
        self._world = world
        self._first = number * PROCESSES + 1  # 0 is no process
        self._suffix = f" (cluster {number + 1})" if worlds > 1 else ""
        self._flow = number << 40

    def events(self, shows: tuple[Shown, ...]) -> Iterator[Event]:
        yield from self._names()
        for message in self._world.messages:
            yield from self._message(message)
        rows = rows_of(self._world.waits)
        for wait, row in zip(self._world.waits, rows, strict=True):
            yield self._wait(wait, row)
        yield from self._curves(shows)
        yield from self._bands()
        for note in self._world.notes:
            yield self._instant(self._process(WORLD), note.problem or "note", note.text, note.when)

    def _process(self, node: int) -> int:
        return self._first + (CLIENTS if node >= FIRST_CLIENT else node)

    def _names(self) -> Iterator[Event]:
        nodes = [(replica, f"replica {replica}") for replica in range(self._world.replicas)]
        nodes += [(CLIENTS, "clients"), (WORLD, "history and faults")]
        for node, name in nodes:
            given = {"pid": self._first + node, "ph": "M"}
            yield given | {"name": "process_name", "args": {"name": name + self._suffix}}
            yield given | {"name": "process_sort_index", "args": {"sort_index": node}}
            thread = {"tid": MESSAGES, "name": "thread_name", "args": {"name": "messages"}}
            yield given | thread

    def _message(self, message: Message) -> Iterator[Event]:
        told = {
            "call": message.call,
            "for": message.dependency,
            "bytes": message.size,
            "fate": message.fate,
            "body": message.contents,
        }
        begins = {"pid": self._process(message.sender), "tid": MESSAGES, "ts": _us(message.sent)}
        slice_ = {"ph": "X", "dur": MESSAGE_US, "cat": "message", "args": told}
        yield begins | slice_ | {"name": f"{message.type} to {name_of(message.receiver)}"}
        if message.fate != "arrived" or message.end is None:
            return
        ends = {"pid": self._process(message.receiver), "tid": MESSAGES, "ts": _us(message.end)}
        yield ends | slice_ | {"name": f"{message.type} from {name_of(message.sender)}"}
        flow = {"cat": "message", "name": message.type, "id": self._flow + message.id}
        yield begins | flow | {"ph": "s"}
        yield ends | flow | {"ph": "f", "bp": "e"}

    def _wait(self, wait: Wait, row: int) -> Event:
        end = self._world.end if wait.end is None else wait.end
        told = {
            "event": wait.event,
            "at the end": wait.at_end,
            "outcome": wait.outcome or "never ended",
            "needed": wait.needed,
            "total": wait.total,
            "peers": wait.peers,
        }
        return {
            "ph": "X",
            "cat": "wait",
            "name": f"{wait.name}: {wait.label}",
            "pid": self._process(wait.replica),
            "tid": 1 + row,
            "ts": _us(wait.start),
            "dur": _us(end - wait.start),
            "args": told,
        }

    def _curves(self, shows: tuple[Shown, ...]) -> Iterator[Event]:
        for seen in self._world.observed:
            for shown in shows:
                if shown.kind == seen.kind:
                    value = seen.values[shown.value]
                    yield self._counter(seen.replica, shown.name, seen.when, {"value": value})
        for held in self._world.held:
            name = f"held bytes for {name_of(held.receiver)}"
            yield self._counter(held.sender, name, held.when, {"bytes": held.size})

    def _counter(self, node: int, name: str, when: int, values: dict[str, int]) -> Event:
        given = {"ph": "C", "name": name, "pid": self._process(node), "tid": 0}
        return given | {"ts": _us(when), "args": values}

    def _bands(self) -> Iterator[Event]:
        """Faults may overlap, so each is an asynchronous slice."""
        spans = [(f.kind, f.text, f.start, f.end, WORLD) for f in self._world.faults]
        spans += [("down", d.why, d.start, d.end, d.replica) for d in self._world.downs]
        for number, (name, text, start, end, node) in enumerate(spans):
            given = {"cat": "fault", "name": name, "id": self._flow + number, "tid": MESSAGES}
            given["pid"] = self._first + node
            yield given | {"ph": "b", "ts": _us(start), "args": {"what": text}}
            yield given | {"ph": "e", "ts": _us(self._world.end if end is None else end)}

    def _instant(self, process: int, name: str, text: str, when: int) -> Event:
        given = {"ph": "i", "s": "g" if name != "note" else "t", "pid": process, "tid": MESSAGES}
        return given | {"name": f"{name}: {text}", "cat": name, "ts": _us(when)}


def _us(nanoseconds: int) -> float:
    return nanoseconds / 1000
