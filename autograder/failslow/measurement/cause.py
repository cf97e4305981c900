"""The cause of a lost row: the wait that delayed clients, or the differences that were seen."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from failslow.measurement.binary import Flow, Sample, Wait
from failslow.measurement.words import seconds, size

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


def describe(wait: Wait, replicas: int) -> str:
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
