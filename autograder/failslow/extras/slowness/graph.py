"""The slowness propagation graph, as depfast/verify/verification_json.h writes it.

Times are in nanoseconds. Clients are the nodes from FIRST_CLIENT on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from failslow.base.errors import CannotDo

FIRST_CLIENT = 1000
RED = "red"
GREEN = "green"
BACKGROUND = "background"

CLIENTS_MAX = 4
"""More clients than this are one vertex: they would hide the replicas."""


@dataclass(frozen=True, order=True)
class Edge:
    """Waits of one node for others. `needed` of `total` answers end a wait."""

    sender: int
    receivers: tuple[int, ...]
    color: str
    needed: int
    total: int
    coroutine: str  # empty for a client
    event: str
    count: int = 0
    total_ns: int = 0
    worst_ns: int = 0

    @property
    def mean_ns(self) -> int:
        return self.total_ns // self.count if self.count else 0

    @property
    def what(self) -> tuple[object, ...]:
        """The fields that tell edges apart."""
        return (
            self.sender,
            self.receivers,
            self.color,
            self.needed,
            self.total,
            self.coroutine,
            self.event,
        )

    def plus(self, other: "Edge") -> "Edge":
        return replace(
            self,
            count=self.count + other.count,
            total_ns=self.total_ns + other.total_ns,
            worst_ns=max(self.worst_ns, other.worst_ns),
        )


@dataclass(frozen=True)
class Graph:
    """`names` has a name for every vertex, in the order in which they are drawn."""

    replicas: int
    edges: tuple[Edge, ...]
    names: dict[int, str]


def graph_of(value: dict[str, Any]) -> Graph:
    """CannotDo if it is no graph."""
    return merged([value])


def merged(values: Iterable[dict[str, Any]]) -> Graph:
    """The graph of a cluster, from those of its processes and windows.

    CannotDo if one of them is no graph.
    """
    edges: dict[tuple[object, ...], Edge] = {}
    replicas = 0
    for value in values:
        try:
            replicas = max(replicas, value["replicas"])
            for edge in map(_edge, value["edges"]):
                known = edges.get(edge.what)
                edges[edge.what] = edge if known is None else known.plus(edge)
        except (KeyError, TypeError, ValueError) as error:
            raise CannotDo(f"this is no graph: {error!r}") from error
    return _with_names(replicas, sorted(edges.values()))


def _edge(value: dict[str, Any]) -> Edge:
    if value["color"] not in (RED, GREEN, BACKGROUND):
        raise ValueError(f"there is no colour {value['color']!r}")
    return Edge(
        sender=int(value["from"]),
        receivers=tuple(int(each) for each in value["to"]),
        color=value["color"],
        needed=int(value["needed"]),
        total=int(value["total"]),
        coroutine=str(value["coroutine"]),
        event=str(value["event"]),
        count=int(value["count"]),
        total_ns=int(value["total_ns"]),
        worst_ns=int(value["worst_ns"]),
    )


def _with_names(replicas: int, edges: list[Edge]) -> Graph:
    names = {number: f"s{number}" for number in range(replicas)}
    clients = sorted({edge.sender for edge in edges if edge.sender >= FIRST_CLIENT})
    if len(clients) <= CLIENTS_MAX:
        names |= {client: f"c{number}" for number, client in enumerate(clients, start=1)}
        return Graph(replicas, tuple(edges), names)
    names[FIRST_CLIENT] = f"{len(clients)} clients"
    joined: dict[tuple[object, ...], Edge] = {}
    for edge in edges:
        one = replace(edge, sender=min(edge.sender, FIRST_CLIENT))
        joined[one.what] = joined[one.what].plus(one) if one.what in joined else one
    return Graph(replicas, tuple(sorted(joined.values())), names)


def dot(graph: Graph) -> str:
    """The graph in the language of Graphviz."""
    lines = ["digraph slowness {", "  rankdir=LR;", "  node [shape=circle];"]
    lines += [
        f'  "{name}" [shape={"box" if node >= FIRST_CLIENT else "circle"}];'
        for node, name in graph.names.items()
    ]
    for edge in graph.edges:
        for receiver in edge.receivers:
            lines.append(
                f'  "{graph.names[edge.sender]}" -> "{name_of(graph, receiver)}"'
                f' [{_STYLES[edge.color]}, label="{edge.needed}/{edge.total}\\n{figures(edge)}",'
                f' tooltip="{_quoted(what_waits(edge))}"];'
            )
    return "\n".join([*lines, "}", ""])


_STYLES = {
    RED: 'color="#c22", fontcolor="#c22"',
    GREEN: 'color="#282", fontcolor="#282"',
    BACKGROUND: 'color="#888", fontcolor="#888", style=dashed',
}


def name_of(graph: Graph, node: int) -> str:
    return graph.names.get(node, f"node {node}")


def figures(edge: Edge) -> str:
    """ "812 waits, mean 3.1 ms, worst 14.0 ms" """
    waits = "wait" if edge.count == 1 else "waits"
    return f"{edge.count} {waits}, mean {_ms(edge.mean_ns)}, worst {_ms(edge.worst_ns)}"


def what_waits(edge: Edge) -> str:
    """ "replicate waits on quorum" """
    return f"{edge.coroutine or 'a client'} waits on {edge.event}"


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.1f} ms"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
