"""A slowness propagation graph as SVG, and as HTML with a table that says the same.

The layout is a function of the graph alone: the replicas stand on a circle, the one that most
clients wait for at its left, and the clients in a column before it.
"""

import html
import math
from dataclasses import dataclass, replace

from failslow.extras.slowness.graph import (
    BACKGROUND,
    FIRST_CLIENT,
    GREEN,
    RED,
    Edge,
    Graph,
    figures,
    name_of,
    what_waits,
)

WIDTH, HEIGHT = 760, 430
CENTER = (470.0, 215.0)
RADIUS = 150.0
CLIENT_X = 70.0
NODE_RADIUS = 24.0
BEND = 44.0
"""The distance between the middles of two edges that join the same nodes."""

STYLE = """
svg.slowness text { font: 12px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }
svg.slowness .node { fill: Canvas; stroke: currentColor; stroke-width: 1.5; }
svg.slowness .edge { fill: none; stroke-width: 2; }
svg.slowness .red { stroke: #d33; }
svg.slowness .green { stroke: #2a2; }
svg.slowness .background { stroke: #888; stroke-dasharray: 5 4; stroke-width: 1.2; }
svg.slowness .label { font-size: 11px; paint-order: stroke; stroke: Canvas; stroke-width: 4px; }
svg.slowness .red-head { fill: #d33; }
svg.slowness .green-head { fill: #2a2; }
svg.slowness .background-head { fill: #888; }
"""
COLOURS = (RED, GREEN, BACKGROUND)


@dataclass(frozen=True)
class _Line:
    """All edges of one colour and quorum between two nodes; background of all kinds is one line."""

    sum: Edge  # its receiver is the first of `receivers`
    texts: tuple[str, ...]


def svg(graph: Graph, name: str = "slowness") -> str:
    """`name`: begins the ids in the picture, so that a page can have several."""
    places = _places(graph)
    lines = [line for line in _lines(graph) if _can_be_drawn(line.sum, places)]
    bends = _bends(lines)
    heads = "".join(
        f'<marker id="{name}-{colour}-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7"'
        f' markerHeight="7" orient="auto-start-reverse">'
        f'<path class="{colour}-head" d="M0 0 L10 5 L0 10 z"/></marker>'
        for colour in COLOURS
    )
    drawn = "".join(
        _drawn(line, places, bend, name) for line, bend in zip(lines, bends, strict=True)
    )
    nodes = "".join(_node(name_of(graph, node), *places[node]) for node in places)
    return (
        f'<svg class="slowness" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' role="img" aria-label="Slowness propagation graph; the table below says the same">'
        f"<style>{STYLE}</style><defs>{heads}</defs>{drawn}{nodes}</svg>"
    )


def _can_be_drawn(edge: Edge, places: dict[int, tuple[float, float]]) -> bool:
    """A call to oneself, or to a client, is in the table alone."""
    return edge.receivers[0] in places and edge.receivers[0] != edge.sender


def table(graph: Graph) -> str:
    """An HTML table of the edges, the ones on a client's path first."""
    rows = "".join(
        f"<tr><td>{html.escape(name_of(graph, edge.sender))}</td>"
        f"<td>{html.escape(', '.join(name_of(graph, each) for each in edge.receivers))}</td>"
        f"<td>{edge.color}</td><td>{edge.needed}/{edge.total}</td>"
        f"<td>{html.escape(what_waits(edge))}</td><td>{html.escape(figures(edge))}</td></tr>"
        for edge in sorted(graph.edges, key=lambda edge: (COLOURS.index(edge.color), edge))
    )
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("waits", "for", "edge", "answers needed", "what", "how long")
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _places(graph: Graph) -> dict[int, tuple[float, float]]:
    first = _most_awaited(graph)
    places = {}
    for number in range(graph.replicas):
        angle = math.pi + 2 * math.pi * ((number - first) % graph.replicas) / graph.replicas
        x = CENTER[0] + RADIUS * math.cos(angle)
        places[number] = (x, CENTER[1] - RADIUS * math.sin(angle))
    clients = [node for node in graph.names if node >= FIRST_CLIENT]
    for number, client in enumerate(clients, start=1):
        places[client] = (CLIENT_X, HEIGHT * number / (len(clients) + 1))
    return places


