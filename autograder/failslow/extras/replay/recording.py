"""Reads a test program's recording (framework/testkit/recorder.h): one World per cluster."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from failslow.base.errors import CannotDo
from failslow.build import assertions

FIRST_CLIENT = 1000

RULE_MAX = 200
"""The longest text of a rule; the rest is cut off."""

_CLAIMS = re.compile(r"claims( \d+(,\d+){4})*")
"""An event whose words are claims: of each the kind and four values."""

# Kinds of faults (framework/faults/catalogue.h).
BIT_FLIP = "bit-flip"
CRASH = "crash"


_OF_GOOGLETEST = re.compile(r"\s|Google Test trace:|\S+:\d+: ")


@dataclass
class Message:
    """Times are in nanoseconds. `fate` is sent, arrived, lost or released, at the time `end`.

    The wire took the message at `wire`, and its receiver read it at `read`. A time is None if that
    never happened.
    """

    id: int
    sender: int
    receiver: int
    sent: int
    type: str
    call: str
    dependency: str
    size: int
    body: str
    again: bool = False
    wire: int | None = None
    end: int | None = None
    read: int | None = None
    fate: str = "sent"
    fields: dict[str, str] = field(default_factory=dict)  # of the body, if their names are known

    @property
    def contents(self) -> str:
        """ "term: 3, granted: true"; the values alone, if their names are not known."""
        named = ", ".join(f"{name}: {value}" for name, value in self.fields.items())
        return named or self.body


@dataclass
class Wait:
    """A coroutine's wait. `end` is None for one that never ended; `outcome` is then empty.

    `event` is the awaited event as the wait began, `at_end` the same as it ended. `peers` has the
    latest vote of each peer in words: "1 yes, 2 lost".
    """

    replica: int
    life: int  # of the replica, from 0 on: coroutines are numbered anew in each
    coroutine: int
    name: str
    label: str
    event: str
    needed: int
    total: int
    peers: str
    start: int
    end: int | None = None
    outcome: str = ""
    at_end: str = ""


@dataclass
class Fault:
    """`end` is None for a fault that never ended. Flipped bits are there at once, and a crash ends
    when its last replica is up again, whoever restarts it."""

    start: int
    kind: str
    replicas: list[int]
    text: str
    end: int | None = None


@dataclass
class Down:
    """A replica is down from `start` until it restarts at `end`; None if it never does.
    `own`: it is the first that died by itself."""

    replica: int
    start: int
    why: str
    end: int | None = None
    own: bool = False


@dataclass(frozen=True)
class Judged:
    """The step that a test or checker judged: of a replica at that time. Without a replica it is
    the slowest answer since then."""

    replica: int | None
    at: int
    rule: str = ""


@dataclass(frozen=True)
class Earlier:
    """A step that led to a violation: the message that the replica sent or read in it."""

    replica: int
    at: int
    was_read: bool
    why: str


@dataclass
class Note:
    """A line of the history. `problem` marks a violated invariant, a crash of the process or a
    failure of the test. `judged`: of a problem, whose step it was, if that is recorded. Of a
    violation, `frame` is the type and call of the message that breaks the rule."""

    when: int
    text: str
    problem: str = ""  # "", "violation", "crash" or "failure"
    judged: Judged | None = None
    frame: tuple[str, str] | None = None
    earlier: tuple[Earlier, ...] = ()

    @property
    def told(self) -> str:
        """The words for people: an explanation needs GoogleTest's."""
        return assertions.in_a_sentence(self.text) if self.problem == "failure" else self.text

    @property
    def headline(self) -> str:
        """One line: the sentence of the test, if there is one, instead of GoogleTest's words."""
        lines = self.told.split("\n")
        said = [line for line in lines if line and not _OF_GOOGLETEST.match(line)]
        return said[0] if said else lines[0]


@dataclass
class Operation:
    """A client's operation in a window that is not linearizable. `end` is None without an answer.
    `marked`: the reply to look at."""

    client: int  # from 0 on
    begin: int
    end: int | None
    command: str
    reply: str
    marked: bool


@dataclass
class Mark:
    """A step of a script that a replica performs. `vote`: "yes", "no", "lost", or "" if the step is
    none. `wrong`: its result is not the expected one."""

    when: int
    replica: int
    text: str
    vote: str
    wrong: bool


@dataclass
class Observed:
    when: int
    replica: int
    kind: int
    values: list[int]


