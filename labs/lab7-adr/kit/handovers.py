"""`kit faults run --target leader`: whether a slow leader hands over, and what that costs.

A closed loop puts all its clients behind the slow leader. It runs before the fault, too: the
replicas learn what is usual, and the loss is that of document 004, section 2.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from failslow.extras.for_labs import slow_runs

HOLD_S = 30.0
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


def of(made: slow_runs.Run, observed: Sequence[int]) -> Handover:
    """`observed`: the latest successor of the slow leader, and its time; empty without one."""
    successor, after_s = None, None
    if observed and made.span[0] <= observed[1] <= made.span[1]:
        successor, after_s = observed[0], round((observed[1] - made.fault_ns) / 1e9, 1)
    lost, outage_s = made.stages.degradation, made.stages.outage_s
    return Handover(made.replica, successor, after_s, outage_s, lost, made.others_cores)


def judge(runs: Sequence[Handover]) -> slow_runs.Verdict:
    """A figure is known if all runs are on one side of its bar."""
    seconds = [HOLD_S if run.outage_s is None else run.outage_s for run in runs]
    unsure = slow_runs.Verdict(slow_runs.PASS)
    for what, values, bar in (
        ("seconds until it recovers", seconds, OUTAGE_S_AT_MOST),
        ("per cent of throughput lost", [100 * run.lost for run in runs], 100 * LOST_AT_MOST),
    ):
        words = f"{what}: {min(values):.1f} to {max(values):.1f}, at most {bar:g}"
        if min(values) > bar:
            return slow_runs.Verdict(slow_runs.FAIL, words)
        if max(values) > bar:
            unsure = slow_runs.Verdict(slow_runs.INCONCLUSIVE, words)
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


LEADER = slow_runs.SlowRuns(
    runs=(3, 1),
    before_s=20.0,
    hold_s=HOLD_S,
    load=("--clients", 8),
    observed="handed over to",
    outcome=of,
    judge=judge,
    table=table,
)
