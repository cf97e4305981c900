"""A cluster at one moment, as the page shows it."""

import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base.errors import CannotDo
from failslow.extras.cluster import metrics, verification
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.metrics import Metrics
from failslow.extras.faults import claim
from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import merged
from failslow.lab.shown import Shown

SILENT_S = 3.0
"""A replica writes a line of metrics each second. One without a line for this time does not run,
or is very slow: from its files alone nobody can tell."""

_METRICS = re.compile(r"replica-(\d+)\.metrics")


@dataclass(frozen=True)
class Subject:
    """The cluster that is shown. `title`: such as 'lab3 of reference-solutions'."""

    layout: Layout
    title: str
    columns: tuple[Shown, ...]


def read_subject(data: Path, description: Path) -> Subject:
    """`description`: the file that `kit cluster build` wrote. CannotDo when it makes no sense."""
    try:
        content = json.loads(description.read_text(encoding="utf-8"))
        columns = tuple(
            Shown(**(each | {key: tuple(each.get(key, ())) for key in ("words", "figure")}))
            for each in content["shows"]
        )
        return Subject(Layout(data), f"{content['lab']} of {content['solution']}", columns)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"cannot read {description}: {error!r}") from error


def of(subject: Subject) -> dict[str, Any]:
    """The view of a cluster as JSON."""
    layout = subject.layout
    numbers = [int(m[1]) for each in layout.data.iterdir() if (m := _METRICS.fullmatch(each.name))]
    return {
        "title": subject.title,
        "columns": [column.name for column in subject.columns],
        "replicas": [_replica(subject, number) for number in sorted(numbers)],
        "faults": [each.line for each in claim.active(layout)],
        "load": _load(layout),
        "graph": _graph(layout, len(numbers)),
    }


def _replica(subject: Subject, number: int) -> dict[str, Any]:
    path = subject.layout.metrics(number)
    known = metrics.read(path)
    if known is None:
        return {"id": number, "state": "silent"}
    silent_s = time.time() - path.stat().st_mtime
    cpu_ms = known.rate("cpu_ms")
    return {
        "id": number,
        "state": "runs" if silent_s <= SILENT_S else f"silent for {silent_s:.0f} s",
        "shows": [_text(column, known) for column in subject.columns],
        "requests_per_s": known.rate("client_frames_in"),
        "frames_per_s": known.rate("frames_in", "frames_out"),
        "syncs_per_s": known.rate("disk_syncs"),
        "cpu_percent": None if cpu_ms is None else cpu_ms / 10,
        "held_bytes": known.last["held_bytes"],
    }


def _text(column: Shown, known: Metrics) -> str:
    cell = column.cell(known.values(column.kind), time.monotonic_ns())
    return "" if cell is None else str(cell)


def _load(layout: Layout) -> dict[str, Any] | None:
    """The latest window of a load generator that writes its results here; None without one."""
    with suppress(OSError, ValueError):
        content: dict[str, Any] = json.loads(layout.load.read_text(encoding="utf-8"))
        return content
    return None


def _graph(layout: Layout, replicas: int) -> str:
    """The graph as HTML; empty without verification."""
    with suppress(ValueError, KeyError, CannotDo):  # a line that is damaged
        windows = verification.latest(layout, replicas)
        if windows:
            graph = merged(window["graph"] for window in windows)
            return drawing.svg(graph) + drawing.table(graph)
    return ""
