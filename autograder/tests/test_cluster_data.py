"""The data directories of `kit cluster`: their owners, their contents, and their names."""

import json
from pathlib import Path

import pytest

from clusters import RunKit, error_line, pids
from failslow.cluster import place
from failslow.cluster.layout import Layout
from failslow.kit import Kit


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--replicas", "5"], "holds data of 3 replicas, not of 5"),
        (["--lab", "lab1"], "lab1 does not run as a cluster"),
        (["--port", "65534"], "no 3 ports from 65534 on"),
        (["--port", "0"], "0 is not a port"),
    ],
)
def test_what_does_not_fit_the_data_is_refused(
    up: RunKit,
    run_kit: RunKit,
    data: Path,
    arguments: list[str],
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert up() == 0
    assert run_kit("cluster", "down", "--data", data) == 0
    before = (data / "cluster.json").read_text()
    capsys.readouterr()
    assert up("", *arguments) == 2
    assert complaint in error_line(capsys)
    assert (data / "cluster.json").read_text() == before


def test_data_of_another_lab_is_refused(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    assert run_kit("cluster", "down", "--data", data) == 0
    state = json.loads((data / "cluster.json").read_text())
    (data / "cluster.json").write_text(json.dumps({**state, "lab": "lab3"}))
    assert up() == 2
    assert "holds data of lab3, not of lab2" in error_line(capsys)


@pytest.mark.parametrize("text", ["{", "{}", '{"lab": "lab2"}', "[]"])
def test_a_damaged_state_is_said_in_one_line(
    up: RunKit, run_kit: RunKit, data: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    (data / "cluster.json").write_text(text)
    assert run_kit("cluster", "status", "--data", data) == 2
    assert str(data / "cluster.json") in error_line(capsys)
    assert run_kit("cluster", "down", "--data", data) == 0
    assert pids(data) == []


def test_a_directory_of_somebody_else_is_left_alone(
    up: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir()
    (data / "thesis.tex").write_text("years of work")
    assert up() == 2
    assert "is not empty and holds no cluster" in error_line(capsys)
    assert [path.name for path in data.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_data_directory(
    up: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data.write_text("")
    assert up() == 2
    assert "is not a directory" in error_line(capsys)


def test_code_that_does_not_compile_leaves_nothing(
    up: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up("SYNTAX") == 2
    assert "does not compile: lab2-raft/raft.cc:3:1: error" in error_line(capsys)
    assert not data.exists()


def test_two_commands_do_not_work_in_one_directory(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    with place.locked(Layout(data)):
        assert run_kit("cluster", "down", "--data", data) == 2
    assert "another ./kit cluster is at work" in error_line(capsys)
    assert len(pids(data)) == 3


def test_the_only_cluster_of_the_checkout_needs_no_name(
    kit: Kit, data: Path, run_kit: RunKit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_kit("cluster", "status") == 2
    assert "there is no cluster under" in error_line(capsys)
    assert run_kit("cluster", "down") == 0
    assert run_kit("cluster", "up") == 0
    assert len(pids(kit.root / "out" / "cluster" / "lab2")) == 3
    assert run_kit("cluster", "status") == 0
    assert run_kit("cluster", "down") == 0
    assert run_kit("cluster", "status") == 2


def test_one_of_several_clusters_must_be_named_unless_only_it_runs(
    kit: Kit, data: Path, run_kit: RunKit, capsys: pytest.CaptureFixture[str]
) -> None:
    other = kit.root / "out" / "cluster" / "other"
    assert run_kit("cluster", "up") == 0
    assert run_kit("cluster", "up", "--data", other) == 0
    capsys.readouterr()
    assert run_kit("cluster", "down") == 2
    assert "say which with --data" in error_line(capsys)
    assert run_kit("cluster", "down", "--data", other) == 0
    assert run_kit("cluster", "status") == 0
