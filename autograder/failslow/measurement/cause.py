"""The cause of a lost row: the wait that delayed clients, or the differences that were seen.

A wait is accused only if it did it: answers hung on it, and it grew with the fault. Otherwise the
sentences tell what was seen from outside the replicas.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from failslow.measurement.binary import Flow, Sample, Wait
from failslow.measurement.figures import WINDOW_NS
from failslow.measurement.formatting import seconds, size

GATHERING = ("and", "or")
"""Labels of events that gather others: often used after the decision, to wait for stragglers."""
CLASSES = {"and": "an AndEvent", "or": "an OrEvent", "quorum": "a QuorumEvent"}
"""The classes of events whose labels do not say it."""
SLEEP = "timeout"
"""The label of the event that a sleeping coroutine waits for."""
SERVING = 0.1
"""The share of a wait that is on clients' paths if answers hang on it. Of a wait for stragglers, or
of the pause between heartbeats, it is 2 % at most."""
MATERIAL = 0.02
"""The share of the window that a wait must have lasted, on clients' paths, to cost points."""
FELL = 0.5
GREW = 2.0
"""A share and a factor beyond which a difference from the run without the fault is worth a
sentence."""
DROPPED = 0.001
"""The share of the operations beyond which those that were passed over are worth a sentence."""
MANY = 100
"""Fewer coroutines or calls than these are no backlog."""
OBSERVED = {
    "held bytes": "messages to the slow replica pile up",
    "heap": "the memory of a healthy replica grows",
    "coroutines": "coroutines pile up",
    "requests": "calls without an answer pile up",
    "catch-up": "the slow replica is repaired late",
    "lag": "the slow replica is repaired late",
    "loss": "a slow leader leads on, or hands over late",
    "loss from 2 s on": "a slow leader leads on, or hands over late",
    "loss of a client": "clients stay at a slow replica",
    "replaced": "a slow leader leads on, or hands over late",
    "worst second": "a slow leader leads on, or hands over late",
    "recovery": "a slow leader leads on, or hands over late",
    "latency meanwhile": "a slow leader leads on, or hands over late",
    "clients sent away": "a replica sends clients away without a fault",
    "clients kept away": "a replica that was slow does not take its clients back",
    "needless leaders": "a leader hands over without a fault",
}
"""The causes of figures that are no delay."""
QUIET_SLOTS = 2
"""This number of slots of 100 ms without the usual traffic is a gap."""


@dataclass(frozen=True)
class Explained:
    """The worst run of a lost row and the run it is compared with, both with their waits."""

    slow: Sample
    base: Sample


def costly_wait(explained: Explained, replicas: int) -> Wait | None:
    """The wait that cost the points, or None.

    It is a sleep, or it needs more answers than a quorum, and it grew with the fault. First come
    the waits on which answers hang without the fault: with it, something else may end the client's
    wait, such as a heartbeat. Then those on which answers hang with the fault: first the waits that
    last longer with it and say that they work for clients. The repair of the slow replica commits
    for them, too, while the coroutine at fault sleeps. Not all coroutines say for whom they work.
    Among those that do not, it is a wait that the run without the fault has, too: otherwise it may
    be the repair.
    """
    before = {_key(wait): wait for wait in explained.base.waits}
    slow = explained.slow
    serving = [
        replace(wait, path_ns=wait.total_ns)
        for wait in _suspects(slow, replicas)
        if _key(wait) in before and _serves(before[_key(wait)])
    ]
    for_clients = [wait for wait in _suspects(slow, replicas) if wait.has_dependency]
    unknown = [
        wait
        for wait in slow.waits
        if not wait.has_dependency
        and _is_wide(wait, replicas)
        and wait.event not in GATHERING
        and _key(wait) in before
    ]
    return (
        _most_grown(serving, before, lambda wait: wait.total_ns, slow)
        or _most_grown(_longer(for_clients, before), before, lambda wait: wait.path_ns, slow)
        or _most_grown(_suspects(slow, replicas), before, lambda wait: wait.path_ns, slow)
        or _most_grown(unknown, before, lambda wait: wait.total_ns, slow)
    )


def constant_wait(sample: Sample, replicas: int) -> Wait | None:
    """The wait that makes a run slow that has no fault, or None."""
    return _most_grown(_suspects(sample, replicas), {}, lambda wait: wait.path_ns, sample)


def _suspects(sample: Sample, replicas: int) -> list[Wait]:
    return [wait for wait in sample.waits if _is_sleep(wait) or _is_wide(wait, replicas)]


