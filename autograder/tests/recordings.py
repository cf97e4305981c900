"""Makes recordings as the test programs write them, from a seed."""

import json
import random
import re
from pathlib import Path
from typing import Any

from failslow.extras.replay import field_names, recording
from failslow.extras.replay.field_names import Field, FieldNames
from failslow.extras.replay.recording import World
from failslow.lab.labs import Lanes, Proposal
from failslow.lab.shown import Shown

SHOWS = (
    Shown("role", kind=1, value=1, words=("follower", "candidate", "leader")),
    Shown("commit", kind=2, value=0),
)
LANES = Lanes(("P", "Q"), Proposal("Propose", lane=0, index=2), decided=7, ran=8)
NAMES: FieldNames = {
    "RequestVote request": (Field("term"), Field("candidate"), Field("pre_vote")),
    "RequestVote reply": (Field("term"), Field("granted")),
}
US = 1000
METHODS = {1: "RequestVote", 2: "AppendEntries"}


class Recording:
    """Collects records; times are in microseconds."""

    def __init__(self, replicas: int = 3, world: int = 1) -> None:
        self.lines: list[dict[str, Any]] = []
        self._world = world
        self._last_message = 0
        self.add("world", 0, seed=1, replicas=replicas)
        for number, name in METHODS.items():
            self.add("method", 0, id=number, name=name)

    def add(self, what: str, when_us: float, **rest: Any) -> None:  # noqa: ANN401
        self.lines.append({"do": what, "w": self._world, "t": int(when_us * US), **rest})

    def send(self, when_us: float, sender: int, receiver: int, **rest: Any) -> int:  # noqa: ANN401
        self._last_message += 1
        given = {"kind": "request", "method": 2, "call": str(self._last_message), "body": "[1]"}
        given |= {"dep": "nobody", "bytes": 20, "from": sender, "to": receiver, **rest}
        self.add("send", when_us, id=self._last_message, **given)
        return self._last_message

    def violation(
        self,
        when_us: float,
        text: str,
        replica: int,
        message: int = 0,
        **rest: Any,  # noqa: ANN401
    ) -> None:
        """`message`: the number of the one that breaks the rule; 0 if none does."""
        about = next((x for x in self.lines if x["do"] == "send" and x["id"] == message), None)
        if about is not None:
            rest["frame"] = {name: about[name] for name in ("kind", "method", "call")}
        self.add("note", when_us, text=text, violation=True, replica=replica, **rest)

    def fate(self, what: str, when_us: float, message: int) -> None:
        self.add(what, when_us, id=message)

    def wait(self, when_us: float, replica: int, coroutine: int, **rest: Any) -> None:  # noqa: ANN401
        given = {"name": "replicate", "label": "quorum", "event": "QuorumEvent 0 of 3"}
        given |= {"needed": 3, "total": 5, "peers": "1 pending, 2 pending", **rest}
        self.add("wait", when_us, replica=replica, id=coroutine, **given)

    def woke(self, when_us: float, replica: int, coroutine: int, outcome: str = "ready") -> None:
        given = {"outcome": outcome, "event": "QuorumEvent 3 of 3", "peers": "1 yes, 2 yes"}
        self.add("woke", when_us, replica=replica, id=coroutine, **given)

    def write(self, path: Path) -> Path:
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)
        path.write_text(text)
        return path


def data_of(page: str) -> dict[str, Any]:
    """The data that the page of a replay carries."""
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def edge(sender: int, receivers: list[int], color: str, **rest: Any) -> dict[str, Any]:  # noqa: ANN401
    """An edge of a slowness graph."""
    given = {"needed": 1, "total": 1, "coroutine": "round", "event": "quorum"}
    given |= {"count": 10, "total_ns": 20_000_000, "mean_ns": 2_000_000, "worst_ns": 9_000_000}
    return {"from": sender, "to": receivers, "color": color, **given, **rest}


def two_lanes() -> Recording:
    """P.1 and Q.1 are a cycle, Q.2 depends on P.1, P.2 is a no-op, and P.3 is undecided."""
    made = Recording()
    made.add("method", 0, id=3, name="Propose")
    for when, lane, index in ((10, 0, 1), (12, 1, 1), (40, 1, 2), (45, 0, 2), (60, 0, 3)):
        made.send(when, lane, 2, method=3, body=f'[{lane}, 9, {index}, 0, "x, y"]')
    for when, replica, *values in (
        (20, 0, 0, 1, 2),
        (21, 1, 1, 1, 2),
        (30, 2, 0, 1, 2),
        (50, 1, 1, 2, 2),
        (55, 1, 0, 2, 0),
    ):
        made.add("saw", when, replica=replica, kind=7, values=[*values, 77])
    for when, replica, lane, index in ((32, 2, 0, 1), (34, 2, 1, 1), (33, 0, 0, 1)):
        made.add("saw", when, replica=replica, kind=8, values=[lane, index, 0, 0])
    made.add("note", 80, text="the end")
    return made


