"""A student's first steps with processes: a cluster of each kind of log, and an experiment."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.shared import waiting
from failslow.lab.labs import Lab, load_labs

LABS = (pytest.param("lab3", marks=pytest.mark.full), "lab5")
"""The store on Raft's log, which the Redis clients' tests start, too, and on Copilot's."""
GRAPH_S = 30.0
EXIT_CANNOT = 2


class Cluster:
    """A cluster of a lab's reference. Commands end with the exit code that is expected."""

    def __init__(self, kit: Kit, lab: Lab, place: Path) -> None:
        self.place = place
        self._kit = kit
        self._lab = lab
        self._data = place / "data"

    def expect(self, exit_code: int, action: str, *words: str) -> str:
        done = self._run("cluster", action, *words)
        assert done.exit_code == exit_code, f"{action}: {done.how_it_ended()}\n{done.errors}"
        return done.output

    def faults(self, action: str, *words: str) -> process.Completed:
        argv = [self._kit.root / "fault-scripts" / action, *words, "--data", self._data]
        done = process.run(argv, cwd=self.place)
        assert done.exit_code == 0, f"{action}: {done.errors}"
        return done

    def proposer(self) -> int:
        """The first replica whose role proposes commands."""
        assert self._lab.cluster is not None
        name, roles = self._lab.cluster.ready_name, self._lab.cluster.proposers
        replicas: list[dict[str, Any]] = json.loads(self.expect(0, "status", "--json"))["replicas"]
        return next(each["id"] for each in replicas if each["shows"].get(name) in roles)

    def draws(self) -> bool:
        """Whether the replicas' verification yields a graph."""
        return self._run("cluster", "graph").exit_code != EXIT_CANNOT

    def _run(self, *words: str) -> process.Completed:
        argv = [self._kit.root / "kit", *words, "--data", self._data]
        return process.run(argv, cwd=self.place)


@pytest.fixture(params=LABS)
def cluster(kit: Kit, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    lab = load_labs(kit).get(request.param)
    found = Cluster(kit, lab, tmp_path)
    try:
        found.expect(0, "up", "--lab", lab.id, "--verify", "--durable")
        yield found
    finally:
        found.expect(0, "down")


def test_a_proposer_is_killed_and_started_again(cluster: Cluster) -> None:
    """Then its power is cut."""
    proposer = str(cluster.proposer())
    for end in (
        lambda: cluster.expect(0, "kill", proposer),
        lambda: cluster.faults("inject", "power-cut", "--target", proposer),
    ):
        end()
        cluster.expect(1, "status")
        cluster.expect(0, "start", proposer)
        cluster.expect(0, "status")


def test_a_real_replica_is_slow_for_a_moment_and_nothing_is_left(cluster: Cluster) -> None:
    """A crash is an end and a restart."""
    for fault in ("net-slow", "cpu-slow", "disk-slow", "partition", "crash"):
        words = ("inject", fault, "--target", "follower", "--for", "300ms")
        assert "(follower): healed" in cluster.faults(*words).errors, fault
    for action in ("list", "heal"):
        assert "no fault is on" in cluster.faults(action).output


def test_verification_draws_a_graph_once_the_first_window_is_over(cluster: Cluster) -> None:
    assert waiting.until(cluster.draws, GRAPH_S)
    assert (cluster.place / "out" / "slowness.html").is_file()


@pytest.mark.full
def test_an_experiment_with_a_slow_follower_has_a_verdict(kit: Kit, tmp_path: Path) -> None:
    """The verdict itself depends on the machine."""
    out = tmp_path / "faults"
    argv = [kit.root / "kit", "faults", "run", "--fault", "net-slow", "--quick", "--json"]
    done = process.run([*argv, "--out", out], cwd=tmp_path)
    assert done.exit_code in (0, 1), done.errors
    assert len(re.findall(r'"word": "(PASS|FAIL|INCONCLUSIVE)"', done.output)) == 1, done.output
    assert (out / "experiments.html").is_file()
