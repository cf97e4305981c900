"""The injector of each fault of the catalogue.

On plain processes nothing needs a privilege, except a limit of memory. In containers the processor
and the disk's bandwidth are limited as an engine does it, by a control group, and only root may do
so.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.cluster import data_directory, replica_processes, restart, start, state
from failslow.extras.faults import control_group, duty_cycle, effect_counts, fault_file, link_proxy
from failslow.extras.faults.catalogue import FaultKind
from failslow.extras.faults.targets import Place
from failslow.extras.shared import waiting
from failslow.extras.shared.guard import guarded

LOOK_S = 0.05
"""Between two looks at a stopped replica: they cost time."""
LOCK_S = 20.0
"""The wait of an injector for another command at work in the cluster's directory."""


@dataclass(frozen=True)
class Injection:
    """A fault for one replica. `receivers`: at the other ends of links, if the kind names them."""

    kind: FaultKind
    amount: int
    replica: int
    receivers: tuple[int, ...]
    seconds: float


Begun = Callable[[], None]
Hold = Callable[[Place, Injection, Begun], bool]
"""Injects a fault and says that it has begun, holds it for its time, heals it. Returns whether the
replica outlived it, or ended because the fault ends it. CannotDo when it cannot be injected."""


@dataclass(frozen=True)
class Injector:
    """`mechanism`: in words. `loses`: what is not as in the simulator; empty: nothing. `missing`:
    says what this machine lacks for it. `restarts`: it ends the replica, which must be able to
    start again. `leaves`: what is so when the injector is done; empty: the fault is healed."""

    mechanism: str
    hold: Hold
    loses: str = ""
    missing: Callable[[], str | None] = lambda: None
    restarts: bool = False
    leaves: str = ""


def touched(place: Place, injection: Injection) -> list[int]:
    """The replicas that the injector changes: of a partition both sides."""
    if injection.kind.name == "partition":
        return [injection.replica, *place.others(injection.replica)]
    return [injection.replica]


# ---- by a replica's file of faults ----


def _in_file(place: Place, injection: Injection, begun: Begun) -> bool:
    with _written(place, injection, lambda: None):
        begun()
        return _lives_on(place, injection)


def _failing_disk(place: Place, injection: Injection, begun: Begun) -> bool:
    """A replica whose disk has failed is out of service until it is restarted."""

    def start_anew() -> None:
        _stop(place, injection.replica)
        _start(place, injection.replica)

    with _written(place, injection, lambda: _change(place, start_anew)):
        begun()
        _lives_on(place, injection)
    return True


@contextmanager
def _written(place: Place, injection: Injection, then: Callable[[], None]) -> Iterator[None]:
    """`then`: what else heals the fault."""

    def heal() -> None:
        for number in touched(place, injection):
            fault_file.heal(place.layout.faults(number), place.catalogue, injection.kind)
        then()

    for number in touched(place, injection):
        fault_file.check(place.layout.faults(number), place.catalogue)
    with guarded(heal):
        until_ns = time.monotonic_ns() + round(injection.seconds * 1e9)
        for number in touched(place, injection):
            fault_file.inject(
                place.layout.faults(number),
                place.catalogue,
                injection.kind,
                injection.amount,
                until_ns,
                _receivers(place, injection, number),
            )
        yield


def _receivers(place: Place, injection: Injection, number: int) -> Sequence[int]:
    if injection.kind.name != "partition":
        return injection.receivers
    others = place.others(injection.replica)
    return others if number == injection.replica else [injection.replica]


def _lives_on(place: Place, injection: Injection) -> bool:
    """Waits until the fault's time is over, or the replica ends. Returns whether it lives."""
    deadline = time.monotonic() + injection.seconds
    try:
        process = place.process(injection.replica)
    except CannotDo:  # it ran when the injector began
        return False
    with replica_processes.opened(process) as handle:
        if handle is None:
            return False
        poller = _end_of(handle)
        return not poller.poll(max(0.0, deadline - time.monotonic()) * 1000)


def _end_of(handle: int) -> select.poll:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return poller


# ---- by signals ----


def _duty_cycle(period_s: float) -> Hold:
    def hold(place: Place, injection: Injection, begun: Begun) -> bool:
        with ExitStack() as stack:
            opened = replica_processes.opened
            handles = [
                stack.enter_context(opened(each)) for each in place.processes(injection.replica)
            ]
            if handles[0] is None:
                return False
            processes = [each for each in handles if each is not None]

            def send(number: signal.Signals) -> None:
                for process in processes:
                    with suppress(ProcessLookupError):  # the poll tells
                        signal.pidfd_send_signal(process, number)

            with guarded(lambda: send(signal.SIGCONT)), _counted(place, injection) as look:
                begun()
                percent, ended = injection.amount, _end_of(processes[0])
                until_s = time.monotonic() + injection.seconds
                return duty_cycle.keep(send, ended, percent, period_s, until_s, look)

    return hold


