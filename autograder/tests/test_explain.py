"""The sentences a student reads when a slow follower costs points."""

from dataclasses import replace

import pytest

from failslow.measurement.binary import Flow, Sample, Wait
from failslow.measurement.cause import Explained, costly_wait, seen
from failslow.measurement.explain import report, sentence
from failslow.measurement.runs import FLAPPING, LOW_JITTER, UNDER
from test_scoring import BASE, FULL, PART, SETTINGS, SLOW, Where, judged


def wait(
    coroutine: str,
    event: str,
    needed: int = 1,
    total: int = 1,
    peers: tuple[int, ...] = (),
    count: int = 400,
    total_ns: int = 10**10,
    background: bool = False,
    path_ns: int | None = None,
) -> Wait:
    """On a client's path all the time, unless something else is said."""
    path = 0 if background else total_ns if path_ns is None else path_ns
    return Wait(0, coroutine, event, needed, total, peers, count, total_ns, not background, path)


ALONE = wait("replicate", "AppendEntries", 1, 1, (2,), 412, 38_000_000_000)
QUORUM = wait("commit", "quorum", 2, 3, (1, 2), total_ns=10**12)
ALL = wait("replicate", "quorum", 3, 3, (1, 2), 5, 10**10)
REPAIR = wait("catch-up", "AppendEntries", 1, 1, (2,), total_ns=10**13, background=True)
LINGER = wait("replicate", "and", 2, 2, (1, 2), total_ns=10**13, path_ns=0)
SLEEP = wait("replicate", "timeout", count=30, total_ns=12 * 10**9)


def explained(*waits: Wait, before: tuple[Wait, ...] | None = None) -> Explained:
    """`before`: the waits of the run without the fault; None for the same ones, but short."""
    if before is None:
        before = tuple(_short(each) for each in waits)
    return Explained(slow=_with(*waits), base=_with(*before))


def _short(each: Wait) -> Wait:
    brief = each.count * 1000
    return replace(each, total_ns=brief, path_ns=min(each.path_ns, brief))


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
    assert "waited for every answer of a quorum with replicas 1 and 2 (3 of 3)" in text


def test_more_than_a_majority_is_too_many() -> None:
    four = wait("replicate", "quorum", 4, 5, (1, 2, 3, 4))
    assert costly_wait(explained(four), 5) == four
    assert costly_wait(explained(replace(four, needed=3)), 5) is None
    others = replace(four, total=4, needed=3)  # the leader's own answer is none of these
    assert costly_wait(explained(others), 5) == others
    assert costly_wait(explained(replace(others, needed=2)), 5) is None


def test_a_quorum_is_never_blamed() -> None:
    assert costly_wait(explained(QUORUM), 3) is None
    row = judged((FULL, {"throughput": 140.0}))
    assert "QuorumEvent" not in sentence(SETTINGS, row, explained(QUORUM))


def test_a_sleep_on_the_path_is_blamed() -> None:
    row = judged((FULL, {"throughput": 140.0}))
    text = sentence(SETTINGS, row, explained(SLEEP, QUORUM, before=(_short(QUORUM),)))
    assert text.endswith(
        "throughput fell by 93 % (limit 5 %). The wait that cost the points: coroutine"
        " `replicate` of replica 0 slept while clients waited, 30 times, 12 s in all."
    )
    assert costly_wait(explained(replace(SLEEP, path_ns=0)), 3) is None


def test_repairing_the_slow_replica_is_not_blamed() -> None:
    assert costly_wait(explained(REPAIR, ALL, before=(_short(ALL),)), 3) == ALL
    assert costly_wait(explained(REPAIR, before=(_short(ALL),)), 3) is None


def test_a_wait_of_a_coroutine_that_works_for_nobody_is_blamed_last() -> None:
    lone = replace(ALONE, has_dependency=False, path_ns=0)
    assert costly_wait(explained(lone), 3) == lone
    assert costly_wait(explained(lone, ALL), 3) == ALL


def test_waiting_for_stragglers_after_the_answer_is_not_blamed() -> None:
    assert costly_wait(explained(LINGER), 3) is None
    unknown = replace(LINGER, has_dependency=False)
    assert costly_wait(explained(unknown), 3) is None
    too_early = replace(LINGER, path_ns=10**13)
    assert costly_wait(explained(too_early), 3) == too_early


def test_a_wait_that_did_not_grow_is_not_blamed() -> None:
    assert costly_wait(explained(ALL, before=(ALL,)), 3) is None


def test_rounds_that_were_not_started_are_told() -> None:
    few = explained(replace(QUORUM, count=12), before=(QUORUM,))
    assert seen(few) == [
        "No wait explains it: coroutine `commit` waited for its quorum 12 times, and 400 times"
        " without the fault. Rounds were not started."
    ]
    assert seen(explained(replace(QUORUM, count=390), before=(QUORUM,))) == []


def test_traffic_to_the_slow_replica_is_told() -> None:
    healthy, usual = Flow(0, 1, 500, 500_000), Flow(0, 2, 500, 400_000)
    flood = Flow(0, 2, 90, 3 << 20)
    both = Explained(replace(BASE, flows=(healthy, flood)), replace(BASE, flows=(healthy, usual)))
    assert seen(both) == [
        "Replica 0 sent replica 2 3.0 MiB in 90 messages, and 390.6 KiB in 500 without the fault."
    ]
    same = Explained(replace(BASE, flows=(healthy, usual)), replace(BASE, flows=(healthy, usual)))
    assert seen(same) == []


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
    assert report(SETTINGS, judged((SLOW, {"lag": 3})), None).startswith(
        "Void: with the CPU of 1 of 3 replicas at 5 %, no slow replica fell behind by 100 entries"
        " (it was 3 in one run)"
    )
