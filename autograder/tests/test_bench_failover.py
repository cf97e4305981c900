"""The waits around a leader's end, from the answers that clients got."""

import pytest

from failslow.extras.bench import failover
from failslow.extras.bench.failover import Answer, Waits
from failslow.extras.cluster.metrics import Metrics
from failslow.lab.labs import ClusterView
from failslow.lab.shown import Shown

LOST = 10.0


def test_a_waiting_command_counts_from_the_signal() -> None:
    client = [
        Answer(9.8, 9.9, b":1\r\n"),
        Answer(9.9, 10.4, b":2\r\n"),
        Answer(10.4, 10.5, b":3\r\n"),
    ]
    found = failover.waits(LOST, [client], [], [])
    assert found.waiting == pytest.approx([400])
    assert found.unknown == 0


def test_a_waiting_command_without_a_reply_of_the_store_is_told() -> None:
    client = [Answer(9.9, 11.0, b"-UNKNOWN the leader was lost\r\n")]
    assert failover.waits(LOST, [client], [], []).unknown == 1


def test_a_new_command_counts_from_its_sending() -> None:
    found = failover.waits(LOST, [], [Answer(10.1, 10.35, b"+OK\r\n")], [])
    assert found.new == pytest.approx([250])


def test_a_gap_lies_between_executed_commands() -> None:
    client = [
        Answer(9.8, 9.9, b"+OK\r\n"),
        Answer(9.9, 10.0, b"-UNKNOWN the leader was lost\r\n"),
        Answer(10.0, 10.3, b"-TRYAGAIN no leader\r\n"),
        Answer(10.3, 10.6, b"+OK\r\n"),
        Answer(10.6, 10.7, b"+OK\r\n"),
    ]
    assert failover.gap_at(LOST, client) == pytest.approx(0.7)
    assert failover.waits(LOST, [], [], [client]).gaps == pytest.approx([700])


VIEW = ClusterView(
    (Shown("role", 1, 1, ("follower", "candidate", "leader")), Shown("term", 1, 0)),
    ready_name="role",
    ready_is="leader",
    load="kv",
)


def told(term: int, role: int) -> Metrics:
    return Metrics({"observed": {"1": [term, role, 0, 0]}}, None)


def test_terms_without_a_leader_are_split_votes() -> None:
    assert failover.split_votes(4, [told(4, 0), None], VIEW) is None
    assert failover.split_votes(4, [told(5, 0), told(5, 2)], VIEW) == 0
    assert failover.split_votes(4, [told(7, 2), told(7, 0)], VIEW) == 2


def test_the_figures_are_of_all_rounds() -> None:
    rounds = [
        Waits([400.0], [300.0], [410.0], split=1),
        Waits([900.0], [310.0], [950.0], unknown=1, split=2),
    ]
    ends = {"killed": rounds, "stopped": [rounds[0], rounds[0]]}
    found = {figure.name: figure for figure in failover.figures(ends)}
    assert found["killed: waiting commands: longest"].value == 900
    assert found["killed: waiting commands: median"].value == 650
    assert not found["killed: waiting commands: median"].passed
    assert found["killed: new commands: median"].passed
    assert found["killed: waiting commands without a reply of the store"].value == 1
    assert found["killed: split votes"].value == 3
    assert found["stopped: waiting commands: longest"].value == 400
    assert found["stopped: split votes"].value == 2
