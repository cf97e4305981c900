"""The pages of a diagnosis' material: one for each run, and one that lists them all.

A page works offline and requests nothing. It names labels, never variants.
"""

import html
from collections.abc import Iterable, Sequence

from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import FIRST_CLIENT, graph_of
from failslow.extras.slowness.html_report import PAGE
from failslow.grade.diagnosis.runs import (
    EDGE,
    HEALTHY,
    WAIT,
    WARNING,
    Evidence,
    Item,
    Observed,
    Run,
)
from failslow.measurement.formatting import seconds

STYLE = (
    "<style>.seen th,.seen td{border:1px solid #999;padding:.1rem .5rem}"
    ".seen .number{text-align:right;white-space:nowrap}"
    ".seen .red{color:#d33}.seen .green{color:#2a2}</style>"
)

Cell = object
Row = tuple[str, Sequence[Cell]]
"""A class, and the cells."""


def run_page(label: str, run: Run) -> str:
    """The findings of runtime verification in one run."""
    title = f"{label}, {_title(run)}"
    return _document(
        title,
        [
            '<p><a href="../index.html">All labels</a></p>',
            _setting(run.observed),
            "<h2>Clients</h2>",
            _table(CLIENTS, [("", _clients(run.observed))]),
            "<h2>Warnings</h2>",
            _table(WARNINGS, _warnings(_of(run, WARNING))),
            "<h2>Slowness propagation graph</h2>",
            drawing.svg(graph_of(run.observed["graph"])),
            _table(EDGES, _edges(_of(run, EDGE))),
            "<h2>Waits for nothing of a peer</h2>",
            "<p>For the replica's own disk, a timer, or another coroutine.</p>",
            _table(WAITS, _waits(_of(run, WAIT))),
        ],
    )


def index_page(observed: Iterable[Observed], replay: str) -> str:
    """The labels, with the figures of their clients. `replay`: the name of the replay's page."""
    rows: list[Row] = []
    for each in observed:
        label = each.subject.label
        for run in each.runs:
            link = f'<a href="{label}/{run.name}.html">{label}, {_title(run)}</a>'
            replayed = "" if run.name == HEALTHY else f'<a href="{label}/{replay}">replay</a>'
            rows.append(("", (_Raw(link), *_clients(run.observed), _Raw(replayed))))
    return _document(
        "Diagnosis",
        [
            "<p>Each label is a store on a Raft. One Raft tolerates a slow follower. In each of the"
            " others one mistake lets clients or the leader suffer. Find the mistakes.</p>",
            _table(("run", *CLIENTS, ""), rows),
        ],
    )


CLIENTS = ("commands", "unanswered", "mean", "median", "99 %", "calls left")
WARNINGS = ("number", "kind", "replica", "window", "warning")
EDGES = (
    "number",
    "color",
    "from",
    "coroutine",
    "event",
    "waits for",
    "to",
    "waits",
    "mean",
    "longest",
)
WAITS = (
    "number",
    "replica",
    "coroutine",
    "event",
    "waits",
    "while a client waits",
    "mean",
    "longest",
)


class _Raw(str):
    """HTML, not text."""


def _title(run: Run) -> str:
    return "no fault" if run.name == HEALTHY else "a slow follower"


def _setting(observed: Item) -> str:
    slow = observed["slow"]
    fault = "No replica is slow." if slow is None else f"Replica {slow} is slow (CPU contention)."
    return f"<p>Three replicas. Replica {observed['leader']} leads. {fault}</p>"


def _clients(observed: Item) -> list[Cell]:
    clients = observed["clients"]
    times = [seconds(clients[name]) for name in ("mean_ns", "p50_ns", "p99_ns")]
    return [clients["offered"], clients["unanswered"], *times, observed["calls"]]


def _of(run: Run, letter: str) -> list[Evidence]:
    return [each for each in run.evidence if each.id.rpartition("/")[2].startswith(letter)]


def _warnings(found: Iterable[Evidence]) -> list[Row]:
    rows: list[Row] = []
    for each in found:
        item = each.item
        window = f"from {seconds(item['begin_ns'])} to {seconds(item['end_ns'])}"
        rows.append(("", (each.id, item["kind"], item["replica"], window, item["text"])))
    return rows


def _edges(found: Iterable[Evidence]) -> list[Row]:
    rows: list[Row] = []
    for each in found:
        item = each.item
        needed = f"{item['needed']} of {item['total']}"
        to = ", ".join(map(_node, item["to"]))
        who = (each.id, item["color"], _node(item["from"]), item["coroutine"], item["event"])
        times = (item["count"], seconds(item["mean_ns"]), seconds(item["worst_ns"]))
        rows.append((item["color"], (*who, needed, to, *times)))
    return rows


def _waits(found: Iterable[Evidence]) -> list[Row]:
    rows: list[Row] = []
    for each in found:
        item = each.item
        who = (each.id, item["replica"], item["coroutine"], item["event"])
        times = (seconds(item["mean_ns"]), seconds(item["worst_ns"]))
        rows.append(("", (*who, item["count"], item["on_path"], *times)))
    return rows


def _node(number: int) -> str:
    return f"replica {number}" if number < FIRST_CLIENT else "a client"


def _table(heads: Sequence[str], rows: Sequence[Row]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{html.escape(each)}</th>" for each in heads)
    body = "".join(f'<tr class="{name}">{"".join(map(_cell, cells))}</tr>' for name, cells in rows)
    return f'<table class="seen"><tr>{head}</tr>{body}</table>'


def _cell(cell: Cell) -> str:
    if isinstance(cell, _Raw):
        return f"<td>{cell}</td>"
    kind = ' class="number"' if isinstance(cell, int) else ""
    return f"<td{kind}>{html.escape(str(cell))}</td>"


def _document(title: str, parts: Iterable[str]) -> str:
    return PAGE.format(title=html.escape(title), body=STYLE + "\n".join(parts))
