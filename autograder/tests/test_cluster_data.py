"""The data directories of `kit cluster`: their owners, their contents, and their names."""

import json
import shutil
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.cluster import data_directory, replica_processes
from failslow.extras.cluster.layout import Layout
from running import Cluster, Expect


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--replicas", "5"], "holds data of 3 replicas, not of 5"),
        (["--lab", "lab1"], "lab1 does not run as a cluster"),
        (["--port", "65534"], "no 3 ports from 65534 on"),
        (["--port", "0"], "0 is not a port"),
    ],
)
def test_arguments_that_do_not_fit_the_data_are_refused(
    started: Cluster, arguments: list[str], complaint: str
) -> None:
    started.expect(0, "down")
    before = (started.data / "cluster.json").read_text()
    assert complaint in started.up("", *arguments, code=2).reason
    assert (started.data / "cluster.json").read_text() == before


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("lab", "lab3", "holds data of lab3, not of lab2"),
        ("cluster", None, "holds data of an earlier version of the kit, without an identity"),
    ],
)
def test_data_of_another_lab_or_kit_are_refused(
    started: Cluster, key: str, value: str | None, complaint: str
) -> None:
    started.expect(0, "down")
    file = started.data / "cluster.json"
    content = json.loads(file.read_text())
    del content[key]
    file.write_text(json.dumps(content if value is None else {**content, key: value}))
    assert complaint in started.up(code=2).reason


@pytest.mark.parametrize("text", ["{", "{}", '{"lab": "lab2"}', "[]"])
def test_a_damaged_state_is_said_in_one_line(started: Cluster, text: str) -> None:
    (started.data / "cluster.json").write_text(text)
    assert str(started.data / "cluster.json") in started.expect(2, "status").reason
    started.expect(0, "down")
    assert started.pids() == []


def test_a_directory_of_somebody_else_is_left_alone(cluster: Cluster) -> None:
    cluster.data.mkdir()
    (cluster.data / "thesis.tex").write_text("years of work")
    assert "is not empty and holds no cluster" in cluster.up(code=2).reason
    assert [path.name for path in cluster.data.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_data_directory(cluster: Cluster) -> None:
    cluster.data.write_text("")
    assert "is not a directory" in cluster.up(code=2).reason


def test_code_that_does_not_compile_leaves_nothing(cluster: Cluster) -> None:
    reason = cluster.up("SYNTAX", code=2).reason
    assert "does not compile: lab2-raft/raft.cc:3:1: error" in reason
    assert not cluster.data.exists()


def test_two_commands_do_not_work_in_one_directory(started: Cluster) -> None:
    with data_directory.locked(Layout(started.data)):
        assert "another ./kit cluster is at work" in started.expect(2, "down").reason
    assert len(started.pids()) == 3


@pytest.mark.usefixtures("data")
def test_the_only_cluster_of_the_checkout_needs_no_name(kit: Kit, expect: Expect) -> None:
    assert "there is no cluster under" in expect(2, "cluster", "status").reason
    expect(0, "cluster", "down")
    expect(0, "cluster", "up")
    assert len(replica_processes.find(kit.root / "out" / "cluster" / "lab2")) == 3
    expect(0, "cluster", "status")
    expect(0, "cluster", "down")
    expect(2, "cluster", "status")


@pytest.mark.usefixtures("data")
def test_one_of_several_clusters_must_be_named_unless_only_it_runs(
    kit: Kit, expect: Expect
) -> None:
    other = kit.root / "out" / "cluster" / "other"
    expect(0, "cluster", "up")
    expect(0, "cluster", "up", "--data", other)
    assert "say which with --data" in expect(2, "cluster", "down").reason
    expect(0, "cluster", "down", "--data", other)
    expect(0, "cluster", "status")


@pytest.fixture
def in_memory(kit: Kit) -> None:
    """The lab's replicas keep their logs in memory if the environment says so."""
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("cluster:\n", "cluster:\n  in_memory: {LOG: none}\n"))


def are_in_memory(cluster: Cluster) -> list[bool]:
    """Whether each of the replicas was told so."""
    there = [Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in cluster.pids()]
    return [b"LOG=none" in each for each in there]


@pytest.mark.usefixtures("in_memory")
def test_logs_are_in_memory_unless_they_shall_be_durable(cluster: Cluster) -> None:
    cluster.up()
    assert are_in_memory(cluster) == [True] * 3
    cluster.expect(0, "down")
    cluster.up("", "--durable")
    assert are_in_memory(cluster) == [False] * 3


@pytest.mark.usefixtures("in_memory")
def test_a_replica_that_has_lost_its_log_does_not_start(cluster: Cluster, expect: Expect) -> None:
    cluster.up()
    for fault in (("crash",), ("power-cut",), ("disk-error", "--strength", "10%")):
        words = ("inject", *fault, "--target", 0, "--for", "1s", "--data", cluster.data)
        assert "none can start again" in expect(2, "faults", *words).reason
    assert cluster.numbers() == [0, 1, 2]
    cluster.expect(0, "kill", 1)
    assert "none can start again" in cluster.expect(2, "start", 1).reason
    assert cluster.numbers() == [0, 2]


@pytest.mark.usefixtures("in_memory")
def test_what_is_on_disk_is_kept_and_the_rest_forgotten(cluster: Cluster) -> None:
    file = Layout(cluster.data).replica(0) / "log"
    cluster.up("", "--durable")
    file.write_text("years of work")
    cluster.expect(0, "down")
    assert "holds logs: add --durable" in cluster.up(code=2).reason
    cluster.up("", "--durable")
    assert file.read_text() == "years of work"


@pytest.mark.usefixtures("in_memory")
def test_a_cluster_in_memory_begins_anew(cluster: Cluster) -> None:
    file = Layout(cluster.data).replica(0) / "started"
    for words in ((), ("--durable",)):
        cluster.up()
        file.write_text("once")
        cluster.expect(0, "down")
        cluster.up("", *words)
        assert not file.exists()
        cluster.expect(0, "down")
        shutil.rmtree(cluster.data)
