"""Fixtures: a checkout made of fakes, one command run against it, and its clusters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from failslow import cli, cmake
from failslow import compile as compile_module
from failslow.cluster import replica_processes
from failslow.kit import Kit
from fakes import REPLICA, write_kit, write_program
from running import Cluster, Expect, Said


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(cmake, "build", lambda *_, **__: None)
    monkeypatch.setattr(cmake, "configure", lambda *_: None)
    return write_kit(tmp_path / "checkout")


@pytest.fixture
def expect(kit: Kit, capfd: pytest.CaptureFixture[str]) -> Expect:
    def run(code: int | None, *arguments: object) -> Said:
        capfd.readouterr()
        ended = cli.main([str(word) for word in arguments], kit)
        said = Said(*capfd.readouterr())
        assert code in (None, ended), said.err
        return said

    return run


@pytest.fixture
def data(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cluster's data directory that does not exist yet. What is built becomes a fake replica: its
    own program tells it how the submission wants to behave. All replicas end with the test."""
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
def cluster(expect: Expect, data: Path) -> Cluster:
    return Cluster(expect, data)