def large(replicas: int, rounds: int) -> Recording:
    """A leader's rounds of requests and replies, with a slow, a lossy and a crashed follower.

    2 * (replicas - 1) messages a round.
    """
    chance = random.Random(1)
    made = Recording(replicas)
    leader = 0
    made.add("saw", 1, replica=leader, kind=1, values=[1, 2, 0, 0])
    made.add("fault", 10, kind="net-slow", replicas=[4], text="net-slow 5 ms on replica 4")
    for number in range(rounds):
        start = 100 + number * 400
        if number == rounds // 3:
            made.add("death", start, replica=3, why="crash")
        if number == rounds // 2:
            made.add("restart", start, replica=3)
        made.wait(start, leader, number + 1)
        for follower in range(1, replicas):
            asked = made.send(start + follower, leader, follower, body=f'[1, {number}, "command"]')
            made.fate("wire", start + follower + 1, asked)
            lost = chance.random() < 0.02
            made.fate("lose" if lost else "arrive", start + 60 + chance.random() * 40, asked)
            back = made.send(
                start + 110 + follower, follower, leader, kind="reply", call=str(asked), body="[1]"
            )
            made.fate("wire", start + 110 + follower, back)
            made.fate("arrive", start + 170 + chance.random() * 60, back)
        made.woke(start + 240, leader, number + 1)
        made.add("saw", start + 241, replica=leader, kind=2, values=[number, 0, 0, 0])
        made.add("held", start + 242, **{"from": leader, "to": 4, "bytes": number * 100})
    end = 100 + rounds * 400
    broken = "VIOLATION of log matching: replica 2 has another command at index 7"
    made.add("note", end * 0.7, text=broken, violation=True, replica=1)
    made.add("failure", end, text="Expected: is sound")
    made.lines.sort(key=lambda line: line["t"])
    return made


def read(made: Recording, path: Path, names: FieldNames | None = None) -> World:
    """The one world of the recording, with the fields of its messages named."""
    (world,) = recording.read(made.write(path))
    field_names.name([world], NAMES if names is None else names)
    return world


def two_votes() -> Recording:
    """In term 2, replica 1 votes for replica 0, whose timer has fired, and then for replica 2."""
    made = Recording()
    made.wait(90, 0, 5, event="TimeoutEvent at 100 us")
    made.woke(100, 0, 5)
    _vote(made, 100, 0, pre_vote=True)
    _vote(made, 130, 0)
    second = _vote(made, 160, 2)
    votes = "replica 1 votes in term 2 for replica 0 and for replica 2"
    first = {"replica": 1, "at": 142 * US, "read": False, "why": "The first vote of replica 1."}
    made.violation(172, f"VIOLATION of one vote per term: {votes}", 1, second, earlier=[first])
    return made


def _vote(made: Recording, when: float, candidate: int, pre_vote: bool = False) -> int:
    """A candidate asks replica 1 and gets its vote. Returns the number of the answer."""
    call, body = f"{when}", f"[2, {candidate}, {str(pre_vote).lower()}]"
    asked = made.send(when, candidate, 1, method=1, call=call, body=body)
    for fate in ("arrive", "read"):
        made.fate(fate, when + 10, asked)
    granted = made.send(
        when + 12, 1, candidate, kind="reply", method=1, call=call, body="[2, true]"
    )
    for fate in ("arrive", "read"):
        made.fate(fate, when + 20, granted)
    return granted


def not_linearizable() -> Recording:
    """Client 1 reads an old value; the test fails at the end."""
    made = Recording()
    asked = made.send(10, 1000, 0, body='[["SET", "x", "1"], 0]')
    made.fate("arrive", 12, asked)
    made.add("failure", 90, text="the history is not linearizable")
    for client, begin, end, command, reply, marked in (
        (0, 10, 20, "SET x 1", "OK", False),
        (2, 12, None, "SET x 2", "no answer", False),
        (1, 30, 40, "GET x", "nil", True),
    ):
        made.add(
            "operation", 90, client=client, begin=begin * US, end=end and end * US,
            command=command, reply=reply, marked=marked,
        )  # fmt: skip
    return made


def script() -> Recording:
    """Three votes of a script, the last step of which goes wrong."""
    made = Recording(replicas=1)
    for when, vote, text in (
        (10, "yes", "#1  replies: voter 0 of quorum A says yes"),
        (20, "no", "#2  replies: voter 1 of quorum A says no"),
        (30, "lost", "#3  replies: voter 2 of quorum A is lost"),
        (40, "", "#4  leader: look at quorum A -> 1 yes"),
    ):
        made.add("mark", 60, at=when * US, replica=0, text=text, vote=vote, wrong=vote == "")
    made.add("failure", 60, text="step #4 goes wrong")
    return made
