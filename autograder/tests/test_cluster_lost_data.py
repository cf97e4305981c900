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


def test_up_gives_each_replica_an_identity_once(cluster: Cluster) -> None:
    cluster.up()
    manifests = [data_of(cluster, number) / "replica.manifest" for number in range(3)]
    (name,) = {each.read_text() for each in manifests}
    assert name == json.loads((cluster.data / "cluster.json").read_text())["cluster"]
    cluster.expect(0, "down")
    cluster.up()
    assert {each.read_text() for each in manifests} == {name}


def test_a_wiped_replica_does_not_start_and_is_told_why(cluster: Cluster) -> None:
    cluster.up()
    lose(cluster, 1)
    said = cluster.expect(2, "start", 1)
    assert said.reason == "kit: replica 1 does not start: the data directory has no identity"
    assert "it must not vote again" in said.err
    assert cluster.numbers() == [0, 2]
    cluster.expect(0, "down")
    assert "replica 1 does not start" in cluster.up(code=2).reason


def test_a_replica_that_dies_within_its_first_second_is_told_with_its_reason(
    cluster: Cluster,
) -> None:
    cluster.up()
    cluster.expect(0, "kill", 1)
    program = cluster.data / "lab2_real"
    program.write_text(f"{program.read_text()}# FAILS_LATER:1\n")
    reason = cluster.expect(2, "start", 1).reason
    why = "an exception escaped: the write-ahead log makes no sense"
    assert reason == f"kit: replica 1 ended at once: {why}"


def test_data_of_an_earlier_kit_are_refused(cluster: Cluster) -> None:
    cluster.up()
    cluster.expect(0, "down")
    file = cluster.data / "cluster.json"
    content = json.loads(file.read_text())
    del content["cluster"]
    file.write_text(json.dumps(content))
    reason = cluster.up(code=2).reason
    assert "holds data of an earlier version of the kit, without an identity" in reason
