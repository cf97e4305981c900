"""A fault on real processes, in runs that alternate with healthy ones and with dead replicas.

A run has four stages (document 004, section 2): warm-up, injection, hold, recovery. An open loop
offers a small share of the capacity, so that no replica gains by the processor of a slow one.

All links between replicas have a delay in all runs: that of the loopback is so short that a
machine's noise hides what a fault costs. With it a disk that is out of phase costs nothing, either,
as in the simulator's low-jitter profile.
"""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from failslow.base.errors import CannotDo
from failslow.extras.cluster import data_directory, replica_processes
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import fault_file, injection, verdict
from failslow.extras.faults.bench import Bench
from failslow.extras.faults.catalogue import FaultKind
from failslow.extras.faults.injectors import Injection
from failslow.extras.faults.neighbours import Neighbours
from failslow.extras.faults.stages import SLICE_MS, Slices, Stages
from failslow.extras.faults.verdict import INCONCLUSIVE, Costs, Verdict
from failslow.extras.shared import waiting
from failslow.measurement.settings import Loss

HEALTHY, SLOW, DEAD = CONDITIONS = ("healthy", "slow", "dead")
ORDER = (HEALTHY, SLOW, DEAD, DEAD, SLOW, HEALTHY)
"""So that a machine that gets slower or faster meanwhile favours none."""

AFTER_S = 2.0
SETTLE_S = 0.3
"""The first part of a fault is left out: requests from before are answered in it."""

CAUGHT_UP_S = 15.0
MEMORY_GROWTH_MAX = 64 << 20
STALL_S = 0.5
RATE, CAPACITY_SHARE = 2000, 0.3
CALIBRATION_CLIENTS, CALIBRATION_MS = 64, 500

LINK_DELAY_NS = 2_000_000
LINK_SLOW = "link-slow"
LINKS_S = 600
"""Longer than a run: the delay needs no end."""


class Disturbed(CannotDo):
    """An election or a busy machine prevents the experiment now, and perhaps not later."""


@dataclass(frozen=True, kw_only=True)
class HeldFault:
    """The fault of a run, and how long it holds, in seconds. `amount`: in the unit of its kind.
    `target`: a role, or the number of a replica."""

    kind: FaultKind
    amount: int
    target: str
    hold_s: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """`slices`: all of the window. `began_s`: when the fault began, from the window's begin, and
    `fault_ns` on CLOCK_MONOTONIC; of a healthy run when it would have. `held_bytes`: the most that
    the proposer held for the replica. `caught_up_s`: None if it has not. `leader_changes`: how
    often the load went on with another proposer. `others_cores`: the processors that other programs
    used while the fault held. `disturbed`: what makes it no evidence, if anything does. `void`: the
    reason why the fault had no effect, if it had none. `replica`: the target's number."""

    condition: str
    slices: Slices
    hold_s: float
    began_s: float
    leader_changes: int
    others_cores: float
    held_bytes: int
    leader_grew_bytes: int
    caught_up_s: float | None
    fault_ns: int
    disturbed: str = ""
    void: str = ""
    replica: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """While the fault held, on CLOCK_MONOTONIC."""
        return self.fault_ns, self.fault_ns + round(self.hold_s * 1e9)

    @property
    def held(self) -> Slices:
        """The slices while the fault held."""
        first = round((self.began_s + SETTLE_S) * 1000 / SLICE_MS) + 1
        last = int((self.began_s + self.hold_s) * 1000 / SLICE_MS)
        return self.slices[first:last]

    @property
    def stages(self) -> Stages:
        """The last slice of a window is seldom whole, and no evidence."""
        return Stages(self.slices[:-1], self.began_s, self.hold_s)


@dataclass(frozen=True)
class Experiment:
    """`target`: a role, or a number. `limits`: what it may cost while it is slow. `rate`: puts a
    second. `seconds`: how long it took."""

    fault: str
    target: str
    rate: int
    runs: list[Run]
    costs: Costs
    limits: Loss
    verdict: Verdict
    seconds: float

    def held(self, condition: str) -> Slices:
        return _held(self.runs, condition)

    def others_cores(self, condition: str) -> float:
        return _others_cores(self.runs, condition)


Advance = Callable[[str], None]
Load = tuple[object, ...]
"""The words of the load generator's command line that say what comes when."""


def run(
    bench: Bench, fault: HeldFault, advance: Advance, order: Sequence[str] = ORDER
) -> Experiment:
    """`order`: of the runs' conditions; some are HEALTHY and some are SLOW.

    CannotDo when the fault cannot be injected; Disturbed when the cluster does not answer."""
    began = time.monotonic()
    prepare(bench)
    limits, disturbed = bench.limits(fault.target), bench.disturbed(fault.target)
    rate = rate_of(bench)
    load = ("--rate", rate)
    runs = []
    for number, condition in enumerate(order, start=1):
        words = f"{condition} ({number} of {len(order)})"
        advance(words)
        made = _run(bench, condition, fault, load)
        for _ in range(verdict.REPEATS):
            if not made.disturbed:
                break
            advance(f"{words}, again: {made.disturbed}")
            made = _run(bench, condition, fault, load)
        runs.append(made)
    measured = verdict.costs(_held(runs, HEALTHY), _held(runs, SLOW))
    return Experiment(
        fault=injection.in_words(fault.kind, fault.amount),
        target=fault.target,
        rate=rate,
        runs=runs,
        costs=measured,
        limits=limits,
        verdict=_judged(runs, measured, limits, disturbed),
        seconds=time.monotonic() - began,
    )


