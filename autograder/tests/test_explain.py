"""The sentences a student reads when a slow follower costs points."""

from dataclasses import replace

from failslow.measurement.binary import Wait
from failslow.measurement.explain import longest_narrow_wait, sentence
from failslow.measurement.runs import LATENCY, LOW_JITTER, SATURATED
from test_scoring import BASE, SETTINGS, judged

ALONE = Wait(0, "replicate", "AppendEntries", 1, 1, (2,), 412, 38_000_000_000, 10**9)
QUORUM = Wait(0, "commit", "QuorumEvent", 2, 3, (1, 2), 9, 10**12, 10**9)
ALL = Wait(0, "replicate", "AndEvent", 2, 2, (1, 2), 5, 10**10, 10**9)


def test_says_what_fell_why_and_what_would_have_helped() -> None:
    row = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"throughput": 140.0}})
    explained = replace(BASE, waits=(QUORUM, ALONE, ALL))
    assert sentence(SETTINGS, row, explained) == (
        "With the CPU of 1 of 3 replicas at 5 %, throughput fell by 93 % (limit 5 %): your"
        " leader waits for the slow replica. The longest wait: coroutine `replicate` of replica 0"
        " waited on AppendEntries to replica 2 alone (1 of 1), 412 times, 38 s in all; a"
        " QuorumEvent would have needed 2 of 3, counting the leader itself."
    )


def test_waiting_for_all_is_named_as_such() -> None:
    row = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"mean_ns": 5_000_000}})
    text = sentence(SETTINGS, row, replace(BASE, waits=(ALL,)))
    assert "average latency grew by 400 %" in text
    assert "waited on AndEvent to all of replicas 1 and 2 (2 of 2)" in text


def test_a_quorum_is_never_blamed() -> None:
    assert longest_narrow_wait(replace(BASE, waits=(QUORUM,))) is None
    row = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"throughput": 140.0}})
    assert "QuorumEvent" not in sentence(SETTINGS, row, replace(BASE, waits=(QUORUM,)))


def test_backlog_and_catch_up_have_words_of_their_own() -> None:
    held = judged({(LOW_JITTER, SATURATED, "cpu-slow"): {"peak_held_bytes": 5 << 20}})
    assert "held up to 5.0 MiB for its peers" in sentence(SETTINGS, held, BASE)
    late = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"catch_up_ns": None}})
    assert "never caught up" in sentence(SETTINGS, late, BASE)


def test_misbehaviour_is_told_in_its_own_sentence() -> None:
    row = judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"error": "replica 1 died"}})
    assert sentence(SETTINGS, row, None).startswith(
        "With the CPU of 1 of 3 replicas at 5 %: replica 1 died"
    )
