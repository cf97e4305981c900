"""Fixtures: a checkout made of fakes, one command run against it, and its clusters."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from failslow import cli
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.cluster import replica_processes
from failslow.lab import course_key
from fakes import REPLICA, SUITES, TEST_BINARY, build_fakes, write_kit
from running import Cluster, Expect, Said

# A shell that runs the tests as a job in the background lets them, and their children, ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(cmake, "build", lambda *_, **__: None)
    monkeypatch.setattr(cmake, "configure", lambda *_: None)
    monkeypatch.setattr(cmake, "is_built_for_grading", lambda *_: True)
    monkeypatch.delenv(course_key.ENVIRONMENT, raising=False)
    return write_kit(tmp_path / "checkout")


@pytest.fixture
def simulated(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """The kit, whose suites in simulation behave as a submission says."""
    build_fakes(
        monkeypatch,
        "failslow.extras.shared.sims",
        lambda name: TEST_BINARY.format(tests=repr(SUITES[name.removesuffix("_sim")])),
    )
    return kit


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
    """A cluster's data directory that does not exist yet. All replicas end with the test."""
    build_fakes(monkeypatch, "failslow.extras.cluster.up", lambda _: REPLICA)
    yield tmp_path / "cluster"
    mine = [each for each in replica_processes.find() if tmp_path in each.data.parents]
    replica_processes.end(mine, grace_s=0)


@pytest.fixture
def cluster(expect: Expect, data: Path) -> Cluster:
    return Cluster(expect, data)


@pytest.fixture
def started(cluster: Cluster) -> Cluster:
    """The cluster, whose replicas run."""
    cluster.up()
    return cluster


@pytest.fixture
def tracked(kit: Kit) -> Kit:
    """The kit as a git checkout, with Gradescope's scripts and a file that git ignores."""
    scripts = kit.root / "autograder" / "gradescope"
    scripts.mkdir(parents=True)
    for name in ("setup.sh", "run_autograder", "Dockerfile"):
        (scripts / name).write_text(f"#!/bin/sh\necho {name}\n")
        (scripts / name).chmod(0o755)
    (kit.root / ".dockerignore").write_text("*.key\n")
    (kit.root / ".gitignore").write_text("build/\ncourse.key\n")
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", "-C", kit.root, *words], check=True)
    return kit