def _most_grown(
    waits: Iterable[Wait],
    before: dict[tuple[object, ...], Wait],
    time: Callable[[Wait], int],
    sample: Sample,
) -> Wait | None:
    """The wait whose average time grew the most, summed over its number. Of sleeps all time counts:
    a coroutine that polls sleeps more often, but each sleep takes its old time."""

    def grown(wait: Wait) -> float:
        base = before.get(_key(wait))
        if base is None:
            return time(wait)
        usual = 1 if _is_sleep(wait) else wait.count / base.count
        return time(wait) - time(base) * usual

    worst = max(waits, key=grown, default=None)
    window = len(sample.completions) * WINDOW_NS
    return worst if worst and grown(worst) > MATERIAL * window else None


def _longer(waits: Iterable[Wait], before: dict[tuple[object, ...], Wait]) -> list[Wait]:
    """Those that lasted much longer than without the fault, in all."""
    return [
        wait
        for wait in waits
        if _key(wait) not in before or wait.total_ns > GREW * before[_key(wait)].total_ns
    ]


def _serves(wait: Wait) -> bool:
    """A good part of it is on clients' paths: answers hang on it."""
    return wait.path_ns >= SERVING * wait.total_ns > 0


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


def dropped(sample: Sample) -> list[str]:
    """Operations that were never answered, although later ones were: no wait delayed them."""
    if sample.passed_over <= DROPPED * sample.offered:
        return []
    return [
        f"{sample.passed_over} of {sample.offered} commands were never answered, although later"
        " ones were: they, or their answers, were dropped."
    ]


def delays(explained: Explained) -> list[str]:
    """Differences from the run without the fault, when no wait is to blame for lost speed."""
    return [*_fewer_rounds(explained), *_more_traffic(explained)]


def _fewer_rounds(explained: Explained) -> list[str]:
    """The traffic of the leader to a replica that is not slow: it carries the rounds."""
    healthy = [flow for flow in explained.slow.flows if flow.receiver not in explained.slow.slow]
    now = max(healthy, key=lambda flow: flow.wire.bytes, default=None)
    base = _same(explained.base, now) if now else None
    if now is None or base is None:
        return []
    usual = base.wire.bytes / max(1, len(explained.base.completions))
    gap = _longest_gap(now, usual, len(explained.slow.completions))
    sent = (
        "No wait on a command's path explains it."
        f" Replica {now.sender} sent replica {now.receiver}, which is not slow,"
    )
    if gap >= QUIET_SLOTS:
        return [
            f"{sent} less than half of the usual bytes for {seconds(gap * WINDOW_NS)}: rounds were"
            " not started."
        ]
    if now.wire.frames < FELL * base.wire.frames:
        return [
            f"{sent} {now.wire.frames} messages, and {base.wire.frames} without the fault: fewer"
            " rounds were started."
        ]
    return []


def _longest_gap(flow: Flow, usual: float, slots: int) -> int:
    longest = length = 0
    for sent in [*flow.slots, *[0] * (slots - len(flow.slots))]:
        length = length + 1 if sent < FELL * usual else 0
        longest = max(longest, length)
    return longest


def _more_traffic(explained: Explained) -> list[str]:
    """The replica to which the proposers sent the most additional bytes."""

    def more(flow: Flow) -> int:
        base = _same(explained.base, flow)
        return flow.wire.bytes - (base.wire.bytes if base else 0)

    worst = max(explained.slow.flows, key=more, default=None)
    base = _same(explained.base, worst) if worst else None
    if worst is None or base is None or worst.wire.bytes <= GREW * base.wire.bytes:
        return []
    return [_compared(worst, base)]


def repair(explained: Explained) -> list[str]:
    """The service of the slow replica that was sent the least."""
    flows = explained.slow.flows
    busiest = max(flows, key=lambda flow: flow.wire.bytes, default=None)
    served = [
        flow
        for flow in flows
        if busiest and flow.sender == busiest.sender and flow.receiver in explained.slow.slow
    ]
    least = min(served, key=lambda flow: flow.wire.bytes, default=None)
    base = _same(explained.base, least) if least else None
    return [_compared(least, base)] if least and base else []


def _compared(now: Flow, base: Flow) -> str:
    return (
        f"Replica {now.sender} sent replica {now.receiver} {size(now.wire.bytes)} in"
        f" {now.wire.frames} messages, and {size(base.wire.bytes)} in {base.wire.frames} without"
        " the fault."
    )


