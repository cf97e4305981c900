"""The waits of a cluster's replicas while a fault held, beside those of healthy windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from failslow.slowness.graph import Edge, Graph, merged

Span = tuple[int, int]
"""From and to, on CLOCK_MONOTONIC in ns."""

OVERLAP = 0.3
"""A window of verification belongs to a fault that held in this share of it."""
GROWN = 1.5
SHOWN = 8


@dataclass(frozen=True)
class Grown:
    """A wait of one replica: the edge with the fault, and the mean of the healthy one (0: none)."""

    edge: Edge
    healthy_ns: int


def slow_graph(windows: Sequence[Mapping[str, Any]], slow: Sequence[Span]) -> Graph:
    return merged(each["graph"] for each in windows if _share(each, slow) >= OVERLAP)


def grown(
    windows: Sequence[Mapping[str, Any]], slow: Sequence[Span], others: Sequence[Span]
) -> list[Grown]:
    """The waits whose mean has grown, the largest growth first. `others`: spans that are neither
    healthy nor slow."""
    healthy = merged(
        each["graph"] for each in windows if _share(each, slow) == _share(each, others) == 0
    )
    before = {edge.what: edge.mean_ns for edge in healthy.edges}
    found = [
        Grown(edge, before.get(edge.what, 0))
        for edge in slow_graph(windows, slow).edges
        if edge.mean_ns > GROWN * before.get(edge.what, 0)
    ]
    found.sort(key=lambda each: each.healthy_ns - each.edge.mean_ns)
    return found[:SHOWN]


def _share(window: Mapping[str, Any], spans: Sequence[Span]) -> float:
    """The share of the window that is in one of the spans, which do not overlap."""
    begin, end = window["begin_ns"], window["end_ns"]
    inside = sum(max(0, min(end, to) - max(begin, since)) for since, to in spans)
    return inside / max(1, end - begin)
