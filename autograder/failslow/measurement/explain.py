"""Puts a lost row into words a student understands, with the wait that caused it."""

import math
from dataclasses import dataclass

from failslow.measurement import scoring
from failslow.measurement.binary import Sample, Wait
from failslow.measurement.scoring import Criterion, Row
from failslow.measurement.settings import Settings

GATHERING = ("and", "or")
"""Labels of events that gather others: often used after the decision, to wait for stragglers."""


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
    wait = costly_wait(explained) if explained else None
    if wait is None:
        return f"{text}."
    cause = ": your leader waits for the slow replica" if _is_delay(criterion) else ""
    return f"{text}{cause}. {_describe_wait(wait, row.replicas)}"


def costly_wait(explained: Explained) -> Wait | None:
    """The wait that cost the points, or None. A single slow replica can prolong it. The run without
    the fault has it, too, so it is on the path of commands and no repair of the slow replica. Of
    these waits it is the one whose average grew the most."""
    before = {_key(wait): _mean_ns(wait) for wait in explained.base.waits}
    grown = [
        (wait.event not in GATHERING, _mean_ns(wait) - before[_key(wait)], wait)
        for wait in explained.slow.waits
        if _is_narrow(wait) and _key(wait) in before
    ]
    worst = max(grown, key=lambda each: each[:2], default=None)
    return worst[2] if worst and worst[1] > 0 else None


def _is_narrow(wait: Wait) -> bool:
    """Every answer had to come, and at least one was another replica's."""
    return wait.needed == wait.total and (wait.total > 1 or bool(wait.peers))


def _key(wait: Wait) -> tuple[object, ...]:
    return (wait.coroutine, wait.event, wait.needed, wait.total, wait.peers)


def _mean_ns(wait: Wait) -> float:
    return wait.total_ns / wait.count


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
    majority = replicas // 2 + 1
    return (
        f"The wait that cost the points: coroutine `{wait.coroutine}` of replica {wait.replica}"
        f" waited for {_whom(wait)} ({wait.needed} of {wait.total}), {wait.count} times,"
        f" {seconds(wait.total_ns)} in all; a QuorumEvent would have needed"
        f" {majority} of {replicas}, counting the leader itself."
    )


def _whom(wait: Wait) -> str:
    peers = " and ".join(map(str, wait.peers))
    if wait.total == 1:
        return f"{wait.event} to replica {peers} alone"
    plural = "s" if len(wait.peers) > 1 else ""
    return f"every answer of a {wait.event}" + (f" with replica{plural} {peers}" if peers else "")


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