def backlog(explained: Explained) -> list[str]:
    """The connection that holds the most, and the share of it that was taken back."""
    worst = max(explained.slow.flows, key=_left, default=None)
    if worst is None:
        return []
    return [
        f"Replica {worst.sender} gave its connection to replica {worst.receiver}"
        f" {size(worst.queued.bytes)} in {worst.queued.frames} messages. The wire took"
        f" {size(worst.wire.bytes)}, and {size(worst.released.bytes)} were taken back"
        " (`Broadcast::Release`)."
    ]


def _left(flow: Flow) -> int:
    return flow.queued.bytes - flow.wire.bytes - flow.released.bytes


def hand_over(explained: Explained) -> list[str]:
    """The moments at which another replica began to lead after the fault."""
    onset = explained.slow.onset
    if onset is None:
        return []
    later = [at - onset.fault_from for at in onset.new_proposers if at >= onset.fault_from]
    if not later:
        return ["The slow replica led all the time."]
    when = ", then after ".join(seconds(at * WINDOW_NS) for at in later)
    return [f"Another replica led after {when} of the fault."]


def needless(explained: Explained) -> list[str]:
    onset = explained.base.onset
    if onset is None or not onset.new_proposers:
        return []
    when = ", ".join(seconds(at * WINDOW_NS) for at in onset.new_proposers)
    return [f"No replica was slow. Seconds of the window: {when}."]


def clients_stay(explained: Explained) -> list[str]:
    """Requires: the client asks all replicas in turn."""
    slow = " and ".join(map(str, explained.slow.slow))
    return [f"A third of the commands go to replica {slow}, until it sends its clients away (E1)."]


def own_memory(explained: Explained) -> list[str]:
    """The heap is larger than what the connections hold."""
    return [
        "Unsent messages were at most"
        f" {size(explained.slow.peak_held_bytes)}: your own data hold the rest, in a container or"
        " in coroutines that do not end.",
        *unfinished(explained, is_call=False),
    ]


def unfinished(explained: Explained, is_call: bool) -> list[str]:
    """The coroutines, or the calls, whose number grew the most, and what they wait for."""
    before = {
        (row.replica, row.name): row.now
        for row in explained.base.unfinished
        if row.is_call == is_call
    }
    now = {
        (row.replica, row.name): row.now
        for row in explained.slow.unfinished
        if row.is_call == is_call
    }
    if not now:
        return []
    replica, name = worst = max(now, key=lambda key: now[key] - before.get(key, 0))
    if now[worst] - before.get(worst, 0) < MANY:
        return []
    what = f"calls {name}" if is_call else f"coroutines `{name}`"
    return [
        f"Replica {replica} had {now[worst]} {what} that had not ended, and"
        f" {before.get(worst, 0)} without the fault."
    ]


def _same(sample: Sample, flow: Flow) -> Flow | None:
    ends = (flow.sender, flow.receiver)
    return next((each for each in sample.flows if (each.sender, each.receiver) == ends), None)


def in_short(wait: Wait) -> str:
    """The wait, after its subject and without a figure: the same with every fault."""
    if _is_sleep(wait):
        return f"slept in `{wait.coroutine}`{' while clients waited' if wait.path_ns else ''}"
    return f"waited for the slow replica in `{wait.coroutine}`"


def describe(wait: Wait, replicas: int) -> str:
    if _is_sleep(wait):
        return f"{_lasted(wait)}."
    majority = replicas // 2 + 1
    return (
        f"{_lasted(wait)}; a QuorumEvent would have needed"
        f" {majority} of {replicas}, counting the leader itself."
    )


def _lasted(wait: Wait) -> str:
    """The time on clients' paths, if there is any. Without the end of the sentence."""
    time = wait.path_ns or wait.total_ns
    often = f"{wait.count} times, {seconds(time)} in all"
    text = f"coroutine `{wait.coroutine}` of replica {wait.replica}"
    if _is_sleep(wait):
        return f"{text} slept{' while clients waited' if wait.path_ns else ''}, {often}"
    return f"{text} waited for {_whom(wait)} ({wait.needed} of {wait.total}), {often}"


def _whom(wait: Wait) -> str:
    peers = " and ".join(map(str, wait.peers))
    if wait.event not in GATHERING and wait.total == 1:
        return f"{wait.event} to replica {peers} alone"
    article = "an" if wait.event[:1].lower() in "aeiou" else "a"
    event = CLASSES.get(wait.event, f"{article} {wait.event}")
    plural = "s" if len(wait.peers) > 1 else ""
    answers = "every answer" if wait.needed == wait.total else f"{wait.needed} answers"
    return f"{answers} of {event} with replica{plural} {peers}"
