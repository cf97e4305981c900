"""The sentences a student reads when a slow follower costs points."""

from dataclasses import replace

from failslow.measurement.binary import Sample, Wait
from failslow.measurement.explain import Explained, costly_wait, sentence
from failslow.measurement.runs import LATENCY, LOW_JITTER, SATURATED
from test_scoring import BASE, SETTINGS, judged

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
    row = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"throughput": 140.0}})
    assert sentence(SETTINGS, row, explained(QUORUM, ALONE)) == (
        "With the CPU of 1 of 3 replicas at 5 %, throughput fell by 93 % (limit 5 %): your"
        " leader waits for the slow replica. The wait that cost the points: coroutine `replicate`"
        " of replica 0 waited for AppendEntries to replica 2 alone (1 of 1), 412 times, 38 s in"
        " all; a QuorumEvent would have needed 2 of 3, counting the leader itself."
    )


def test_waiting_for_all_is_named_as_such() -> None:
    row = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"mean_ns": 5_000_000}})
    text = sentence(SETTINGS, row, explained(ALL))
    assert "average latency became 5.0 times as long (limit 5 %)" in text
    assert "waited for every answer of a quorum (3 of 3)" in text
    named = sentence(SETTINGS, row, explained(replace(ALL, peers=(1, 2))))
    assert "waited for every answer of a quorum with replicas 1 and 2 (3 of 3)" in named


def test_a_quorum_is_never_blamed() -> None:
    assert costly_wait(explained(QUORUM)) is None
    row = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"throughput": 140.0}})
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
    held = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"peak_held_bytes": 5 << 20}})
    assert "held up to 5.0 MiB for its peers" in sentence(SETTINGS, held, explained())
    late = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"catch_up_ns": None}})
    assert "never caught up" in sentence(SETTINGS, late, explained())


def test_misbehaviour_is_told_in_its_own_sentence() -> None:
    row = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"error": "replica 1 died"}})
    assert sentence(SETTINGS, row, None).startswith(
        "With the CPU of 1 of 3 replicas at 5 %: replica 1 died"
    )
