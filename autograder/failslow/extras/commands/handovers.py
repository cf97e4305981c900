"""`kit faults run --target leader`, of a lab whose slow leader hands over.

A closed loop puts all its clients behind the slow leader. It runs before the fault, too: the
replicas learn what is usual, and the loss is that of document 004, section 2.2.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from rich import box
from rich.table import Table

from failslow.base import console
from failslow.extras.cluster import metrics
from failslow.extras.faults import experiment, injection
from failslow.extras.faults.bench import LabBench
from failslow.extras.faults.catalogue import FaultKind
from failslow.extras.faults.experiment import Disturbed, HeldFault, Run
from failslow.extras.faults.verdict import FAIL, INCONCLUSIVE, PASS, Verdict

RUNS, QUICK_RUNS = 3, 1
LEARN_S, HOLD_S = 20.0, 30.0
LOAD = ("--clients", 8)
OUTAGE_S_AT_MOST = 2.0
LOST_AT_MOST = 0.1


@dataclass(frozen=True)
class Handover:
    """One run. `successor` and `after_s`: of the leader's hand-over under the fault; None without
    one. `outage_s`: see Stages. `lost`: the share of throughput, while the fault held.
    `others_cores`: the processors that other programs used."""

    leader: int
    successor: int | None
    after_s: float | None
    outage_s: float | None
    lost: float
    others_cores: float


_Made = dict[str, tuple[list[Handover], Verdict]]
"""The runs and the verdict of each fault."""


def are_asked(bench: LabBench, target: str) -> bool:
    return bool(bench.view.hands_over) and target in bench.view.proposers


def run(
    bench: LabBench,
    faults: Sequence[tuple[str, FaultKind, int]],
    target: str,
    quick: bool,
    as_json: bool,
) -> int:
    """1 when a fault fails. CannotDo when one cannot be injected. Requires: they are asked."""
    made: _Made = {}
    try:
        for name, kind, amount in faults:
            found = _measured(bench, kind, amount, target, QUICK_RUNS if quick else RUNS)
            console.note(f"{name}: {found[1].word} {found[1].reason}".rstrip())
            made[injection.in_words(kind, amount)] = found
    finally:
        _print(made, as_json)
    return 1 if any(verdict.word == FAIL for _, verdict in made.values()) else 0


def _print(made: _Made, as_json: bool) -> None:
    """The faults so far: an error at one loses none of those before it."""
    if as_json:
        told = [
            {"fault": fault, "verdict": asdict(verdict), "runs": [asdict(each) for each in runs]}
            for fault, (runs, verdict) in made.items()
        ]
        print(json.dumps(told, indent=1))
        return
    for fault, (runs, _) in made.items():
        console.stdout().print(table(fault, runs))


def _measured(
    bench: LabBench, kind: FaultKind, amount: int, target: str, runs: int
) -> tuple[list[Handover], Verdict]:
    """The runs before the first one that was disturbed."""
    (shown,) = (each for each in bench.view.shows if each.name == bench.view.hands_over)
    experiment.prepare(bench)
    learning = replace(bench, before_s=LEARN_S)
    fault = HeldFault(kind=kind, amount=amount, target=target, hold_s=HOLD_S)
    found: list[Handover] = []
    for _ in range(runs):
        try:
            made = experiment.slow_run(learning, fault, LOAD)
        except Disturbed as error:
            return found, Verdict(INCONCLUSIVE, str(error))
        known = metrics.read(bench.layout.metrics(made.replica))
        found.append(of(made, known.values(shown.kind) if known else []))
    return found, judge(found)


def of(made: Run, observed: Sequence[int]) -> Handover:
    """`observed`: the latest successor of the slow leader, and its time; empty without one."""
    successor, after_s = None, None
    if observed and made.span[0] <= observed[1] <= made.span[1]:
        successor, after_s = observed[0], round((observed[1] - made.fault_ns) / 1e9, 1)
    lost, outage_s = made.stages.degradation, made.stages.outage_s
    return Handover(made.replica, successor, after_s, outage_s, lost, made.others_cores)


def judge(runs: Sequence[Handover]) -> Verdict:
    """A figure is known if all runs are on one side of its bar."""
    seconds = [HOLD_S if run.outage_s is None else run.outage_s for run in runs]
    unsure = Verdict(PASS)
    for what, values, bar in (
        ("seconds until it recovers", seconds, OUTAGE_S_AT_MOST),
        ("per cent of throughput lost", [100 * run.lost for run in runs], 100 * LOST_AT_MOST),
    ):
        words = f"{what}: {min(values):.1f} to {max(values):.1f}, at most {bar:g}"
        if min(values) > bar:
            return Verdict(FAIL, words)
        if max(values) > bar:
            unsure = Verdict(INCONCLUSIVE, words)
    return unsure


def table(fault: str, runs: Sequence[Handover]) -> Table:
    """A line for each run."""
    columns = ("hand-over", "recovers after", "lost in 30 s", "others' cores")
    lines = Table(*columns, title=fault, box=box.SIMPLE_HEAD, pad_edge=False)
    for run in runs:
        handed = f"{run.leader} to {run.successor}, after {run.after_s} s"
        lines.add_row(
            "none" if run.successor is None else handed,
            "never" if run.outage_s is None else f"{run.outage_s:.1f} s",
            f"{100 * run.lost:.1f} %",
            f"{run.others_cores:.2f}",
        )
    return lines
