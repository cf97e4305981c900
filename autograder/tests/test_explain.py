"""The sentences a student reads when a slow follower costs points."""

from dataclasses import replace

import pytest

from failslow.measurement.binary import Count, Flow, Sample, Unfinished, Wait
from failslow.measurement.cause import Explained, costly_wait, delays
from failslow.measurement.explain import report, sentence
from failslow.measurement.runs import FLAPPING, LOW_JITTER, SATURATED, UNDER
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
) -> Wait:
    """On a client's path all the time, unless it is in the background."""
    path_ns = 0 if background else total_ns
    return Wait(0, coroutine, event, needed, total, peers, count, total_ns, not background, path_ns)


ALONE = wait("replicate", "AppendEntries", 1, 1, (2,), 412, 38_000_000_000)
QUORUM = wait("commit", "quorum", 2, 3, (1, 2), total_ns=10**12)
ALL = wait("replicate", "quorum", 3, 3, (1, 2), 5, 10**10)
REPAIR = wait("catch-up", "AppendEntries", 1, 1, (2,), total_ns=10**13, background=True)
LINGER = replace(wait("replicate", "and", 2, 2, (1, 2), total_ns=10**13), path_ns=0)
SLEEP = wait("replicate", "timeout", count=30, total_ns=12 * 10**9)


SLOW_ROW = judged((FULL, {"throughput": 140.0}))


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
    assert sentence(SETTINGS, SLOW_ROW, explained(QUORUM, ALONE)) == (
        "With the CPU of 1 of 3 replicas at 5 %, throughput fell by 93 % (limit 5 %): your"
        " leader waits for the slow replica. The wait that cost the points: coroutine `replicate`"
        " of replica 0 waited for AppendEntries to replica 2 alone (1 of 1), 412 times, 38 s in"
        " all; a QuorumEvent would have needed 2 of 3, counting the leader itself."
    )


def test_waiting_for_all_is_named_as_such() -> None:
    row = judged((PART, {"mean_ns": 5_000_000}))
    text = sentence(SETTINGS, row, explained(ALL))
    assert "average latency became 5.0 times as long (limit 5 %)" in text
    assert "waited for every answer of a QuorumEvent with replicas 1 and 2 (3 of 3)" in text


def test_no_wait_is_accused_of_a_capacity_that_was_too_small() -> None:
    quick = {"throughput": 2600.0}
    row = judged(({"profile": LOW_JITTER, "load": SATURATED}, quick))
    assert sentence(SETTINGS, row, explained(SLEEP, QUORUM, before=(_short(QUORUM),))).endswith(
        "without a fault, throughput was 30 % above the capacity, which was measured first"
        " (limit 10 %)."
    )


def test_more_than_a_majority_is_too_many() -> None:
    four = wait("replicate", "quorum", 4, 5, (1, 2, 3, 4))
    assert costly_wait(explained(four), 5) == four
    assert costly_wait(explained(replace(four, needed=3)), 5) is None
    others = replace(four, total=4, needed=3)  # the leader's own answer is none of these
    assert costly_wait(explained(others), 5) == others
    assert costly_wait(explained(replace(others, needed=2)), 5) is None


def test_a_quorum_is_never_blamed() -> None:
    assert costly_wait(explained(QUORUM), 3) is None
    assert "QuorumEvent" not in sentence(SETTINGS, SLOW_ROW, explained(QUORUM))


def test_a_sleep_on_the_path_is_blamed() -> None:
    text = sentence(SETTINGS, SLOW_ROW, explained(SLEEP, QUORUM, before=(_short(QUORUM),)))
    assert text.endswith(
        "throughput fell by 93 % (limit 5 %). The wait that cost the points: coroutine"
        " `replicate` of replica 0 slept while clients waited, 30 times, 12 s in all."
    )
    assert costly_wait(explained(replace(SLEEP, path_ns=0)), 3) is None


