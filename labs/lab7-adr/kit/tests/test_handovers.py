"""Levels, suspicions and hand-overs of lab 7: in a status, in a replay, and in experiments."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.extras.cluster import tables
from failslow.extras.cluster.status import RUNS, ReplicaStatus
from failslow.extras.faults.experiment import SLOW, Run
from failslow.extras.faults.verdict import FAIL, INCONCLUSIVE, PASS
from failslow.extras.replay import html_report, recording, rows
from failslow.extras.replay.rows import rows_of
from failslow.lab.labs import load_labs
from recordings import Recording, data_of

KIT = this_kit()
LAB7 = load_labs(KIT).get("lab7")
lab7, VIEW = lab_kits.load(KIT, LAB7), LAB7.cluster
assert lab7 is not None and VIEW is not None
handovers = lab7.handovers
Handover = handovers.Handover
SHOWS = {shown.name: shown for shown in VIEW.shows}
SUBJECT = html_report.Subject("lab7", "HandOver.ToAWellPeer", "It works.", "7", True, ())


# ---- a status ----


@pytest.mark.parametrize(
    ("name", "values", "cell"),
    [
        ("processor", [2, 23_100, 2400, 0], "fatal: 23.10 > 2.40 ms"),
        ("disk", [0, 2400, 2400, 0], "usual: 2.40 <= 2.40 ms"),
        ("network", [], None),
        ("suspects", [0, 0, 0, 0], "nobody"),
        ("suspects", [1, 0, 0, 0], "itself"),
        ("suspects", [3, 0, 0, 0], "everybody"),
        ("suspects", [6, 0, 0, 0], "replica 2"),
        ("handed over to", [2, 5 * 10**9, 0, 0], "2, 12 s ago"),
        ("role", [7, 2, 0, 0], "leader"),
    ],
)
def test_a_cell_says_a_level_a_suspect_or_a_hand_over(
    name: str, values: list[int], cell: str | None
) -> None:
    assert SHOWS[name].cell(values, now_ns=17 * 10**9) == cell


def test_health_has_a_table_of_its_own() -> None:
    assert VIEW is not None
    replica = ReplicaStatus(0, 7000, RUNS, 1, shows={"role": "leader", "suspects": "itself"})
    _, health = tables.replicas_tables(VIEW, [replica])
    assert [str(column.header) for column in health.columns] == [
        *("replica", "processor", "disk", "network", "suspects", "handed over to")
    ]
    assert [next(column.cells) for column in health.columns] == ["0", "-", "-", "-", "itself", "-"]
    lab6 = load_labs(KIT).get("lab6").cluster
    assert lab6 is not None
    assert len(tables.replicas_tables(lab6, [replica])) == 1


# ---- a replay ----


@pytest.fixture
def world(tmp_path: Path) -> recording.World:
    """Replica 0 finds its processor slow, hands over to 2, and is well again."""
    made = Recording()
    for number, claims in enumerate(
        (
            "5,0,1000,1200,0 8,0,0,0,0",
            "5,0,1000,1200,0 8,0,0,0,0",
            "5,2,23100,1200,0 8,1,0,0,0",
            "5,2,23100,1200,0 8,1,0,0,0 9,2,2500000,0,0",
            "5,0,1000,1200,0 8,0,0,0,0 9,2,2500000,0,0",
        )
    ):
        made.wait(number, 0, 1, name="health", label="timeout", event=f"claims {claims}")
        made.add(
            "woke",
            number + 0.5,
            replica=0,
            id=1,
            outcome="timed out",
            event="claims 8,0,0,0,0",
            peers="",
        )
    (found,) = recording.read(made.write(tmp_path / "record"))
    return found


def page(world: recording.World) -> dict[str, Any]:
    text = html_report.document(SUBJECT, [world], tuple(SHOWS.values()))
    shown: dict[str, Any] = data_of(text)["worlds"][0]
    return shown


def test_claims_in_the_words_of_a_wait_are_shown(world: recording.World) -> None:
    drawn = page(world)
    processor = list(SHOWS).index("processor")
    assert drawn["shown"][processor] == [[0, 0, 0], [2000, 0, 2], [4000, 0, 0]]
    assert drawn["figures"][processor] == [
        [0, 0, 1000, 1200],
        [2000, 0, 23_100, 1200],
        [4000, 0, 1000, 1200],
    ]
    assert drawn["figures"][list(SHOWS).index("role")] == []
    assert {(wait.event, wait.at_end) for wait in world.waits} == {("timeout", "timeout")}


def test_words_that_are_no_claims_stay(tmp_path: Path) -> None:
    made = Recording()
    for when, words in enumerate(("claims the lock", "claims 5,1", "claims 5,1,2,3,x")):
        made.wait(when, 0, 1, event=words)
    (world,) = recording.read(made.write(tmp_path / "record"))
    assert [wait.event for wait in world.waits][:2] == ["claims the lock", "claims 5,1"]
    assert world.observed == []


def test_suspicions_and_hand_overs_are_marks(world: recording.World) -> None:
    assert page(world)["marks"] == [
        [2000, 0, "suspects itself", "no", False],
        [4000, 0, "suspects nobody", "yes", False],
        [3000, 0, "handed over to 2", "", False],
    ]


def test_coroutines_of_a_folded_name_have_one_row(tmp_path: Path) -> None:
    made = Recording()
    for number in range(3):
        made.wait(number, 0, 10 + number, name="health answer")
    made.wait(3, 0, 20, name="replicate")
    worlds = recording.read(made.write(tmp_path / "record"))
    assert rows_of(worlds[0].waits) == [0, 1, 2, 3]
    rows.fold(worlds, ("health disk", "health answer"))
    assert rows_of(worlds[0].waits) == [0, 0, 0, 1]


# ---- an experiment ----


def slow_run(down_s: float, of_usual: float) -> Run:
    """A fault of 30 s after 20 s. Nothing ends for a time, then a share of what did before."""
    down = round(10 * down_s)
    later = [[1] * round(100 * of_usual)] * (320 - down)
    slices = [[1] * 100] * 200 + [[]] * down + later + [[]]
    return Run(
        condition=SLOW,
        slices=slices,
        hold_s=30.0,
        began_s=20.0,
        leader_changes=1,
        others_cores=0.25,
        held_bytes=0,
        leader_grew_bytes=0,
        caught_up_s=0.0,
        fault_ns=10**9,
        replica=1,
    )


def test_a_run_says_hand_over_outage_and_loss() -> None:
    found = handovers.of(slow_run(1.5, 1), [2, 1_900_000_000, 0, 0])
    assert found == Handover(1, 2, 0.9, 1.5, pytest.approx(0.05), 0.25)


@pytest.mark.parametrize("observed", [[], [2, 10**9 - 1, 0, 0], [2, 31 * 10**9 + 1, 0, 0]])
def test_a_hand_over_of_another_time_is_none(observed: list[int]) -> None:
    found = handovers.of(slow_run(0, 0.5), observed)
    assert (found.successor, found.after_s, found.outage_s) == (None, None, None)


def test_half_of_a_second_is_no_recovery() -> None:
    slices = list(slow_run(30, 1).slices)
    slices[210:215] = [[1] * 100] * 5
    assert replace(slow_run(30, 1), slices=slices).stages.outage_s is None


GOOD = Handover(0, 1, 0.9, 2.0, 0.1, 0.0)


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ({}, {}, PASS),
        ({}, {"outage_s": 2.1}, INCONCLUSIVE),
        ({}, {"lost": 0.11}, INCONCLUSIVE),
        ({"outage_s": None}, {"outage_s": 2.1}, FAIL),
        ({"lost": 0.12}, {"lost": 0.11}, FAIL),
    ],
)
def test_a_bar_between_two_runs_is_inconclusive(
    first: dict[str, Any], second: dict[str, Any], word: str
) -> None:
    verdict = handovers.judge([replace(GOOD, **first), replace(GOOD, **second)])
    assert verdict.word == word
    assert bool(verdict.reason) == (word != PASS)


def test_the_table_has_a_line_for_each_run() -> None:
    bad = replace(GOOD, outage_s=None, successor=None, after_s=None)
    columns = handovers.table("net-slow 40 ms", [GOOD, bad]).columns
    assert [list(column.cells) for column in columns[:3]] == [
        ["0 to 1, after 0.9 s", "none"],
        ["2.0 s", "never"],
        ["10.0 %", "10.0 %"],
    ]


@pytest.mark.parametrize(
    ("lab", "target", "asked"),
    [("lab7", "leader", True), ("lab7", "follower", False), ("lab2", "leader", False)],
)
def test_only_a_leader_that_hands_over_has_runs_of_its_own(
    lab: str, target: str, asked: bool
) -> None:
    assert (target in lab_kits.slow_runs_of(KIT, load_labs(KIT).get(lab))) is asked
