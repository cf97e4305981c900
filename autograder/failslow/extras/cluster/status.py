"""The present state of each replica of a cluster."""

import dataclasses
import time
from dataclasses import dataclass, field

from failslow.extras.cluster import metrics, replica_processes
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.metrics import Metrics
from failslow.extras.cluster.replica_processes import Process
from failslow.extras.cluster.start import last_lines
from failslow.extras.cluster.state import Replica, State
from failslow.lab.labs import Lab

# A replica's event loop writes a line every second. One that has not for this long is not slow:
# its thread does not come back to the loop.
SILENT_S = 3.0

RUNS = "runs"
SUSPENDED = "suspended"
STUCK = "stuck"
OUT_OF_SERVICE = "out of service"
DEAD = "dead"


@dataclass(frozen=True)
class ReplicaStatus:
    """`pid` is that of the latest start. A field that a dead replica cannot have is None or empty.

    `shows` are the lab's own columns. Rates are per second, over the last two lines of metrics.
    `held_bytes`: the bytes that it holds for each replica. `remark`: why it does not run, if that
    is known.
    """

    id: int
    port: int
    state: str
    pid: int | None
    up_s: float | None = None
    shows: dict[str, str | int | None] = field(default_factory=dict)
    held_bytes: list[int] = field(default_factory=list)
    requests_per_s: float | None = None
    frames_per_s: float | None = None
    syncs_per_s: float | None = None
    cpu_percent: float | None = None
    cpu_ms: int | None = None
    memory_bytes: int | None = None
    dropped_frames: int | None = None
    remark: str = ""
    redis_port: int | None = None


def of_all(layout: Layout, current: State, lab: Lab) -> list[ReplicaStatus]:
    running = {process.number: process for process in replica_processes.find(layout.data)}
    found = [
        dataclasses.replace(
            _running(layout, lab, replica.port, running[number])
            if number in running
            else _dead(layout, number, replica),
            redis_port=replica.redis_port,
        )
        for number, replica in enumerate(current.replicas)
    ]
    return [
        replica
        for group in current.members
        for replica in with_answers(lab, found[group.start : group.stop])
    ]


def with_answers(lab: Lab, group: list[ReplicaStatus]) -> list[ReplicaStatus]:
    """The group, with a remark on each replica that awaits the answers of others."""
    assert lab.cluster is not None, "checked when the cluster was made"
    if lab.cluster.recovers is None:
        return group
    column, word = lab.cluster.recovers
    answers = sum(
        each.state == RUNS and each.shows.get(column) not in (None, word) for each in group
    )
    remark = f"{word}: {answers} of {len(group) // 2} answers"
    return [
        dataclasses.replace(each, remark=each.remark or remark)
        if each.shows.get(column) == word
        else each
        for each in group
    ]


def serves(lab: Lab, current: State, replicas: list[ReplicaStatus]) -> bool:
    """Whether all run, and one of each group reports the state that lab.yaml calls ready."""
    assert lab.cluster is not None, "checked when the cluster was made"
    ready = lab.cluster
    return all(replica.shows and replica.state == RUNS for replica in replicas) and all(
        any(replicas[each].shows[ready.ready_name] == ready.ready_is for each in members)
        for members in current.members
    )


def _dead(layout: Layout, number: int, replica: Replica) -> ReplicaStatus:
    lines = last_lines(layout.log(number), 1)
    said = f"its log ends with: {lines}" if lines else "its log is empty: killed, perhaps"
    return ReplicaStatus(number, replica.port, DEAD, replica.pid, remark=replica.ended or said)


def _running(layout: Layout, lab: Lab, port: int, process: Process) -> ReplicaStatus:
    up_s = replica_processes.age_s(process.start_ticks)
    known = metrics.read(layout.metrics(process.number))
    silent_s = up_s - (known.uptime_ms / 1000 if known else 0)
    state, remark = _state(process, silent_s, known)
    if known is None:
        return ReplicaStatus(process.number, port, state, process.pid, up_s, remark=remark)
    fresh = known if state == RUNS else Metrics(known.last, None)  # an old rate is no rate
    cpu = fresh.rate("cpu_ms")
    return ReplicaStatus(
        id=process.number,
        port=port,
        state=state,
        pid=process.pid,
        up_s=up_s,
        shows=_shows(lab, known),
        held_bytes=known.last["held_bytes"],
        requests_per_s=fresh.rate("client_frames_in"),
        frames_per_s=fresh.rate("frames_in", "frames_out"),
        syncs_per_s=fresh.rate("disk_syncs"),
        cpu_percent=None if cpu is None else cpu / 10,
        cpu_ms=replica_processes.cpu_ms(process.pid),
        memory_bytes=replica_processes.memory_bytes(process.pid),
        dropped_frames=known.last["dropped_frames"],
        remark=remark,
    )


def _state(process: Process, silent_s: float, known: Metrics | None) -> tuple[str, str]:
    if process.status == replica_processes.SUSPENDED:
        return SUSPENDED, f"suspended by a signal; kill -CONT {process.pid} lets it go on"
    if silent_s > SILENT_S:
        return STUCK, f"its event loop has not turned for {silent_s:.0f} s"
    if known is not None and known.disk_failure:
        return OUT_OF_SERVICE, f"its disk has failed: {known.disk_failure}"
    return RUNS, ""


def _shows(lab: Lab, known: Metrics) -> dict[str, str | int | None]:
    assert lab.cluster is not None, "checked when the cluster was made"
    now_ns = time.monotonic_ns()
    return {shown.name: shown.cell(known.values(shown.kind), now_ns) for shown in lab.cluster.shows}