def test_polling_more_often_is_blamed() -> None:
    often = replace(SLEEP, count=2000, total_ns=2 * 10**9, path_ns=2 * 10**9)
    once = replace(often, count=2, total_ns=2 * 10**6, path_ns=2 * 10**6)
    assert costly_wait(explained(often, before=(once,)), 3) == often
    many_rounds = replace(ALL, count=2000, total_ns=2 * 10**9, path_ns=2 * 10**9)
    one_round = replace(many_rounds, count=1, total_ns=10**6, path_ns=10**6)
    assert costly_wait(explained(many_rounds, before=(one_round,)), 3) is None


def test_the_wait_that_a_heartbeat_ended_for_the_client_is_blamed() -> None:
    """Answers hang on the wait without the fault. With it, a heartbeat's quorum commits first."""
    usual = replace(ALL, count=1000, total_ns=5 * 10**9, path_ns=4 * 10**9)
    late = replace(ALL, count=30, total_ns=5 * 10**9, path_ns=10**8)
    pause = wait("heartbeat", "timeout", count=100, total_ns=5 * 10**9)
    before = (usual, replace(pause, path_ns=10**8))
    assert costly_wait(explained(late, pause, before=before), 3) == replace(
        late, path_ns=late.total_ns
    )
    straggler = replace(LINGER, count=30)
    assert costly_wait(explained(straggler, pause, before=(LINGER, before[1])), 3) == pause


def test_repairing_the_slow_replica_is_not_blamed() -> None:
    assert costly_wait(explained(REPAIR, ALL, before=(_short(ALL),)), 3) == ALL
    assert costly_wait(explained(REPAIR, before=(_short(ALL),)), 3) is None


def test_a_sleep_that_is_new_is_blamed_before_what_ends_it_for_clients() -> None:
    """The repair and a heartbeat commit while the round sleeps, so that answers hang on them."""
    repair = replace(REPAIR, path_ns=3 * SLEEP.total_ns)
    pause = wait("heartbeat", "timeout", count=200, total_ns=10**10)
    before = (replace(pause, path_ns=0),)
    short = replace(SLEEP, path_ns=10**9)
    assert costly_wait(explained(pause, repair, short, before=before), 3) == short
    assert costly_wait(explained(pause, short, before=before), 3) == short


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


def test_a_wait_that_is_too_short_to_cost_points_is_not_blamed() -> None:
    once = replace(ALL, count=1, total_ns=19_000_000, path_ns=19_000_000)  # the window lasts 1 s
    assert costly_wait(explained(once, before=()), 3) is None
    longer = replace(once, path_ns=21_000_000)
    assert costly_wait(explained(longer, before=()), 3) == longer


def flow(receiver: int, frames: int, size: int, slots: tuple[int, ...] = (), left: int = 0) -> Flow:
    """From replica 0. `left`: bytes that its connection still holds."""
    wire = Count(frames, size)
    return Flow(0, receiver, Count(frames + 9, size + left + 100), Count(2, 100), wire, slots)


STEADY_FLOW = flow(1, 500, 500_000, (50_000,) * 10)


def seen(*flows: Flow, before: tuple[Flow, ...] = (STEADY_FLOW,)) -> list[str]:
    """The sentences about a run with these flows, in which replica 2 is slow."""
    slow = replace(BASE, flows=flows, slow=(2,))
    return delays(Explained(slow, replace(BASE, flows=before)))


def test_rounds_that_were_not_started_are_told() -> None:
    gap = (50_000,) * 3 + (24_999,) * 4 + (80_000,) * 3
    assert seen(replace(STEADY_FLOW, slots=gap)) == [
        "No wait on a command's path explains it. Replica 0 sent replica 1, which is not slow, less"
        " than half of the usual bytes for 0.4 s: rounds were not started."
    ]
    assert seen(replace(STEADY_FLOW, slots=(50_000,) * 8)) != [], "nothing at the end is a gap"
    assert seen(replace(STEADY_FLOW, slots=(50_000,) * 9)) == []
    assert seen(STEADY_FLOW, flow(2, 0, 0)) == [], "the slow replica may be sent nothing"


