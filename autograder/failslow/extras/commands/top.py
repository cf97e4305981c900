"""A live view of a cluster: its replicas, their load, faults that are on, and the longest waits."""

from importlib.util import find_spec

from rich.console import Group, RenderableType
from rich.table import Table

from failslow.extras.cluster import status, tables, verification
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.state import State
from failslow.extras.slowness.graph import BACKGROUND, merged, name_of, what_waits
from failslow.lab.labs import Lab

WAITS_MAX = 8


def view(layout: Layout, current: State, lab: Lab) -> RenderableType:
    """At this moment."""
    assert lab.cluster is not None, "it was started"
    replicas = status.of_all(layout, current, lab)
    parts: list[RenderableType] = [
        *tables.replicas_tables(lab.cluster, replicas),
        tables.load_table(replicas),
        _faults(layout),
    ]
    if current.verify:
        parts.append(_waits(layout, current))
    else:
        parts.append("waits: start the cluster with --verify to see them")
    return Group(*parts)


def _faults(layout: Layout) -> str:
    """Nothing in a student's kit without `kit faults`."""
    if not find_spec("failslow.extras.faults"):
        return ""
    from failslow.extras.faults import claim

    return "\n".join(each.line for each in claim.active(layout)) or "no fault is on"


def _waits(layout: Layout, current: State) -> RenderableType:
    """The waits of the latest window of each replica."""
    windows = verification.latest(layout, len(current.replicas))
    graph = merged(window["graph"] for window in windows)
    edges = [edge for edge in graph.edges if edge.color != BACKGROUND]
    edges.sort(key=lambda edge: edge.total_ns, reverse=True)
    table = Table("waits", "for", "what", "edge", "needed", "count", "mean", "worst")
    for edge in edges[:WAITS_MAX]:
        table.add_row(
            name_of(graph, edge.sender),
            ", ".join(name_of(graph, each) for each in edge.receivers),
            what_waits(edge),
            f"[{edge.color}]{edge.color}[/]",
            f"{edge.needed}/{edge.total}",
            f"{edge.count:,}",
            f"{edge.mean_ns / 1e6:.2f} ms",
            f"{edge.worst_ns / 1e6:.1f} ms",
        )
    return table
