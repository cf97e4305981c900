"""The waits of a cluster's replicas while a fault held, beside those of healthy windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from failslow.extras.slowness.graph import FIRST_CLIENT, Edge, Graph, merged

Span = tuple[int, int]
"""From and to, on CLOCK_MONOTONIC in ns."""

OVERLAP = 0.3
"""A window of verification belongs to a fault that held in this share of it."""
GROWN = 2.0
SHOWN = 8


@dataclass(frozen=True)
class Grown:
    """A wait of one replica, or of clients: with the fault, and in healthy windows (None: there
    was none)."""

    edge: Edge
    healthy: Edge | None


def slow_graph(windows: Sequence[Mapping[str, Any]], slow: Sequence[Span]) -> Graph:
    return merged(each["graph"] for each in windows if _share(each, slow) >= OVERLAP)


def grown(
    windows: Sequence[Mapping[str, Any]], slow: Sequence[Span], others: Sequence[Span]
) -> list[Grown]:
    """The waits whose worst has grown, the largest growth first. `others`: spans that are neither
    healthy nor slow.

    The worst, not the mean: a window is longer than a fault, and fast waits are many.
    """
    healthy = merged(
        each["graph"] for each in windows if _share(each, slow) == _share(each, others) == 0
    )
    before = _by_what(healthy)
    pairs = [
        Grown(edge, before.get(key)) for key, edge in _by_what(slow_graph(windows, slow)).items()
    ]
    found = [each for each in pairs if each.edge.worst_ns > GROWN * _worst_ns(each.healthy)]
    found.sort(key=lambda each: _worst_ns(each.healthy) - each.edge.worst_ns)
    return found[:SHOWN]


def _worst_ns(edge: Edge | None) -> int:
    return 0 if edge is None else edge.worst_ns


def _by_what(graph: Graph) -> dict[tuple[object, ...], Edge]:
    """All clients are one."""
    found: dict[tuple[object, ...], Edge] = {}
    for each in graph.edges:
        edge = replace(each, sender=min(each.sender, FIRST_CLIENT))
        found[edge.what] = found[edge.what].plus(edge) if edge.what in found else edge
    return found


def _share(window: Mapping[str, Any], spans: Sequence[Span]) -> float:
    """The share of the window that is in one of the spans, which do not overlap."""
    begin, end = int(window["begin_ns"]), int(window["end_ns"])
    inside: int = sum(max(0, min(end, to) - max(begin, since)) for since, to in spans)
    return inside / max(1, end - begin)