def test_fewer_rounds_are_told() -> None:
    few = replace(STEADY_FLOW, wire=Count(249, 500_000))
    assert seen(few) == [
        "No wait on a command's path explains it. Replica 0 sent replica 1, which is not slow, 249"
        " messages, and 500 without the fault: fewer rounds were started."
    ]
    assert seen(replace(STEADY_FLOW, wire=Count(250, 500_000))) == []


def test_traffic_to_the_slow_replica_is_told() -> None:
    before = (STEADY_FLOW, flow(2, 500, 400_000))
    assert seen(STEADY_FLOW, flow(2, 90, 3 << 20), before=before) == [
        "Replica 0 sent replica 2 3.0 MiB in 90 messages, and 390.6 KiB in 500 without the fault."
    ]
    assert seen(STEADY_FLOW, flow(2, 90, 800_000), before=before) == []


def test_dropped_commands_are_told_instead_of_a_delay() -> None:
    row = judged((PART, {"unanswered": 100}))
    lost = Explained(replace(BASE, passed_over=90), BASE)
    assert (
        "90 of 1000 commands were never answered, although later ones were: they, or their answers,"
        " were dropped."
    ) in sentence(SETTINGS, row, lost)
    late = Explained(replace(BASE, passed_over=1), BASE)
    assert "dropped" not in sentence(SETTINGS, row, late)


def test_a_backlog_is_told_with_its_connection() -> None:
    row = judged((FULL, {"peak_held_bytes": 5 << 20}))
    held = Explained(replace(BASE, flows=(STEADY_FLOW, flow(2, 10, 1 << 20, left=4 << 20))), BASE)
    assert sentence(SETTINGS, row, held).endswith(
        "a replica held up to 5.0 MiB for its peers (limit 4.9 KiB). Replica 0 gave its connection"
        " to replica 2 5.0 MiB in 19 messages. The wire took 1.0 MiB, and 0.1 KiB were taken back"
        " (`Broadcast::Release`)."
    )


def test_a_backlog_of_ones_own_is_told_with_its_coroutines() -> None:
    row = judged((FULL, {"peak_heap_bytes": 5 << 20}))
    rows = (Unfinished(0, "lagging", False, 900), Unfinished(0, "Append", True, 9000))
    grown = Explained(replace(BASE, unfinished=rows), replace(BASE, unfinished=rows[1:]))
    text = sentence(SETTINGS, row, grown)
    assert "Unsent messages were at most 1.0 KiB: your own data hold the rest" in text
    assert text.endswith(
        "Replica 0 had 900 coroutines `lagging` that had not ended, and 0 without the fault."
    )


def test_work_that_does_not_end_is_told_by_its_name() -> None:
    rows = (Unfinished(0, "lagging", False, 900), Unfinished(1, "Append", True, 190))
    grown = Explained(replace(BASE, unfinished=rows), BASE)
    coroutines = sentence(SETTINGS, judged((PART, {"unfinished_coroutines": 900})), grown)
    assert (
        "had up to 890 more coroutines that did not end (limit 50). Replica 0 had 900" in coroutines
    )
    requests = sentence(SETTINGS, judged((PART, {"pending_requests": 100})), grown)
    assert "had up to 90 more requests without an answer (limit 70)" in requests
    assert requests.endswith(
        "Replica 1 had 190 calls Append that had not ended, and 0 without the fault."
    )
    same = Explained(replace(BASE, unfinished=rows), replace(BASE, unfinished=rows))
    assert "that had not ended" not in sentence(
        SETTINGS, judged((PART, {"unfinished_coroutines": 900})), same
    )


def test_a_late_repair_is_told_with_the_service_of_the_slow_replica() -> None:
    row = judged((PART, {"catch_up_ns": None}))
    flows = (STEADY_FLOW, flow(2, 3, 2048), replace(flow(1, 1, 1), sender=2))
    late = Explained(
        replace(BASE, flows=flows, slow=(2,)), replace(BASE, flows=(flow(2, 9, 9216),))
    )
    assert sentence(SETTINGS, row, late).endswith(
        "the slow replicas never caught up after healing. Replica 0 sent replica 2 2.0 KiB in 3"
        " messages, and 9.0 KiB in 9 without the fault."
    )


