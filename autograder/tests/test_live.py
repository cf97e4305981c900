"""The page of a running cluster: what it reads from the data directory, and its server."""

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import claim
from failslow.extras.live import server, view
from failslow.extras.live.view import Subject
from failslow.lab.shown import Shown
from recordings import edge

ROLE = Shown("role", 1, 1, ("follower", "leader"))
TERM = Shown("term", 1, 0)


def line(uptime_ms: int, requests: int, role: int = 1) -> str:
    content = {
        "uptime_ms": uptime_ms,
        "observed": {"1": [7, role]},
        "held_bytes": [0, 2048, 0],
        "client_frames_in": requests,
        "frames_in": 10 * requests,
        "frames_out": 10 * requests,
        "disk_syncs": 2 * requests,
        "cpu_ms": requests,
    }
    return json.dumps(content) + "\n"


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    layout = Layout(tmp_path)
    layout.metrics(0).write_text(line(1000, 0) + line(2000, 100) + '{"cut off')
    layout.metrics(1).write_text(line(1000, 0, role=0))
    layout.metrics(2).write_text("")
    return Subject(layout, "lab2 of mine", (ROLE, TERM))


def test_replicas_are_shown_by_their_latest_metrics(subject: Subject) -> None:
    now = view.of(subject)
    assert (now["title"], now["columns"]) == ("lab2 of mine", ["role", "term"])
    first, second, third = now["replicas"]
    assert first == {
        "id": 0,
        "state": "runs",
        "shows": ["leader", "7"],
        "requests_per_s": 100.0,
        "frames_per_s": 2000.0,
        "syncs_per_s": 200.0,
        "cpu_percent": 10.0,
        "held_bytes": [0, 2048, 0],
    }
    assert second["shows"] == ["follower", "7"]
    assert second["requests_per_s"] is None
    assert third == {"id": 2, "state": "silent"}


def test_a_replica_without_new_metrics_is_silent(subject: Subject) -> None:
    long_ago = time.time() - 60
    os.utime(subject.layout.metrics(0), (long_ago, long_ago))
    first, second, _ = view.of(subject)["replicas"]
    assert first["state"].startswith("silent for 60")
    assert second["state"] == "runs"


def test_faults_that_are_on_are_shown(subject: Subject) -> None:
    assert view.of(subject)["faults"] == []
    mine = claim.of_this_process(1, "net-slow", "net-slow 40 ms", "link layer", 1000.0)
    with claim.claimed(subject.layout, mine):
        (fault,) = view.of(subject)["faults"]
    assert fault.startswith("replica 1: net-slow 40 ms for ")
    assert view.of(subject)["faults"] == []


@pytest.mark.parametrize(("text", "load"), [('{"mean_us": 5}', {"mean_us": 5}), ("{", None)])
def test_the_load_is_shown_if_there_is_one(
    subject: Subject, text: str, load: dict[str, int] | None
) -> None:
    assert view.of(subject)["load"] is None
    subject.layout.load.write_text(text)
    assert view.of(subject)["load"] == load


def test_the_graph_is_that_of_the_latest_windows(subject: Subject) -> None:
    assert view.of(subject)["graph"] == ""
    edges = [edge(0, [1, 2], "green", coroutine="<replicate>")]
    window = {"graph": {"replicas": 3, "edges": edges}}
    subject.layout.verification(0).write_text("{}\n" + json.dumps(window) + "\n")
    drawn = view.of(subject)["graph"]
    assert drawn.startswith("<svg")
    assert "&lt;replicate&gt;" in drawn
    assert "<replicate>" not in drawn
    subject.layout.verification(0).write_text("{}\n")
    assert view.of(subject)["graph"] == ""


def test_a_description_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "lab.json"
    shown = {"name": "role", "kind": 1, "value": 1, "words": ["follower", "leader"]}
    path.write_text(json.dumps({"lab": "lab3", "solution": "labs", "shows": [shown]}))
    read = view.read_subject(tmp_path, path)
    assert (read.title, read.columns) == ("lab3 of labs", (ROLE,))
    for text in ("", "[]", '{"lab": "lab3"}'):
        path.write_text(text)
        with pytest.raises(CannotDo, match=r"cannot read .*lab\.json"):
            view.read_subject(tmp_path, path)


@pytest.fixture
def address(subject: Subject) -> Iterator[str]:
    begun: list[str] = []
    ready = threading.Event()

    def begin(at: str) -> None:
        begun.append(at)
        ready.set()

    run = threading.Thread(target=server.serve, args=(subject, "127.0.0.1", 0, begin), daemon=True)
    run.start()
    assert ready.wait(10)
    yield begun[0]


def test_the_server_has_the_page_and_its_figures(address: str, subject: Subject) -> None:
    with urlopen(f"{address}now.json") as answer:
        assert json.load(answer)["title"] == "lab2 of mine"
        assert answer.headers["Cache-Control"] == "no-store"
    for path, kind in (("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css")):
        with urlopen(address + path) as answer:
            assert answer.headers["Content-Type"].startswith(kind)
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert len(answer.read()) > 0


@pytest.mark.parametrize("path", ["view.py", "../errors.py", "%2e%2e/errors.py", "now.json/x"])
def test_the_server_has_nothing_else(address: str, path: str) -> None:
    with pytest.raises(HTTPError, match="404"):
        urlopen(address + path)


def test_a_port_that_is_taken_is_refused(address: str, subject: Subject) -> None:
    port = int(address.rstrip("/").rpartition(":")[2])
    with pytest.raises(CannotDo, match=f"cannot listen on 127.0.0.1:{port}"):
        server.serve(subject, "127.0.0.1", port, lambda _: None)
