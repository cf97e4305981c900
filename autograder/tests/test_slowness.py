"""Slowness propagation graphs and warnings: read, merged, drawn."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.cluster import verification
from failslow.extras.cluster.layout import Layout
from failslow.extras.replay import html_report as replay_page
from failslow.extras.replay import recording
from failslow.extras.slowness import drawing, html_report
from failslow.extras.slowness.graph import FIRST_CLIENT, dot, graph_of, merged
from failslow.extras.slowness.warnings import joined
from recordings import SHOWS, Recording, edge


def graph_json(*edges: dict[str, Any]) -> dict[str, Any]:
    return {"replicas": 3, "edges": list(edges)}


QUORUM = edge(0, [1, 2], "green", needed=2, total=3)
CLIENT = edge(FIRST_CLIENT + 5, [0], "red", coroutine="", event="request")
CATCH_UP = edge(0, [2], "background", coroutine="catch-up", event="AppendEntries")


def warning(**rest: Any) -> dict[str, Any]:  # noqa: ANN401
    given = {"kind": "not-finalized", "replica": 0, "coroutine": "round", "wait": "", "peers": [2]}
    return {**given, "text": "3 coroutines", **rest}


def test_graphs_of_processes_and_windows_add_up() -> None:
    later = {**QUORUM, "count": 5, "total_ns": 25_000_000, "worst_ns": 8_000_000}
    graph = merged([graph_json(QUORUM), graph_json(later), graph_json(CLIENT)])
    assert len(graph.edges) == 2
    (quorum,) = (each for each in graph.edges if each.color == "green")
    assert (quorum.count, quorum.mean_ns, quorum.worst_ns) == (15, 3_000_000, 9_000_000)
    assert quorum.receivers == (1, 2)
    assert graph.names == {0: "s0", 1: "s1", 2: "s2", FIRST_CLIENT + 5: "c1"}


def test_many_clients_are_one_vertex() -> None:
    clients = [
        edge(FIRST_CLIENT + number, [0], "red", coroutine="", event="request")
        for number in range(50)
    ]
    graph = graph_of(graph_json(QUORUM, *clients))
    assert graph.names[FIRST_CLIENT] == "50 clients"
    (from_clients,) = (each for each in graph.edges if each.sender == FIRST_CLIENT)
    assert from_clients.count == 500


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"replicas": 3, "edges": [{}]},
        graph_json({**QUORUM, "color": "blue"}),
        graph_json({**QUORUM, "count": None}),
    ],
)
def test_what_is_no_graph_is_one_sentence(value: dict[str, Any]) -> None:
    with pytest.raises(CannotDo, match="this is no graph"):
        graph_of(value)


def test_dot_has_every_edge_with_its_colour() -> None:
    text = dot(graph_of(graph_json(QUORUM, CLIENT, CATCH_UP)))
    lines = [line for line in text.splitlines() if "->" in line]
    assert [line.split("[")[0].strip() for line in lines] == [
        '"s0" -> "s1"',
        '"s0" -> "s2"',
        '"s0" -> "s2"',
        '"c1" -> "s0"',
    ]
    (catch_up,) = (line for line in lines if "catch-up" in line)
    assert "style=dashed" in catch_up
    (client,) = (line for line in lines if '"c1"' in line)
    assert '"#c22"' in client
    assert "10 waits, mean 2.0 ms, worst 9.0 ms" in client
    assert sum('label="2/3' in line for line in lines) == 2


def paths(svg: str) -> list[tuple[str, str]]:
    """The class of each drawn edge, and its path."""
    space = "{http://www.w3.org/2000/svg}"
    drawn = ET.fromstring(svg).iter(f"{space}path")
    return [
        (path.attrib["class"], path.attrib["d"])
        for path in drawn
        if path.attrib["class"].startswith("edge ")
    ]


def test_the_drawing_has_a_line_for_each_edge_and_none_covers_another() -> None:
    svg = drawing.svg(graph_of(graph_json(QUORUM, CLIENT, CATCH_UP)))
    drawn = paths(svg)
    assert sorted(colour for colour, _ in drawn) == [
        "edge background",
        "edge green",
        "edge green",
        "edge red",
    ]
    assert len({way for _, way in drawn}) == 4
    assert svg == drawing.svg(graph_of(graph_json(CATCH_UP, QUORUM, CLIENT)))


def test_a_call_to_oneself_is_in_the_table_alone() -> None:
    graph = graph_of(graph_json(edge(0, [0], "red", coroutine="odd")))
    assert paths(drawing.svg(graph)) == []
    assert "odd waits on quorum" in drawing.table(graph)


def test_names_of_a_submission_are_no_markup() -> None:
    graph = graph_of(graph_json(edge(0, [1], "red", coroutine='<b>"')))
    text = html_report.document("title", graph, joined([warning(text="<i>")]))
    assert "<b>" not in text
    assert "<i>" not in text
    assert '\\"' in dot(graph)


def test_a_warning_of_several_windows_is_one_line() -> None:
    other = warning(peers=[1])
    warned = joined([warning(), other, warning(text="9 coroutines")])
    assert [each.line() for each in warned] == [
        "not-finalized, replica 0, 2 windows: 9 coroutines",
        "not-finalized, replica 0, 1 window: 3 coroutines",
    ]
    with pytest.raises(CannotDo, match="this is no warning"):
        joined([{"kind": "x"}])


def test_the_page_says_what_the_graph_says() -> None:
    text = html_report.document("title", graph_of(graph_json(QUORUM, CLIENT)), [])
    assert "raised no warning" in text
    assert text.rindex("a client waits on request") < text.rindex("round waits on quorum")


def test_windows_are_read_up_to_a_line_that_breaks_off(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    with pytest.raises(CannotDo, match="no window"):
        verification.read(layout, 3)
    line = json.dumps({"warnings": [], "graph": graph_json(QUORUM)})
    layout.verification(0).write_text(f"{line}\n{line}\n")
    layout.verification(2).write_text(f"{line}\n{line[:20]}")
    assert len(verification.read(layout, 3)) == 3
    layout.verification(1).write_text("nonsense\n")
    with pytest.raises(CannotDo, match="replica-1"):
        verification.read(layout, 3)


def test_the_replay_page_has_the_graph_of_its_run(tmp_path: Path) -> None:
    made = Recording()
    made.add("verification", 9, warnings=[warning()], graph=graph_json(QUORUM))
    worlds = recording.read(made.write(tmp_path / "record"))
    subject = replay_page.Subject("lab", "Test.One", "holds", "1", True, ())
    text = replay_page.document(subject, worlds, SHOWS)
    assert "not-finalized, replica 0, 1 window: 3 coroutines" in text
    without = recording.read(Recording().write(tmp_path / "other"))
    assert '"slowness":""' in replay_page.document(subject, without, SHOWS)
