"""A replica of `kit cluster` that has lost its data is refused, and may rejoin."""

import json
import shutil
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.cluster.layout import Layout
from fakes import REJOIN, write_program
from running import Cluster


@pytest.fixture(autouse=True)
def tool(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(kit.binary("rejoin_raft"), REJOIN)
    monkeypatch.setattr("failslow.extras.cluster.rejoining.cmake.build", lambda *_, **__: None)


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


def test_a_wiped_replica_does_not_start_and_is_told_how_to_rejoin(cluster: Cluster) -> None:
    cluster.up()
    lose(cluster, 1)
    said = cluster.expect(2, "start", 1)
    assert said.reason == "kit: replica 1 does not start: the data directory has no identity"
    assert "./kit cluster start 1 --rejoin" in said.err
    assert cluster.numbers() == [0, 2]
    cluster.expect(0, "down")
    assert "replica 1 does not start" in cluster.up(code=2).reason


def test_a_replica_rejoins_with_the_data_of_others_that_were_started_again(
    cluster: Cluster,
) -> None:
    cluster.up()
    cluster.expect(0, "kill", 1)
    (data_of(cluster, 1) / "rest").write_text("what is left")
    before = cluster.pids()
    out = cluster.expect(0, "start", 1, "--rejoin").out
    assert "replica 1: has the log of replica-2, up to index 812" in out
    assert (data_of(cluster, 1).with_name("replica-1.lost-1") / "rest").exists()
    assert not (data_of(cluster, 1) / "rest").exists()
    assert cluster.numbers() == [0, 1, 2]
    assert not {*before} & {*cluster.pids()}
    lose(cluster, 1)
    assert "replica-1.lost" not in cluster.expect(0, "start", 1, "--rejoin").out


def test_a_replica_does_not_rejoin_without_a_majority_of_the_others(cluster: Cluster) -> None:
    cluster.up()
    lose(cluster, 1)
    cluster.expect(0, "kill", 2)
    reason = cluster.expect(2, "start", 1, "--rejoin").reason
    assert reason == "kit: replica 1 needs 2 others that run to rejoin, and has 1"
    cluster.expect(0, "start", 2)
    assert "replica 2 runs: it has lost nothing" in cluster.expect(2, "start", 2, "--rejoin").reason


def test_a_failed_attempt_to_rejoin_leaves_the_data_alone(cluster: Cluster) -> None:
    cluster.up()
    cluster.expect(0, "kill", 1)
    (data_of(cluster, 1) / "rest").write_text("what is left")
    (data_of(cluster, 2) / "damaged").touch()
    reason = cluster.expect(2, "start", 1, "--rejoin").reason
    assert "replica 1 cannot rejoin: " in reason
    assert "the snapshot is damaged" in reason
    assert (data_of(cluster, 1) / "rest").exists()
    assert cluster.numbers() == [0, 2]
    (data_of(cluster, 2) / "damaged").unlink()
    cluster.expect(0, "start", 1, "--rejoin")


def test_a_lab_whose_replicas_cannot_rejoin_says_so(cluster: Cluster, kit: Kit) -> None:
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("  rejoin: rejoin_raft\n", ""))
    cluster.up()
    lose(cluster, 1)
    reason = cluster.expect(2, "start", 1, "--rejoin").reason
    assert reason == "kit: a replica of lab2 cannot rejoin: start a new cluster"


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