def test_misbehaviour_is_told_in_its_own_sentence() -> None:
    row = judged((PART, {"error": "replica 1 died"}))
    assert sentence(SETTINGS, row, None).startswith(
        "With the CPU of 1 of 3 replicas at 5 %: replica 1 died"
    )


@pytest.mark.parametrize(
    ("where", "change", "says"),
    [
        (PART, {"unanswered": 100}, "10 % of the commands were never answered (limit 0.5 %)"),
        (FULL, {"completions": (0,) * 4}, "came for 0.4 s without a break (limit 0.2 s)"),
        (FULL | {"shape": UNDER}, {"throughput": 1000.0}, "by 50 % (worst run, limit 20 %)"),
        (
            PART | {"shape": FLAPPING},
            {"lag": 999},
            "999 entries behind (between faults, limit 900 entries)",
        ),
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


def test_the_report_names_every_loss_its_share_and_the_figures() -> None:
    row = judged((PART, {"p99_ns": 4_000_000}), (SLOW, {"peak_held_bytes": 9000}))
    told = report(SETTINGS, row, None)
    lines = told.text.splitlines()
    assert lines[0].startswith("With the CPU of 1 of 3 replicas at 5 %, a replica held up to")
    assert lines[1] == "Also (tail): the 99th percentile of latency grew 2.0 times (limit 1.50x)."
    assert lines[2] == "Lost of the row's points: tail (10 %), held bytes (15 %)."
    assert told.cause == "messages to the slow replica pile up"
    assert told.missed == lines[0].partition("%, ")[2].removesuffix(".")
    assert told.figures.startswith("Figures: throughput 0 % (limit 5 %), latency 0 % (limit 5 %),")
    assert "lag 500 (at least 100)" in told.figures
    assert "throughput 2000/s (floor 1000/s), latency 1.0 ms (ceiling 2.0 ms)." in told.figures


@pytest.mark.parametrize(
    ("wait", "cause"),
    [
        (SLEEP, "your leader slept in `replicate` while clients waited"),
        (ALONE, "your leader waited for the slow replica in `replicate`"),
        (QUORUM, "clients waited, and no wait of a coroutine explains it"),
    ],
)
def test_rows_with_one_cause_name_it_alike(wait: Wait, cause: str) -> None:
    slow, slower = (judged((FULL, {"throughput": rate})) for rate in (140.0, 20.0))
    assert report(SETTINGS, slow, None).cause == "throughput is over its limit"
    told = report(SETTINGS, slow, explained(wait))
    assert told.cause == cause
    assert "Lost: the whole row. Its other shares count only where speed holds." in told.text
    assert report(SETTINGS, slower, explained(replace(wait, count=999))).cause == cause


def test_a_slow_baseline_is_named() -> None:
    slow = {"throughput": 500.0, "mean_ns": 4_000_000}
    text = report(SETTINGS, judged(({"profile": LOW_JITTER}, slow)), None).text
    assert (
        "Without a fault, throughput is below the floor and average latency is above the ceiling:"
        " points are scaled to 12 %."
    ) in text


def test_what_makes_the_baseline_slow_is_told() -> None:
    row = judged(({"profile": LOW_JITTER}, {"mean_ns": 4_000_000}))
    pad = replace(SLEEP, coroutine="answer")
    text = report(SETTINGS, row, Explained(_with(pad), _with(pad, QUORUM))).text
    assert text.startswith("With the CPU of 1 of 3 replicas at 5 %, the submission stayed as fast")
    assert (
        "There, coroutine `answer` of replica 0 slept while clients waited, 30 times, 12 s in all."
    ) in text


def test_a_void_row_says_so_to_student_and_instructor() -> None:
    assert report(SETTINGS, judged((SLOW, {"lag": 3})), None).text.startswith(
        "Void: with the CPU of 1 of 3 replicas at 5 %, no slow replica fell behind by 100 entries"
        " (it was 3 in one run)"
    )
