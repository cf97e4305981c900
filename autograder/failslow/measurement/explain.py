"""Puts a lost row into words a student understands, with the wait that caused it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from failslow.measurement import scoring
from failslow.measurement.binary import Flow, Sample, Wait
from failslow.measurement.scoring import Criterion, Row
from failslow.measurement.settings import Settings

GATHERING = ("and", "or")
"""Labels of events that gather others: often used after the decision, to wait for stragglers."""
SLEEP = "timeout"
"""The label of the event that a sleeping coroutine waits for."""
FELL = 0.5
GREW = 2.0
"""A share and a factor beyond which a difference from the run without the fault is worth a
sentence."""


@dataclass(frozen=True)
class Explained:
    """The worst run of a lost row and the run it is compared with, both with their waits."""

    slow: Sample
    base: Sample


def sentence(settings: Settings, row: Row, explained: Explained | None) -> str:
    """Why a row earned no points."""
    fault = settings.describe(row.fault, row.replicas, row.victim)
    if row.error is not None:
        return f"With {fault}: {row.error}"
    criterion = row.worst_criterion()
    if criterion is None:
        return f"With {fault}, the submission stayed as fast as without."
    text = f"With {fault}, {_what_happened(criterion)}"
    if explained is None:
        return f"{text}."
    wait = costly_wait(explained, row.replicas)
    if wait is None:
        return " ".join([f"{text}.", *seen(explained)])
    slow_replica = _is_delay(criterion) and wait.peers
    cause = ": your leader waits for the slow replica" if slow_replica else ""
    return f"{text}{cause}. {_describe_wait(wait, row.replicas)}"


def costly_wait(explained: Explained, replicas: int) -> Wait | None:
    """The wait that cost the points, or None.

    While it lasted, a client had no answer, and this time grew with the fault. It is a sleep, or it
    needs more answers than a quorum. Not all coroutines say for whom they work. Among those that
    do not, it is a wait that the run without the fault has, too: otherwise it may be the repair of
    the slow replica.
    """
    before = {_key(wait): wait for wait in explained.base.waits}
    slow = explained.slow.waits
    on_path = [wait for wait in slow if _is_sleep(wait) or _is_wide(wait, replicas)]
    unknown = [
        wait
        for wait in slow
        if not wait.has_dependency
        and _is_wide(wait, replicas)
        and wait.event not in GATHERING
        and _key(wait) in before
    ]
    return _most_grown(on_path, before, lambda wait: wait.path_ns) or _most_grown(
        unknown, before, lambda wait: wait.total_ns
    )


def _most_grown(
    waits: Iterable[Wait], before: dict[tuple[object, ...], Wait], time: Callable[[Wait], int]
) -> Wait | None:
    """The wait whose average time grew the most, summed over its number."""

    def grown(wait: Wait) -> float:
        base = before.get(_key(wait))
        mean = time(base) / base.count if base else 0.0
        return time(wait) - mean * wait.count

    worst = max(waits, key=grown, default=None)
    return worst if worst and grown(worst) > 0 else None


def _is_wide(wait: Wait, replicas: int) -> bool:
    """It needs more answers of replicas than a quorum has, or those of particular replicas."""
    if not wait.peers:
        return False
    own = wait.total - len(wait.peers)
    return wait.needed == wait.total or wait.needed > own + replicas // 2


def _is_sleep(wait: Wait) -> bool:
    return wait.event == SLEEP and not wait.peers


def _key(wait: Wait) -> tuple[object, ...]:
    return (
        wait.coroutine,
        wait.event,
        wait.needed,
        wait.total,
        wait.peers,
        wait.has_dependency,
    )


def seen(explained: Explained) -> list[str]:
    """Sentences on differences from the run without the fault, when no wait is to blame."""
    return [*_fewer_rounds(explained), *_more_traffic(explained)]


def _fewer_rounds(explained: Explained) -> list[str]:
    """The wait that clients needed most often without the fault, if it became rare."""
    path = [wait for wait in explained.base.waits if wait.path_ns > 0 and wait.peers]
    usual = max(path, key=lambda wait: wait.count, default=None)
    if usual is None:
        return []
    now = sum(wait.count for wait in explained.slow.waits if _key(wait) == _key(usual))
    if now >= FELL * usual.count:
        return []
    return [
        f"No wait explains it: coroutine `{usual.coroutine}` waited for its {usual.event}"
        f" {now} times, and {usual.count} times without the fault. Rounds were not started."
    ]


def _more_traffic(explained: Explained) -> list[str]:
    """The replica to which the proposers sent the most additional bytes."""
    before = {(flow.sender, flow.receiver): flow for flow in explained.base.flows}

    def more(flow: Flow) -> int:
        base = before.get((flow.sender, flow.receiver))
        return flow.bytes - (base.bytes if base else 0)

    worst = max(explained.slow.flows, key=more, default=None)
    if worst is None:
        return []
    base = before.get((worst.sender, worst.receiver))
    if base is None or worst.bytes <= GREW * base.bytes:
        return []
    return [
        f"Replica {worst.sender} sent replica {worst.receiver} {size(worst.bytes)} in"
        f" {worst.frames} messages, and {size(base.bytes)} in {base.frames} without the fault."
    ]


def growth(share: float) -> str:
    """A growth in words: by a share, or, beyond doubling, how many times as long."""
    if share < 1:
        return f"grew by {percent(share)}"
    digits = 0 if share >= 9 else 1
    return f"became {share + 1:.{digits}f} times as long"


def percent(share: float) -> str:
    """A share as '4.2 %', or '93 %' where a digit more says nothing."""
    if math.isinf(share):
        return "no result"
    digits = 1 if abs(share) < 0.1 else 0
    text = f"{share * 100:.{digits}f}".removesuffix(".0")
    return f"{'0' if text == '-0' else text} %"


def _what_happened(criterion: Criterion) -> str:
    value, limit = criterion.value, criterion.limit
    if math.isinf(value) and criterion.name != scoring.CATCH_UP:
        return f"{criterion.name} cannot be compared: in one of the runs no operation completed"
    texts = {
        scoring.THROUGHPUT: f"throughput fell by {percent(value)} (limit {percent(limit)})",
        scoring.MEAN_LATENCY: f"average latency {growth(value)} (limit {percent(limit)})",
        scoring.UNANSWERED: (
            f"{percent(value)} of the operations were never answered (limit {percent(limit)})"
        ),
        scoring.P99: (
            f"the 99th percentile of latency grew {value:.1f} times (limit {limit:g} times)"
        ),
        scoring.HELD_BYTES: (
            f"a replica held up to {size(value)} for its peers (limit {size(limit)}):"
            " the backlog of a slow peer must be bounded"
        ),
        scoring.CATCH_UP: (
            "the slow replicas never caught up after healing"
            if math.isinf(value)
            else f"the slow replicas took {seconds(value)} to catch up after healing"
            f" (limit {seconds(limit)})"
        ),
        scoring.THROUGHPUT_VS_DEAD: (
            f"throughput was {percent(value)} lower than with the same replicas dead"
            f" (limit {percent(limit)})"
        ),
        scoring.LATENCY_VS_DEAD: (
            f"average latency was {percent(value)} higher than with the same replicas dead"
            f" (limit {percent(limit)})"
        ),
    }
    return texts[criterion.name]


def _is_delay(criterion: Criterion) -> bool:
    return criterion.name not in (scoring.HELD_BYTES, scoring.CATCH_UP)


def _describe_wait(wait: Wait, replicas: int) -> str:
    time = wait.path_ns or wait.total_ns
    text = f"The wait that cost the points: coroutine `{wait.coroutine}` of replica {wait.replica}"
    if _is_sleep(wait):
        return f"{text} slept while clients waited, {wait.count} times, {seconds(time)} in all."
    majority = replicas // 2 + 1
    return (
        f"{text} waited for {_whom(wait)} ({wait.needed} of {wait.total}), {wait.count} times,"
        f" {seconds(time)} in all; a QuorumEvent would have needed"
        f" {majority} of {replicas}, counting the leader itself."
    )


def _whom(wait: Wait) -> str:
    peers = " and ".join(map(str, wait.peers))
    if wait.total == 1:
        return f"{wait.event} to replica {peers} alone"
    plural = "s" if len(wait.peers) > 1 else ""
    answers = "every answer" if wait.needed == wait.total else f"{wait.needed} answers"
    return f"{answers} of a {wait.event} with replica{plural} {peers}"


def seconds(nanoseconds: float) -> str:
    if math.isinf(nanoseconds):
        return "never"
    value = nanoseconds / 1e9
    if value >= 10:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 0.1 else f"{value * 1000:.1f} ms"


def size(count: float) -> str:
    """A number of bytes as '5.0 MiB' or '12.3 KiB'."""
    if count >= 1 << 20:
        return f"{count / (1 << 20):.1f} MiB"
    return f"{count / (1 << 10):.1f} KiB"
