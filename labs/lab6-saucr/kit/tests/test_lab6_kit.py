"""Lab 6 alone: what pairs of `kit bench saucr` say, and the status of a replica that recovers."""

import pytest

from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.extras.bench.load import Result
from failslow.extras.cluster.status import DEAD, RUNS, ReplicaStatus, with_answers
from failslow.lab.labs import load_labs

KIT = this_kit()
LAB = load_labs(KIT).get("lab6")
lab6 = lab_kits.load(KIT, LAB)
assert lab6 is not None
saucr = lab6.real_processes


def pairs(*lost: float) -> list[tuple[Result, Result]]:
    """Pairs in which SAUCR has lost these shares of what a log in memory does."""
    return [(of(1000), of(1000 * (1 - share))) for share in lost]


def of(puts: float) -> Result:
    return Result(puts, 0.0, {}, 0.0)


@pytest.mark.parametrize(
    ("shares", "word", "passed"),
    [
        ([0.03] * 5, "PASS", True),
        ([-0.2] * 5, "PASS", True),
        ([0.06] * 5, "FAIL", False),
        ([0.01, 0.01, 0.04, 0.09, 0.09], "INCONCLUSIVE", True),
    ],
)
def test_a_cost_is_known_or_inconclusive(shares: list[float], word: str, passed: bool) -> None:
    cost, low, high = saucr.lost("8 clients", pairs(*shares), 5.0)
    assert cost.name == f"8 clients: {word}"
    assert cost.passed == passed
    assert low.value <= cost.value <= high.value
    assert (cost.bar is None) == (word == "INCONCLUSIVE")


def test_a_log_on_disks_stands_beside_one_in_memory() -> None:
    memory, disk = saucr.times("puts", pairs(0.5, 0.6, 0.5))
    assert (memory.value, disk.value) == (1000, 500)


def test_a_recovering_replica_says_how_many_answers_it_may_get() -> None:
    words = ("recovering", "on disk", "recovering", None, None)
    group = [
        ReplicaStatus(number, 0, RUNS if word else DEAD, 1, shows={"recovery": word})
        for number, word in enumerate(words)
    ]
    remarks = [each.remark for each in with_answers(LAB, group)]
    assert remarks == ["recovering: 1 of 2 answers", "", "recovering: 1 of 2 answers", "", ""]