def prepare(bench: Bench) -> None:
    """Before runs: delays the links, and waits until no replica is behind."""
    _delay_links(bench)
    _await_caught_up(bench)


def slow_run(bench: Bench, fault: HeldFault, load: Load) -> Run:
    """One run with its healthy stages inside. CannotDo, or Disturbed if the machine was too busy
    each time. Requires: the bench is prepared."""
    for _ in range(1 + verdict.REPEATS):
        made = _run(bench, SLOW, fault, load)
        if not made.disturbed:
            return made
    raise Disturbed(f"{made.disturbed}, {1 + verdict.REPEATS} times")


def _judged(runs: Sequence[Run], measured: Costs, limits: Loss, disturbed: float) -> Verdict:
    reason = next((run.disturbed for run in runs if run.disturbed), "")
    if reason:
        return Verdict(INCONCLUSIVE, f"{reason}, {1 + verdict.REPEATS} times")
    others = _others_cores(runs, HEALTHY), _others_cores(runs, SLOW)
    return verdict.judge(measured, _troubles(runs), others, limits, disturbed)


def _held(runs: Sequence[Run], condition: str) -> Slices:
    return [each for run in runs if run.condition == condition for each in run.held]


def _others_cores(runs: Sequence[Run], condition: str) -> float:
    """On average."""
    return statistics.fmean(run.others_cores for run in runs if run.condition == condition)


def _own(bench: Bench) -> list[int]:
    """Replicas, also those in containers, the load and what else runs for the experiment."""
    replicas = {each.pid for each in bench.place.running()}
    return sorted(replicas.union(replica_processes.descendants(os.getpid())))


