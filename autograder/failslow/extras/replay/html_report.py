"""A recording as one HTML page that works offline and requests nothing."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from failslow.extras.replay.entries import entries_of
from failslow.extras.replay.explanation import explain
from failslow.extras.replay.recording import (
    FIRST_CLIENT,
    Mark,
    Message,
    Wait,
    World,
    most_telling,
)
from failslow.extras.replay.rows import rows_of
from failslow.extras.replay.steps import Step
from failslow.extras.slowness import html_report as slowness
from failslow.extras.slowness.graph import graph_of
from failslow.extras.slowness.warnings import joined
from failslow.lab.labs import Lanes
from failslow.lab.shown import Shown

HERE = Path(__file__).resolve().parent
VIEWER = HERE / "viewer"

MESSAGES_MAX = 25_000
"""The most messages of a page, and the most waits: a page of 10 MB, which a browser draws without
stuttering. The trace for Perfetto has all."""


@dataclass(frozen=True)
class Subject:
    """The replayed test, for the page's heading."""

    lab: str
    test: str
    property: str
    seed: str
    passed: bool
    failures: tuple[str, ...]


def document(
    subject: Subject, worlds: list[World], shows: tuple[Shown, ...], lanes: Lanes | None = None
) -> str:
    """`lanes`: of a log that has some."""
    begin = most_telling(worlds)
    share = MESSAGES_MAX // (len(worlds) + 1)
    recording = {
        "passed": subject.passed,
        "firstClient": FIRST_CLIENT,
        "shows": [
            {"name": shown.name, "words": shown.words, "figure": bool(shown.figure)}
            for shown in shows
        ],
        "lanes": [] if lanes is None else lanes.names,
        "begin": begin,
        "worlds": [
            _world(world, shows, lanes, 2 * share if place == begin else share)
            for place, world in enumerate(worlds)
        ],
    }
    verdict = "passed" if subject.passed else "failed"
    return _filled(
        (VIEWER / "page.html").read_text(encoding="utf-8"),
        {
            "title": html.escape(f"{subject.test} {verdict}: replay"),
            "test": html.escape(subject.test),
            "lab": html.escape(subject.lab),
            "property": html.escape(subject.property),
            "seed": html.escape(f", seed {subject.seed}" if subject.seed else ""),
            "verdict": verdict,
            "open": "" if subject.passed else "open",
            "failures": "".join(f"<pre>{html.escape(text)}</pre>" for text in subject.failures),
            "style": (VIEWER / "page.css").read_text(encoding="utf-8"),
            "d3": (HERE / "vendor" / "d3.min.js").read_text(encoding="utf-8"),
            "modules": _as_script({"imports": _modules()}),
            "recording": _as_script(recording),
        },
    )


