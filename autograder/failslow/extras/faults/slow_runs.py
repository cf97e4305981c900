"""`kit faults run --target ROLE` for a lab that judges a slow ROLE by runs of a kind of its own."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.table import Table

from failslow.base import console
from failslow.extras.cluster import metrics
from failslow.extras.faults import experiment, injection
from failslow.extras.faults.bench import LabBench
from failslow.extras.faults.catalogue import FaultKind
from failslow.extras.faults.experiment import Disturbed, Run
from failslow.extras.faults.verdict import FAIL, INCONCLUSIVE, PASS, Verdict

__all__ = ["FAIL", "INCONCLUSIVE", "PASS", "Run", "SlowRuns", "Verdict", "run"]


@dataclass(frozen=True)
class SlowRuns:
    """`runs`: their number for each fault, and with --quick. `before_s`: the load runs alone, and
    `hold_s`: with the fault. `load`: options of the load generator. `observed`: the name of an
    observation in lab.yaml. `outcome`: a dataclass, from a run and the last values of that
    observation at the slow replica; empty without one. `table`: from a title and outcomes."""

    runs: tuple[int, int]
    before_s: float
    hold_s: float
    load: tuple[object, ...]
    observed: str
    outcome: Callable[[Run, Sequence[int]], Any]
    judge: Callable[[Sequence[Any]], Verdict]
    table: Callable[[str, Sequence[Any]], Table]


_Made = dict[str, tuple[list[Any], Verdict]]
"""The outcomes and the verdict of each fault."""


def run(
    bench: LabBench,
    kind_of_runs: SlowRuns,
    faults: Sequence[tuple[str, FaultKind, int]],
    target: str,
    quick: bool,
    as_json: bool,
) -> int:
    """1 when a fault fails. CannotDo when one cannot be injected."""
    made: _Made = {}
    try:
        for name, kind, amount in faults:
            found = _measured(bench, kind_of_runs, kind, amount, target, quick)
            console.note(f"{name}: {found[1].word} {found[1].reason}".rstrip())
            made[injection.in_words(kind, amount)] = found
    finally:
        _print(kind_of_runs, made, as_json)
    return 1 if any(verdict.word == FAIL for _, verdict in made.values()) else 0


def _print(kind_of_runs: SlowRuns, made: _Made, as_json: bool) -> None:
    """The faults so far: an error at one loses none of those before it."""
    if as_json:
        told = [
            {"fault": fault, "verdict": asdict(verdict), "runs": [asdict(each) for each in runs]}
            for fault, (runs, verdict) in made.items()
        ]
        print(json.dumps(told, indent=1))
        return
    for fault, (runs, _) in made.items():
        console.stdout().print(kind_of_runs.table(fault, runs))


def _measured(
    bench: LabBench, of: SlowRuns, kind: FaultKind, amount: int, target: str, quick: bool
) -> tuple[list[Any], Verdict]:
    """The runs before the first one that was disturbed."""
    (shown,) = (each for each in bench.view.shows if each.name == of.observed)
    experiment.prepare(bench)
    learning = replace(bench, before_s=of.before_s)
    found: list[Any] = []
    for _ in range(of.runs[quick]):
        try:
            made = experiment.slow_run(learning, kind, amount, target, of.hold_s, of.load)
        except Disturbed as error:
            return found, Verdict(INCONCLUSIVE, str(error))
        known = metrics.read(bench.layout.metrics(made.replica))
        found.append(of.outcome(made, known.values(shown.kind) if known else []))
    return found, of.judge(found)