@contextmanager
def _counted(place: Place, injection: Injection) -> Iterator[Callable[[], None]]:
    """A call for the end of each period. In a foreign system it looks now and then. It counts the
    looks that found the replica stopped, when it had run since the look before."""
    if place.family is None:
        yield lambda: None
        return
    number = injection.replica
    pids = [each.pid for each in place.processes(number)]
    counts = effect_counts.CountFile(place.layout.effect_counts(number, effect_counts.STOPS))
    ran_ns = [replica_processes.ran_ns(pid) for pid in pids]
    looked_s = time.monotonic()

    def look() -> None:
        nonlocal ran_ns, looked_s
        if time.monotonic() - looked_s < LOOK_S:
            return
        now_ns = [replica_processes.ran_ns(pid) for pid in pids]
        counts.add(1, all(map(replica_processes.is_stopped, pids)) and now_ns != ran_ns)
        ran_ns, looked_s = now_ns, time.monotonic()

    try:
        yield look
    finally:
        counts.close()


# ---- by a control group ----


def _quota(period_us: int) -> Hold:
    def hold(place: Place, injection: Injection, begun: Begun) -> bool:
        process = place.process(injection.replica)
        group = control_group.make(process.pid, control_group.CPU)
        with guarded(lambda: control_group.remove(group)):
            control_group.limit_cpu(group, process.pid, injection.amount, period_us)
            begun()
            return _lives_on(place, injection)

    return hold


def _throttle(place: Place, injection: Injection, begun: Begun) -> bool:
    process = place.process(injection.replica)
    device = control_group.device_of(place.layout.data)
    group = control_group.make(process.pid, control_group.DISK)
    with guarded(lambda: control_group.remove(group)):
        control_group.limit_disk(group, process.pid, device, injection.amount)
        begun()
        return _lives_on(place, injection)


def _memory(limit_of: Callable[[Place, Injection], int]) -> Hold:
    def hold(place: Place, injection: Injection, begun: Begun) -> bool:
        process = place.process(injection.replica)
        room = limit_of(place, injection) - (replica_processes.memory_bytes(process.pid) or 0)
        group = control_group.make(process.pid, control_group.MEMORY)

        def heal() -> None:
            control_group.remove(group)
            _change(place, lambda: _start(place, injection.replica))

        with guarded(heal):
            if room > 0:
                control_group.limit_memory(group, process.pid, room)
            else:
                replica_processes.kill([process])  # as the kernel does where there is no room
            begun()
            time.sleep(injection.seconds)
        return True

    return hold


def _share_of_the_smallest(place: Place, injection: Injection) -> int:
    others = [
        bytes_
        for process in place.running()
        if process.number != injection.replica
        and (bytes_ := replica_processes.memory_bytes(process.pid))
    ]
    if not others:
        raise CannotDo("memory-share needs a replica without the fault")
    return min(others) * injection.amount // 100


# ---- by an end, or by damage ----


def _crash(place: Place, injection: Injection, begun: Begun) -> bool:
    deadline = time.monotonic() + injection.seconds
    with guarded(lambda: _change(place, lambda: _start(place, injection.replica))):
        replica_processes.kill(place.processes(injection.replica))
        begun()
        time.sleep(max(0.0, deadline - time.monotonic()))
    return True


def _power_cut(place: Place, injection: Injection, begun: Begun) -> bool:
    if place.current.containers:
        raise CannotDo("power-cut is for plain processes, not for containers")
    number, refusals = injection.replica, list[CannotDo]()

    def cut() -> None:
        try:
            with start.uninterrupted():
                replica_processes.kill([place.process(number)])
                _note_end(place, number)
                start.lose_unsynced(place.layout, options, number)
        except CannotDo as refusal:  # trying again would not help
            refusals.append(refusal)

    options = start.options_of(place.layout, place.current)
    _change(place, cut)
    if refusals:
        raise refusals[0]
    begun()
    return True


def _note_end(place: Place, number: int) -> None:
    current = data_directory.loaded(place.layout)
    current.replicas[number].ended = "its power was cut by ./kit faults"
    state.save(place.layout, current)