def _modules() -> dict[str, str]:
    """The page's modules as an import map: a page opened from a disk cannot load files."""
    return {
        f"replay/{module.name}": f"data:text/javascript,{quote(module.read_text(encoding='utf-8'))}"
        for module in sorted(VIEWER.glob("*.js"))
    }


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _as_script(value: object) -> str:
    """JSON without `<`, so that no string in it can end the script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _world(
    world: World, shows: tuple[Shown, ...], lanes: Lanes | None, most: int
) -> dict[str, Any]:
    """Rows of plain values, in the order in which model.js names them. `most`: messages, and
    waits."""
    problem = world.first_problem()
    begin, end = _window(world, *_moment(world), most)
    messages = [m for m in world.messages if begin <= m.sent <= end]
    waits = [
        (wait, row)
        for wait, row in zip(world.waits, rows_of(world.waits), strict=True)
        if wait.start <= end and (wait.end is None or wait.end >= begin)
    ]
    waits = waits[-most:]
    types = sorted({message.type for message in messages}, key=_by_method)
    number = {name: index for index, name in enumerate(types)}
    return {
        "seed": world.seed,
        "replicas": world.replicas,
        "begin": begin,
        "end": end,
        "left_out": len(world.messages) - len(messages),
        "explanation": _explanation(explain(world), world, messages, [wait for wait, _ in waits]),
        "problem": None if problem is None else world.notes.index(problem),
        "types": types,
        "messages": [_message(message, number[message.type]) for message in messages],
        "waits": [_wait(wait, row) for wait, row in waits],
        "faults": [[f.start, f.end, f.kind, f.replicas, f.text] for f in world.faults],
        "downs": [[d.start, d.end, d.replica, d.why] for d in world.downs],
        "notes": [[n.when, n.told, n.problem, n.headline] for n in world.notes],
        "operations": [
            [o.client, o.begin, o.end, o.command, o.reply, o.marked] for o in world.operations
        ],
        "marks": [
            [m.when, m.replica, m.text, m.vote, m.wrong]
            for m in (*world.marks, *_marks(world, shows))
        ],
        "held": [[h.when, h.sender, h.receiver, h.size] for h in world.held],
        "shown": [changes(world, shown) for shown in shows],
        "figures": [_figures(world, shown) for shown in shows],
        "entries": [
            [each.lane, each.index, each.dependency, each.proposed, each.decided, each.ran]
            for each in entries_of(world, lanes)
            if begin <= each.start <= end
        ],
        "slowness": _slowness(world),
    }


def _explanation(
    steps: list[Step], world: World, messages: list[Message], waits: list[Wait]
) -> list[list[object]]:
    """The list of each step's event in the page, its place there, and the sentence. A step that is
    not in the shown part of a long run is left out."""
    lists: dict[str, list[Any]] = {
        "messages": messages,
        "waits": waits,
        "downs": world.downs,
        "notes": world.notes,
        "operations": world.operations,
        "marks": world.marks,
    }
    places = {
        id(event): [name, place] for name, all_ in lists.items() for place, event in enumerate(all_)
    }
    return [[*places[id(step.event)], step.why] for step in steps if id(step.event) in places]


def _slowness(world: World) -> str:
    """The graph and the warnings of the whole run, as HTML; "" if the run has none."""
    if world.graph is None:
        return ""
    return slowness.fragment(graph_of(world.graph), joined(world.warnings))


def _message(m: Message, type_number: int) -> list[object]:
    way = (m.id, m.sender, m.receiver, m.sent, m.wire, m.end, m.read, m.fate)
    return [*way, type_number, m.call, m.dependency, m.size, m.contents, m.again]


def _wait(w: Wait, row: int) -> list[object]:
    what = (w.replica, row, w.start, w.end, w.name, w.label, w.event, w.at_end)
    return [*what, w.needed, w.total, w.peers, w.outcome]


def _by_method(type_name: str) -> tuple[str, bool, str]:
    """The sort key of a type: a method's requests come before its replies."""
    method, _, kind = type_name.partition(" ")
    return method, kind != "request", kind


def _moment(world: World) -> tuple[int, int]:
    """The time to see of a long run, and the quarters of the shown part that lie before it: all
    that led to a problem, or all that came of a fault."""
    if problem := world.first_problem():
        return problem.when, 3
    if world.faults:
        return min(fault.start for fault in world.faults), 1
    return world.end, 3


def _window(world: World, around: int, quarters: int, most: int) -> tuple[int, int]:
    """The first and the last time to show: a part of a long run has this number of its quarters
    before `around`."""
    sent = [message.sent for message in world.messages]
    if len(sent) <= most:
        return 0, world.end
    after = sum(when <= around for when in sent) + most - quarters * most // 4
    last = min(len(sent), max(after, most)) - 1
    begin = sent[last - most + 1]
    return begin, world.end if last == len(sent) - 1 else sent[last]


def changes(world: World, shown: Shown) -> list[list[int]]:
    """[time, replica, value] for each change of a replica's value."""
    latest: dict[int, int] = {}
    rows = []
    for seen in world.observed:
        value = seen.values[shown.value]
        if seen.kind == shown.kind and latest.get(seen.replica) != value:
            latest[seen.replica] = value
            rows.append([seen.when, seen.replica, value])
    return rows


def _marks(world: World, shows: tuple[Shown, ...]) -> list[Mark]:
    """The changes of a column that is marked. Down from its first word, up to it, and a tick if it
    has none."""
    marks = []
    for shown in (each for each in shows if each.marks):
        began: set[int] = set() if shown.words else {*range(world.replicas)}
        for when, replica, value in changes(world, shown):
            vote = "" if not shown.words else "no" if value else "yes"
            if value or replica in began:
                text = f"{shown.name} {shown.in_words(value)}"
                marks.append(Mark(when, replica, text, vote, wrong=False))
            began.add(replica)
    return marks


def _figures(world: World, shown: Shown) -> list[list[int]]:
    """[time, replica, value, threshold] in us, for each change of the two."""
    if not shown.figure:
        return []
    value, threshold = shown.figure
    latest: dict[int, list[int]] = {}
    rows = []
    for seen in world.observed:
        now = [seen.values[value], seen.values[threshold]] if seen.kind == shown.kind else []
        if now and latest.get(seen.replica) != now:
            latest[seen.replica] = now
            rows.append([seen.when, seen.replica, *now])
    return rows