def _most_awaited(graph: Graph) -> int:
    """The replica with the most waits of clients; 0 without clients."""
    waits = [0] * max(1, graph.replicas)
    for edge in graph.edges:
        if edge.sender >= FIRST_CLIENT and edge.receivers[0] < graph.replicas:
            waits[edge.receivers[0]] += edge.count
    return waits.index(max(waits))


def _lines(graph: Graph) -> list[_Line]:
    lines: dict[tuple[object, ...], _Line] = {}
    for edge in graph.edges:
        for receiver in edge.receivers:
            quorum = () if edge.color == BACKGROUND else (edge.needed, edge.total)
            key = (edge.sender, receiver, edge.color, quorum)
            one = replace(edge, receivers=(receiver,), coroutine="", event="")
            text = f"{what_waits(edge)}: {figures(edge)}"
            known = lines.get(key)
            lines[key] = (
                _Line(one, (text,))
                if known is None
                else _Line(known.sum.plus(one), (*known.texts, text))
            )
    return list(lines.values())


def _bends(lines: list[_Line]) -> list[float]:
    """Distance of each line's middle from the straight one between its nodes: lines that join the
    same nodes lie side by side, whatever their direction."""
    between: dict[tuple[int, ...], list[int]] = {}
    for index, line in enumerate(lines):
        nodes = tuple(sorted((line.sum.sender, line.sum.receivers[0])))
        between.setdefault(nodes, []).append(index)
    bends = [0.0] * len(lines)
    for nodes, indexes in between.items():
        for place, index in enumerate(indexes):
            side = 1 if lines[index].sum.sender == nodes[0] else -1
            bends[index] = side * BEND * (place - (len(indexes) - 1) / 2)
    return bends


def _drawn(line: _Line, places: dict[int, tuple[float, float]], bend: float, name: str) -> str:
    (x1, y1), (x2, y2) = places[line.sum.sender], places[line.sum.receivers[0]]
    length = math.hypot(x2 - x1, y2 - y1)
    across = (-(y2 - y1) / length, (x2 - x1) / length)
    middle = ((x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend)
    control = (middle[0] * 2 - (x1 + x2) / 2, middle[1] * 2 - (y1 + y2) / 2)
    begin, end = _towards((x1, y1), control), _towards((x2, y2), control)
    edge = line.sum
    title = html.escape("\n".join(line.texts))
    label = [f"&#215; {edge.count}"]  # a mean of catch-up and elections would mean nothing
    if edge.color != BACKGROUND:
        label[0] = f"{edge.needed}/{edge.total} {label[0]}"
        label.append(f"{edge.mean_ns / 1e6:.1f} ms, worst {edge.worst_ns / 1e6:.1f} ms")
    # A level edge passes between two lines, and a steep one through them.
    apart = 20 if abs(y2 - y1) < NODE_RADIUS else 13
    spans = "".join(
        f'<tspan x="{middle[0]:.1f}" y="{middle[1] - 6 + apart * row:.1f}">{words}</tspan>'
        for row, words in enumerate(label)
    )
    return (
        f"<g><title>{title}</title>"
        f'<path class="edge {edge.color}" marker-end="url(#{name}-{edge.color}-head)"'
        f' d="M{_at(*begin)} Q{_at(*control)} {_at(*end)}"/>'
        f'<text class="label">{spans}</text></g>'
    )


def _towards(node: tuple[float, float], point: tuple[float, float]) -> tuple[float, float]:
    """The rim of a node, in the direction of a point."""
    distance = math.hypot(point[0] - node[0], point[1] - node[1])
    share = NODE_RADIUS / distance if distance else 0.0
    return node[0] + (point[0] - node[0]) * share, node[1] + (point[1] - node[1]) * share


def _node(name: str, x: float, y: float) -> str:
    text = f'<text x="{x:.1f}" y="{y + 4:.1f}">{html.escape(name)}</text>'
    if name.startswith("s"):
        return f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="{NODE_RADIUS}"/>{text}'
    return (
        f'<rect class="node" x="{x - 40:.1f}" y="{y - 18:.1f}" width="80" height="36" rx="6"/>'
        f"{text}"
    )


def _at(x: float, y: float) -> str:
    return f"{x:.1f} {y:.1f}"
