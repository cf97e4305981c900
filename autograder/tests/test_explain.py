"""The sentences a student reads when a slow follower costs points."""

from dataclasses import replace

import pytest

from failslow.measurement.binary import Sample, Wait
from failslow.measurement.explain import Explained, costly_wait, report, sentence
from failslow.measurement.runs import FLAPPING, LOW_JITTER, UNDER
from test_scoring import BASE, FULL, PART, SETTINGS, SLOW, Where, judged

ALONE = Wait(0, "replicate", "AppendEntries", 1, 1, (2,), 412, 38_000_000_000)
QUORUM = Wait(0, "commit", "quorum", 2, 3, (), 9, 10**12)
ALL = Wait(0, "replicate", "quorum", 3, 3, (), 5, 10**10)
REPAIR = Wait(0, "catch-up", "AppendEntries", 1, 1, (2,), 10, 10**13)
LINGER = Wait(0, "replicate", "and", 2, 2, (), 400, 10**13)


def explained(*waits: Wait, before: tuple[Wait, ...] | None = None) -> Explained:
    """`before`: the waits of the run without the fault; None for the same ones, but short."""
    if before is None:
        before = tuple(replace(wait, total_ns=wait.count * 1000) for wait in waits)
    return Explained(slow=_with(*waits), base=_with(*before))


def _with(*waits: Wait) -> Sample:
    return replace(BASE, waits=waits)


def test_says_what_fell_why_and_what_would_have_helped() -> None:
    row = judged((FULL, {"throughput": 140.0}))
    assert sentence(SETTINGS, row, explained(QUORUM, ALONE)) == (
        "With the CPU of 1 of 3 replicas at 5 %, throughput fell by 93 % (limit 5 %): your"
        " leader waits for the slow replica. The wait that cost the points: coroutine `replicate`"
        " of replica 0 waited for AppendEntries to replica 2 alone (1 of 1), 412 times, 38 s in"
        " all; a QuorumEvent would have needed 2 of 3, counting the leader itself."
    )


def test_waiting_for_all_is_named_as_such() -> None:
    row = judged((PART, {"mean_ns": 5_000_000}))
    text = sentence(SETTINGS, row, explained(ALL))
    assert "average latency became 5.0 times as long (limit 5 %)" in text
    assert "waited for every answer of a quorum (3 of 3)" in text
    named = sentence(SETTINGS, row, explained(replace(ALL, peers=(1, 2))))
    assert "waited for every answer of a quorum with replicas 1 and 2 (3 of 3)" in named


def test_a_quorum_is_never_blamed() -> None:
    assert costly_wait(explained(QUORUM)) is None
    row = judged((FULL, {"throughput": 140.0}))
    assert "QuorumEvent" not in sentence(SETTINGS, row, explained(QUORUM))


def test_repairing_the_slow_replica_is_not_blamed() -> None:
    normal = (replace(ALL, total_ns=5000),)
    assert costly_wait(explained(REPAIR, ALL, before=normal)) == ALL
    assert costly_wait(explained(REPAIR, before=normal)) is None


def test_waiting_for_stragglers_is_blamed_last() -> None:
    assert costly_wait(explained(LINGER, ALL)) == ALL
    assert costly_wait(explained(LINGER)) == LINGER


def test_a_wait_that_did_not_grow_is_not_blamed() -> None:
    assert costly_wait(explained(ALL, before=(ALL,))) is None


def test_backlog_and_catch_up_have_words_of_their_own() -> None:
    held = judged((FULL, {"peak_held_bytes": 5 << 20}))
    assert "held up to 5.0 MiB for its peers" in sentence(SETTINGS, held, explained())
    late = judged((PART, {"catch_up_ns": None}))
    assert "never caught up" in sentence(SETTINGS, late, explained())


def test_misbehaviour_is_told_in_its_own_sentence() -> None:
    row = judged((PART, {"error": "replica 1 died"}))
    assert sentence(SETTINGS, row, None).startswith(
        "With the CPU of 1 of 3 replicas at 5 %: replica 1 died"
    )


@pytest.mark.parametrize(
    ("where", "change", "says"),
    [
        (PART, {"unanswered": 100}, "10 % of the operations were never answered (limit 0.5 %)"),
        (FULL, {"completions": (0,) * 4}, "came for 0.4 s without a break (limit 0.2 s)"),
        (FULL | {"shape": UNDER}, {"throughput": 1000.0}, "by 50 % in the worst run (limit 20 %)"),
        (PART | {"shape": FLAPPING}, {"lag": 999}, "999 entries behind (limit 900 entries)"),
        (PART, {"p99_ns": 4_000_000}, "latency grew 2.0 times (limit 1.50x)"),
        (FULL, {"completed": 0, "completions": ()}, "throughput"),
    ],
)
def test_every_figure_has_words(where: Where, change: dict[str, object], says: str) -> None:
    row = judged((where, change))
    if change.get("completed") == 0:
        row = judged(({"fault": "none"}, change))
        says = "cannot be compared: in one of the runs no operation completed"
    assert says in sentence(SETTINGS, row, None)


def test_a_full_row_has_nothing_to_report() -> None:
    assert report(SETTINGS, judged(), None) == ""


def test_the_report_names_every_loss_its_share_and_the_figures() -> None:
    lines = report(
        SETTINGS, judged((PART, {"p99_ns": 4_000_000}), (SLOW, {"peak_held_bytes": 9000})), None
    ).splitlines()
    assert lines[0].startswith("With the CPU of 1 of 3 replicas at 5 %, a replica held up to")
    assert lines[1] == "Also (tail): the 99th percentile of latency grew 2.0 times (limit 1.50x)."
    assert lines[2] == "Lost of the row's points: tail (10 %), held bytes (15 %)."
    assert lines[3].startswith("Figures: throughput 0 % (limit 5 %), latency 0 % (limit 5 %),")
    assert "lag 500 (at least 100)" in lines[3]
    assert "throughput 2000/s (floor 1000/s), latency 1.0 ms (ceiling 2.0 ms)." in lines[3]


def test_lost_speed_costs_the_row() -> None:
    text = report(SETTINGS, judged((FULL, {"throughput": 140.0})), None)
    assert "Lost: the whole row. Its other shares count only where speed holds." in text


def test_a_slow_baseline_is_named() -> None:
    slow = {"throughput": 500.0, "mean_ns": 4_000_000}
    text = report(SETTINGS, judged(({"profile": LOW_JITTER}, slow)), None)
    assert (
        "Without a fault, throughput is below the floor and average latency is above the ceiling:"
        " points are scaled to 12 %."
    ) in text


def test_a_void_row_says_so_to_student_and_instructor() -> None:
    assert report(SETTINGS, judged((FULL, {"lag": 3})), None).startswith(
        "Void: with the CPU of 1 of 3 replicas at 5 %, no slow replica fell behind by 100 entries"
        " (it was 3 in one run)"
    )