def _flip_bits(place: Place, injection: Injection, begun: Begun) -> bool:
    begun()
    for path in sorted(place.layout.replica(injection.replica).iterdir()):
        size = path.stat().st_size
        if size == 0:
            continue
        offset = min(size * injection.amount // 1000, size - 1)
        with path.open("r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1]))
            os.fsync(file.fileno())
    return True


# ---- ends and starts of a replica, while `kit cluster` may be at work ----


def _change(place: Place, action: Callable[[], None]) -> None:
    """CannotDo when another command keeps the directory for long."""
    last: list[CannotDo] = []

    def done() -> bool:
        try:
            with data_directory.locked(place.layout):
                action()
        except CannotDo as error:
            last[:] = [error]
            return False
        return True

    if not waiting.until(done, LOCK_S):
        raise last[0]


def _stop(place: Place, number: int) -> None:
    replica_processes.end([each for each in place.running() if each.number == number])


def _start(place: Place, number: int) -> None:
    """Nothing happens if it runs, or if the cluster is down."""
    if number in {process.number for process in place.running()}:
        return
    if place.start is not None:
        place.start(number)
        return
    current = state.load(place.layout)
    if current is not None and current.up:
        restart.restart(place.layout, current, number)


SYNC_KINDS = ("disk-slow", "disk-contention", "fs-delay")
"""The faults that make a sync last longer."""

_FILE_LAYER = "file layer in the replica's disk thread"
_LINK_LAYER = "link layer between the replica and its sockets"
_DISK = Injector(_FILE_LAYER, _in_file, "the device itself and the page cache are as fast as ever")
_LINK = Injector(_LINK_LAYER, _in_file)


def _no_group(controller: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        try:
            control_group.remove(control_group.make(os.getpid(), controller))
        except CannotDo as error:
            return str(error)
        return None

    return missing


def _limits(limit_of: Callable[[Place, Injection], int]) -> Injector:
    lost = "without swap there is no paging: the replica is killed at once"
    missing = _no_group(control_group.MEMORY)
    return Injector("control group for memory", _memory(limit_of), lost, missing, restarts=True)


def _quotas(period_us: int, lost: str = "") -> Injector:
    mechanism = f"control group with a quota, every {period_us // 1000} ms"
    return Injector(mechanism, _quota(period_us), lost, _no_group(control_group.CPU))


INJECTORS = {
    "cpu-slow": Injector(
        "SIGSTOP and SIGCONT, every 10 ms", _duty_cycle(0.01), "it gets its share in slices"
    ),
    "cpu-contention": Injector("SIGSTOP and SIGCONT, every 100 ms", _duty_cycle(0.1)),
    "disk-slow": _DISK,
    "disk-contention": _DISK,
    "fs-delay": Injector(_FILE_LAYER, _in_file, "a write and its sync are two operations"),
    "disk-error": Injector(_FILE_LAYER, _failing_disk, restarts=True),
    "disk-full": Injector(
        _FILE_LAYER, _in_file, "the replica starts again once there is room", restarts=True
    ),
    "net-slow": _LINK,
    "net-jitter": _LINK,
    "packet-loss": _LINK,
    "link-slow": _LINK,
    "partition": _LINK,
    "cut": _LINK,
    "drop": _LINK,
    "duplicate": _LINK,
    "reorder": _LINK,
    "late": _LINK,
    "memory-contention": _limits(lambda _, injection: injection.amount),
    "memory-share": _limits(_share_of_the_smallest),
    "crash": Injector(
        "SIGKILL, and a restart", _crash, "writes that the kernel has are not lost", restarts=True
    ),
    "power-cut": Injector(
        "SIGKILL, and a cut of its files",
        _power_cut,
        restarts=True,
        leaves="it is down until ./kit cluster start",
    ),
    "bit-flip": Injector(
        "one bit in each of its files",
        _flip_bits,
        "what the replica has read stays as it was",
        leaves="the damage stays",
    ),
}
"""By the name of the kind."""

_QUOTAS = {
    "cpu-slow": _quotas(10_000, "it gets its share in slices, longer ones where it is small"),
    "cpu-contention": _quotas(100_000),
}
_THROTTLE = Injector(
    "control group with a bandwidth of the disk",
    _throttle,
    "whole pages count; the file system's journal is as fast as ever",
)


def of_systems(missing: Callable[[], str | None]) -> dict[str, Injector]:
    """Those of the faults that a replica of a foreign system can get. `missing`: what this machine
    lacks to hold its syncs."""
    lost = "a write and a read are as fast as ever; the bytes are those of whole pages"
    syncs = Injector("its syncs are made by slow_syncs, and last longer", _in_file, lost, missing)
    proxy = Injector("proxy before its port", _in_file, "parts of up to 16 KiB, not frames")
    same = ("cpu-slow", "cpu-contention", "memory-contention", "memory-share")
    return {
        **{name: INJECTORS[name] for name in same},
        **dict.fromkeys(SYNC_KINDS, syncs),
        **dict.fromkeys(link_proxy.KINDS, proxy),
    }


def in_containers(data: Path) -> dict[str, Injector]:
    """INJECTORS for replicas in containers. `data`: the directory of their files. Where the disk
    below it cannot be throttled, the file layer takes its place."""
    try:
        control_group.device_of(data)
    except CannotDo:
        return INJECTORS | _QUOTAS
    if _no_group(control_group.DISK)() is not None:
        return INJECTORS | _QUOTAS
    return INJECTORS | _QUOTAS | {"disk-slow": _THROTTLE}


def injector_of(place: Place, kind: FaultKind) -> Injector:
    known = in_containers(place.layout.data) if place.current.containers else INJECTORS
    return known[kind.name]