@dataclass
class Held:
    """From `when` on, `sender` holds `size` bytes for `receiver`."""

    when: int
    sender: int
    receiver: int
    size: int


@dataclass
class World:
    """One cluster of a test, from its start to `end`."""

    seed: int
    replicas: int
    end: int = 0
    messages: list[Message] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    downs: list[Down] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    observed: list[Observed] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)  # of runtime verification
    graph: dict[str, Any] | None = None  # None if the run did not come to its end

    def first_problem(self) -> Note | None:
        """The first violated invariant; without one, the crash; or the test's first failure."""
        for kind in ("violation", "crash", "failure"):
            for note in self.notes:
                if note.problem == kind:
                    return note
        return None


def name_of(node: int) -> str:
    return f"client {node - FIRST_CLIENT}" if node >= FIRST_CLIENT else f"replica {node}"


def read(path: Path) -> list[World]:
    """The worlds in the order in which they began. CannotDo for a record that is damaged.

    The last line is cut off if the test program died while it wrote it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"cannot read the recording {path}: {error}") from error
    lines = text.split("\n")[:-1]
    readers: dict[int, _WorldReader] = {}
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if record["do"] == "world":
                readers[record["w"]] = _WorldReader(World(record["seed"], record["replicas"]))
            else:
                readers[record["w"]].add(record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CannotDo(f"{path}: line {number} is no record: {error!r}") from error
    return [reader.finished() for reader in readers.values()]


class _WorldReader:
    def __init__(self, world: World) -> None:
        self._world = world
        self._methods: dict[int, str] = {}
        self._kinds: dict[int, tuple[str, int | None]] = {}  # by message
        self._frames: list[tuple[Note, dict[str, Any]]] = []  # of violations
        self._messages: dict[int, Message] = {}
        self._waiting: dict[tuple[int, int], Wait] = {}
        self._down: dict[int, Down] = {}
        self._lives: dict[int, int] = {}  # the number of ended lives, by replica
        self._judged: Judged | None = None  # for the next failure

    def add(self, record: dict[str, Any]) -> None:
        self._world.end = max(self._world.end, record["t"])
        getattr(self, f"_on_{record['do']}")(record)

    def finished(self) -> World:
        """Resolves names last, because a method may be used before it is named."""
        for message in self._world.messages:
            message.type = self._type(*self._kinds[message.id])
        for note, frame in self._frames:
            note.frame = self._type(frame["kind"], frame["method"]), frame["call"]
        return self._world

    def _type(self, kind: str, method: int | None) -> str:
        name = "" if method is None else self._methods.get(method, f"method {method}")
        return f"{name} {kind}".strip()

    def _on_method(self, record: dict[str, Any]) -> None:
        self._methods[record["id"]] = record["name"]

    def _on_send(self, record: dict[str, Any]) -> None:
        message = Message(
            id=record["id"],
            sender=record["from"],
            receiver=record["to"],
            sent=record["t"],
            type="",
            call=record.get("call", ""),
            dependency=record.get("dep", ""),
            size=record["bytes"],
            body=record["body"],
            again=record.get("again", False),
        )
        self._kinds[message.id] = record["kind"], record.get("method")
        self._messages[message.id] = message
        self._world.messages.append(message)

    def _on_wire(self, record: dict[str, Any]) -> None:
        self._messages[record["id"]].wire = record["t"]

    def _on_read(self, record: dict[str, Any]) -> None:
        self._messages[record["id"]].read = record["t"]

    def _on_arrive(self, record: dict[str, Any]) -> None:
        self._end(record, "arrived")

    def _on_lose(self, record: dict[str, Any]) -> None:
        self._end(record, "lost")

    def _on_release(self, record: dict[str, Any]) -> None:
        self._end(record, "released")

    def _end(self, record: dict[str, Any], fate: str) -> None:
        message = self._messages[record["id"]]
        message.fate, message.end = fate, record["t"]

    def _on_held(self, record: dict[str, Any]) -> None:
        held = Held(record["t"], record["from"], record["to"], record["bytes"])
        self._world.held.append(held)

    def _on_wait(self, record: dict[str, Any]) -> None:
        wait = Wait(
            replica=record["replica"],
            life=self._lives.get(record["replica"], 0),
            coroutine=record["id"],
            name=record["name"],
            label=record["label"],
            event=record["event"],
            needed=record["needed"],
            total=record["total"],
            peers=record["peers"],
            start=record["t"],
        )
        self._waiting[wait.replica, wait.coroutine] = wait
        self._world.waits.append(wait)
        if _CLAIMS.fullmatch(wait.event):
            self._claim(wait)

    def _claim(self, wait: Wait) -> None:
        """Takes claims as observations. They have cost no time in the run."""
        for claim in wait.event.split()[1:]:
            kind, *values = (int(word) for word in claim.split(","))
            self._world.observed.append(Observed(wait.start, wait.replica, kind, values))
        wait.event = wait.label

    def _on_woke(self, record: dict[str, Any]) -> None:
        wait = self._waiting.pop((record["replica"], record["id"]))
        told = wait.event if _CLAIMS.fullmatch(record["event"]) else record["event"]
        wait.end, wait.outcome, wait.at_end = record["t"], record["outcome"], told
        wait.peers = record["peers"]

    def _on_saw(self, record: dict[str, Any]) -> None:
        seen = Observed(record["t"], record["replica"], record["kind"], record["values"])
        self._world.observed.append(seen)

    def _on_fault(self, record: dict[str, Any]) -> None:
        fault = Fault(record["t"], record["kind"], record["replicas"], record["text"])
        if fault.kind == BIT_FLIP:
            fault.end = fault.start
        self._world.faults.append(fault)

    def _on_heal(self, record: dict[str, Any]) -> None:
        for fault in self._world.faults:
            ends = fault.end is None and fault.kind != CRASH and fault.text == record["text"]
            if ends:
                fault.end = record["t"]
                return

    def _on_death(self, record: dict[str, Any]) -> None:
        replica = record["replica"]
        self._lives[replica] = self._lives.get(replica, 0) + 1
        own = record.get("own") is True
        self._down[replica] = Down(replica, record["t"], record["why"], own=own)
        self._world.downs.append(self._down[replica])
        for key in [key for key in self._waiting if key[0] == replica]:
            wait = self._waiting.pop(key)
            wait.end, wait.outcome, wait.at_end = record["t"], "replica died", wait.event

    def _on_restart(self, record: dict[str, Any]) -> None:
        self._down.pop(record["replica"]).end = record["t"]
        for fault in self._world.faults:
            ends = fault.end is None and fault.kind == CRASH and record["replica"] in fault.replicas
            if ends and not self._down.keys() & {*fault.replicas}:
                fault.end = record["t"]

    def _on_verification(self, record: dict[str, Any]) -> None:
        self._world.warnings, self._world.graph = record["warnings"], record["graph"]

    def _on_operation(self, record: dict[str, Any]) -> None:
        names = ("client", "begin", "end", "command", "reply", "marked")
        self._world.operations.append(Operation(*(record[name] for name in names)))

    def _on_mark(self, record: dict[str, Any]) -> None:
        names = ("at", "replica", "text", "vote", "wrong")
        self._world.marks.append(Mark(*(record[name] for name in names)))

    def _on_judged(self, record: dict[str, Any]) -> None:
        rule = str(record["rule"])[:RULE_MAX]
        replica = self._replica(record) if "replica" in record else None
        self._judged = Judged(replica, _whole(record["at"], record["t"]), rule)

    def _on_note(self, record: dict[str, Any]) -> None:
        note = Note(record["t"], record["text"], "violation" if record.get("violation") else "")
        if note.problem and "replica" in record:
            note.judged = Judged(self._replica(record), note.when)
            note.earlier = tuple(self._earlier(each) for each in record.get("earlier", ()))
        if "frame" in record:
            self._frames.append((note, record["frame"]))
        self._world.notes.append(note)

    def _on_failure(self, record: dict[str, Any]) -> None:
        note = Note(record["t"], record["text"], "failure", self._judged)
        self._judged = None
        self._world.notes.append(note)

    def _earlier(self, record: dict[str, Any]) -> Earlier:
        at = _whole(record["at"], self._world.end)
        return Earlier(self._replica(record), at, record["read"] is True, str(record["why"]))

    def _replica(self, record: dict[str, Any]) -> int:
        return _whole(record["replica"], self._world.replicas - 1)


def _whole(value: object, most: int) -> int:
    """A number from 0 to `most`. ValueError for anything else."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no number up to {most}")
    return value


def most_telling(worlds: Iterable[World]) -> int:
    """The index of the first world with a problem; 0 if no world has one."""
    for index, world in enumerate(worlds):
        if world.first_problem() is not None:
            return index
    return 0
