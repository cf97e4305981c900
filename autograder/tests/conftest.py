"""Fixtures: a checkout made of fakes, one command run against it, and its clusters."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from failslow import cli, cmake
from failslow import compile as compile_module
from failslow.cluster import replica_processes
from failslow.kit import Kit
from fakes import REPLICA, write_kit, write_program, write_submission


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(cmake, "build", lambda *_, **__: None)
    monkeypatch.setattr(cmake, "configure", lambda *_: None)
    return write_kit(tmp_path / "checkout")


@pytest.fixture
def run_kit(kit: Kit) -> Callable[..., int]:
    """Runs `kit ARGUMENTS...` against the fake checkout and returns its exit code."""
    return lambda *arguments: cli.main([str(word) for word in arguments], kit)


@pytest.fixture
def data(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cluster's data directory that does not exist yet. Every build makes a fake replica, and its
    program contains the behaviour of the submission. All replicas end with the test."""
    real = compile_module.build_submission

    def build(*arguments: object) -> Path:
        programs = real(*arguments)
        words = (programs / "lab2_real").read_text()
        if not words.startswith("#!"):
            lines = "".join(f"# {line}\n" for line in words.splitlines())
            write_program(programs / "lab2_real", REPLICA + lines)
        return programs

    monkeypatch.setattr("failslow.cluster.up.build_submission", build)
    yield tmp_path / "cluster"
    mine = [each for each in replica_processes.find() if tmp_path in each.data.parents]
    replica_processes.end(mine, grace_s=0)


@pytest.fixture
def up(run_kit: Callable[..., int], data: Path) -> Callable[..., int]:
    """Starts a cluster whose submission holds the given words."""

    def run(words: str = "", *arguments: object) -> int:
        tree = data.parent / "mine"
        shutil.rmtree(tree, ignore_errors=True)
        write_submission(tree, "", words)
        return run_kit("cluster", "up", tree, "--data", data, *arguments)

    return run