def rate_of(bench: Bench) -> int:
    """Puts a second: far below what the cluster can do."""
    warm_up = ("--warm-up-ms", round(bench.warm_up_s * 1000))
    words = ("--clients", CALIBRATION_CLIENTS, *warm_up, "--window-ms", CALIBRATION_MS)
    done = subprocess.run(
        bench.put_load(*words), capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode != 0:
        raise Disturbed("the cluster does not answer the load generator", done.stderr)
    capacity = float(json.loads(done.stdout)["puts_per_second"])
    return max(50, min(RATE, round(capacity * CAPACITY_SHARE)))


def _run(bench: Bench, condition: str, fault: HeldFault, load: Load) -> Run:
    number, leader = _replicas(bench, fault.target)
    held_bytes = bench.watch_held(leader, number)
    void, new_leaders = bench.watch_bite(fault.kind, number), bench.watch_leaders()
    memory = _memory(bench, leader)
    wanted = _injection(bench, condition, fault, number)
    window_s = bench.before_s + fault.hold_s + AFTER_S
    done = _under_load(bench, _argv(bench, load, window_s), wanted, fault.hold_s)
    slices, began_s, changes = _nothing(window_s), bench.before_s, 0
    broken = done.broken
    if not broken:
        slices, began_s, changes = _measured(done.output, done.fault_ns)
        if not any(slices[: int(began_s * 1000 / SLICE_MS)]):
            broken = "no operation was done before the fault"
        changes = max(changes, new_leaders())
    late = not 0 <= began_s <= bench.before_s + AFTER_S
    if late:
        slices, began_s = _nothing(window_s), bench.before_s
    disturbed = _disturbance(condition, changes, broken, late, done.others_cores)
    return Run(
        condition=condition,
        slices=slices,
        hold_s=fault.hold_s,
        began_s=began_s,
        leader_changes=changes,
        others_cores=done.others_cores,
        held_bytes=held_bytes(),
        leader_grew_bytes=_memory(bench, leader) - memory,
        caught_up_s=_await_caught_up(bench),
        fault_ns=done.fault_ns,
        disturbed="" if condition == DEAD else disturbed,
        void=void() if condition == SLOW else "",
        replica=number,
    )


def _argv(bench: Bench, load: Load, window_s: float) -> list[str]:
    """The load generator's command line."""
    words = (*load, "--warm-up-ms", round(bench.warm_up_s * 1000), "--slice-ms", SLICE_MS)
    return bench.put_load(*words, "--window-ms", round(window_s * 1000))


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """The end of the load generator. `broken`: why it did not end well. `fault_ns`: when the fault
    began, on CLOCK_MONOTONIC."""

    output: str
    broken: str
    fault_ns: int
    others_cores: float


def _under_load(
    bench: Bench, argv: Sequence[str], wanted: Injection | None, hold_s: float
) -> _Loaded:
    """Injects while the load runs; None waits as long as the fault would hold, in seconds."""
    begins: list[int] = []
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            time.sleep(bench.warm_up_s + bench.before_s)
            neighbours = Neighbours(_own(bench))
            if wanted is None:
                begins.append(time.monotonic_ns())
                time.sleep(hold_s)
            else:
                injection.inject(bench.place, wanted, lambda: begins.append(time.monotonic_ns()))
                _delay_links(bench)
            others_cores = neighbours.cores()
            patience_s = bench.before_s + hold_s + AFTER_S + 60
            output, errors = running.communicate(timeout=patience_s)
        except BaseException:
            running.terminate()  # it ends what it has started
            raise
    broken = errors.strip() if running.returncode != 0 else ""
    return _Loaded(output=output, broken=broken, fault_ns=begins[0], others_cores=others_cores)


def _disturbance(condition: str, changes: int, broken: str, late: bool, others_cores: float) -> str:
    """The reason why a run is no evidence about a slow replica; empty if it is."""
    if others_cores > verdict.OTHERS_CORES_MAX:
        return f"other programs used {100 * others_cores:.0f} % of a processor"
    if late:
        return "the fault did not begin in time: the machine is too busy"
    if broken:
        return f"the load has ended: {broken}"
    if changes and condition == HEALTHY:
        return "the cluster has changed its proposer without a fault"
    return ""


def _replicas(bench: Bench, target: str) -> tuple[int, int]:
    """The target, and a replica that proposes. An election may be under way: it is waited for."""

    def ask() -> tuple[int, int] | None:
        with suppress(CannotDo):
            number = bench.target(target)
            return number, bench.proposer(but=number)
        return None

    if (found := waiting.first(ask, CAUGHT_UP_S)) is None:
        raise Disturbed(f"no replica has led within {CAUGHT_UP_S:.0f} s")
    return found


def _nothing(window_s: float) -> Slices:
    return [[] for _ in range(round(window_s * 1000 / SLICE_MS))]


def _measured(output: str, fault_ns: int) -> tuple[Slices, float, int]:
    """The slices of a window, when the fault began in it, and how often the leader changed."""
    content = json.loads(output)
    began_s = (fault_ns - content["window_began_ns"]) / 1e9
    return content["slices"], began_s, content["leader_changes"]


def _delay_links(bench: Bench) -> None:
    """Again after each fault: a replica that was started again has healthy links."""
    known = bench.place.catalogue
    until_ns = time.monotonic_ns() + LINKS_S * 10**9
    for number in bench.place.replicas:
        fault_file.inject(
            bench.layout.faults(number),
            known,
            known.kinds[LINK_SLOW],
            LINK_DELAY_NS,
            until_ns,
            bench.place.others(number),
        )


def _injection(bench: Bench, condition: str, fault: HeldFault, number: int) -> Injection | None:
    kind, amount = fault.kind, fault.amount
    if condition == HEALTHY:
        return None
    if condition == DEAD:
        return Injection(bench.place.catalogue.kinds["crash"], 0, number, (), fault.hold_s)
    receivers = tuple(bench.place.others(number)) if kind.to_receivers else ()
    if kind.name == LINK_SLOW:
        amount += LINK_DELAY_NS
    return Injection(kind, amount, number, receivers, fault.hold_s)


def _troubles(runs: Sequence[Run]) -> list[str]:
    troubles = []
    slow = [run for run in runs if run.condition == SLOW]
    if any(run.caught_up_s is None for run in slow):
        troubles.append(f"the replica has not caught up {CAUGHT_UP_S:.0f} s after the fault")
    half = verdict.throughput(_held(runs, HEALTHY)) / 2
    stalled, usual = (
        max(_stall_s(run, half) for run in runs if run.condition == each)
        for each in (SLOW, HEALTHY)
    )
    if stalled >= STALL_S and stalled > usual:
        troubles.append(f"for {stalled:.1f} s less than half of the commands ended")
    grown = max(run.leader_grew_bytes for run in slow)
    if grown > MEMORY_GROWTH_MAX:
        troubles.append(f"the proposer's memory grew by {grown >> 20} MiB")
    return troubles


def _stall_s(run: Run, half: float) -> float:
    """The longest time under the fault in which fewer commands ended in each slice than `half`."""
    longest = now = 0
    first = int(run.began_s * 1000 / SLICE_MS)
    for slice_ in run.slices[first : first + int(run.hold_s * 1000 / SLICE_MS)]:
        now = now + 1 if len(slice_) < half else 0
        longest = max(longest, now)
    return longest * SLICE_MS / 1000


def _await_caught_up(bench: Bench) -> float | None:
    """The time until all replicas have applied the same; None if longer than allowed."""
    began = time.monotonic()

    def is_done() -> bool:
        applied = [bench.applied(number) for number in bench.place.replicas]
        return None not in applied and len(set(applied)) == 1

    return time.monotonic() - began if waiting.until(is_done, CAUGHT_UP_S) else None


def _memory(bench: Bench, number: int) -> int:
    return replica_processes.memory_bytes(bench.place.process(number).pid) or 0


def end(layout: Layout) -> None:
    """Ends the cluster."""
    with data_directory.locked(layout):
        replica_processes.end(replica_processes.find(layout.data))
