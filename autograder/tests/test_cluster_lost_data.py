"""A replica of `kit cluster` that has lost its data is refused."""

import json
import shutil
from pathlib import Path

from failslow.extras.cluster.layout import Layout
from running import Cluster


def data_of(cluster: Cluster, number: int) -> Path:
    return Layout(cluster.data).replica(number)


def lose(cluster: Cluster, number: int) -> None:
    """The replica dies, and its data with it."""
    cluster.expect(0, "kill", number)
    shutil.rmtree(data_of(cluster, number))


def test_up_gives_each_replica_an_identity_once(started: Cluster) -> None:
    manifests = [data_of(started, number) / "replica.manifest" for number in range(3)]
    (name,) = {each.read_text() for each in manifests}
    assert name == json.loads((started.data / "cluster.json").read_text())["cluster"]
    started.expect(0, "down")
    started.up()
    assert {each.read_text() for each in manifests} == {name}


def test_a_wiped_replica_does_not_start_and_is_told_why(started: Cluster) -> None:
    lose(started, 1)
    said = started.expect(2, "start", 1)
    assert said.reason == "kit: replica 1 does not start: the data directory has no identity"
    assert "it must not vote again" in said.err
    assert started.numbers() == [0, 2]
    started.expect(0, "down")
    assert "replica 1 does not start" in started.up(code=2).reason


def test_a_replica_that_dies_within_its_first_second_is_told_with_its_reason(
    started: Cluster,
) -> None:
    started.expect(0, "kill", 1)
    program = started.data / "lab2_real"
    program.write_text(f"{program.read_text()}# FAILS_LATER:1\n")
    reason = started.expect(2, "start", 1).reason
    why = "an exception escaped: the write-ahead log makes no sense"
    assert reason == f"kit: replica 1 ended at once: {why}"
