"""A measured row ends once its verdict is settled."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest

from demands import some
from failslow.base.kit import this_kit
from failslow.lab.labs import load_labs
from failslow.measurement.binary import Program, Sample
from failslow.measurement.explain import report
from failslow.measurement.measure import Meter, run_until_settled
from failslow.measurement.runs import (
    BEFORE,
    LATENCY,
    LOW_JITTER,
    NORMAL,
    REALISTIC,
    SATURATED,
    Plan,
    Run,
)
from failslow.measurement.scoring import Row, judge
from failslow.measurement.settings import Graded, Settings, load_settings
from test_scoring import BASE, CPU_SLOW, FULL, PART, PLAN, SETTINGS, SLOW, Where, matches, seed_of

Change = tuple[Where, dict[str, object]]
SampleOf = Callable[[Run], Sample]

RECORDED = Path(__file__).parent / "recorded" / "measured_rows.jsonl"


class Recorded(Meter):
    """Gives samples, and keeps the number of runs of the capacity and of each look."""

    def __init__(self, settings: Settings, sample_of: SampleOf) -> None:
        super().__init__(Program(Path(), (), Path()), settings.rates, settings.loads)
        self._sample_of = sample_of
        self.looks: list[int] = []

    def _run(self, runs: Sequence[Run], advance: object) -> dict[Run, Sample]:
        self.looks.append(len(runs))
        return {run: self._sample_of(run) for run in runs}


def settled(settings: Settings, plan: Plan, sample_of: SampleOf) -> tuple[Recorded, list[Row]]:
    """The rows have the scores of all their runs."""
    meter = Recorded(settings, sample_of)
    rows, _ = run_until_settled(meter, settings, plan.looks(), nobody)
    everything = Recorded(settings, sample_of).run_all(plan, nobody)
    in_full = judge(settings, plan, everything)
    assert [row.score for row in rows] == [row.score for row in in_full]
    return meter, rows


def nobody(done: int, total: int, now: str) -> None:
    """Is told of the progress."""


def measured(*changes: Change, settings: Settings = SETTINGS) -> tuple[Recorded, list[Row]]:
    def sample_of(run: Run) -> Sample:
        found = [change for where, change in changes if matches(run, where)]
        return replace(BASE, **found[-1]) if found else BASE

    return settled(settings, Plan(settings, seed_of), sample_of)


@pytest.mark.parametrize(
    "line", RECORDED.read_text().splitlines(), ids=lambda line: line.partition(',"score')[0]
)
def test_recorded_rows_have_the_score_of_all_their_runs(line: str) -> None:
    """In each order of the seeds: another course key has another one."""
    of = json.loads(line)
    settings = load_settings(this_kit(), load_labs(this_kit()).get(of["lab"])).drawn(seed_of)
    settings = replace(settings, rows=tuple(row for row in settings.rows if row.id == of["row"]))
    samples = {
        Run(*run[:6], tuple(run[6]), *run[7:]): replace(
            BASE, **dict(zip(of["columns"], values, strict=True))
        )
        for run, values in of["samples"]
    }
    needed = set()
    for order in some([*permutations(range(settings.seeds[BEFORE]))]):
        plan = Plan(settings, partial(in_order, order))
        _, (row,) = settled(settings, plan, samples.__getitem__)
        assert row.score == of["score"]
        needed.add(row.runs)
    assert sorted(needed) == of["needed"]


def in_order(order: tuple[int, ...], purpose: str, index: int) -> int:
    is_ordered = purpose in (f"measurement {BEFORE}", f"measurement {REALISTIC}")
    return seed_of(purpose, order[index] if is_ordered else index)


def seed(index: int) -> Where:
    return {"seed": seed_of(f"measurement {BEFORE}", index)}


def test_a_row_far_from_its_limits_ends_with_its_first_seeds() -> None:
    _, (row,) = measured((FULL, {"throughput": 1960.0}), (PART, {"mean_ns": 1_020_000}))
    assert row.runs == "12 of 24 runs"
    assert row.passed
    assert report(SETTINGS, row, None).text.endswith(" 12 of 24 runs decided it: error under 2 %.")


@pytest.mark.parametrize(
    ("where", "change"),
    [
        (FULL, {"throughput": 1940.0}),  # 3 % of 5 %
        (PART, {"p99_ns": 2_600_000}),  # 1.3 times of 1.5
        (PART, {"catch_up_ns": 2600}),  # of 5000
        (SLOW | {"shape": BEFORE}, {"lag": 99}),
    ],
)
def test_a_row_near_a_limit_has_all_its_runs(where: Where, change: dict[str, object]) -> None:
    _, (row,) = measured((where, change))
    assert row.runs == "24 of 24 runs"
    assert report(SETTINGS, row, None).text.endswith("All 24 runs were made.")


@pytest.mark.parametrize(
    ("change", "score", "error"),
    [
        ({"unanswered": 900}, 0, "no other can change the verdict."),
        ({"error": "replica 1 died"}, 0, "no other can change the verdict."),
        ({"mean_ns": 3_000_000}, 0, "no other can change the verdict."),
        ({"peak_held_bytes": 9000}, 34, "error under 2 %."),
    ],
)
def test_a_loss_that_no_run_takes_back_ends_its_row(
    change: dict[str, object], score: float, error: str
) -> None:
    _, (row,) = measured((PART | seed(0), change))
    assert row.score == score
    assert report(SETTINGS, row, None).text.endswith(f"12 of 24 runs decided it: {error}")


def test_a_median_near_its_limit_has_a_second_look() -> None:
    _, (row,) = measured((PART | {"shape": BEFORE} | seed(0), {"p99_ns": 4_000_000}))
    assert row.passed
    assert row.runs == "18 of 24 runs"


def test_one_row_goes_on_alone_and_all_runs_without_a_fault_are_made() -> None:
    rows = (Graded("disk-slow", 3, 20), Graded("cpu-slow", 3, 20))
    strengths = {name: (replace(CPU_SLOW, preset=name),) for name in ("disk-slow", "cpu-slow")}
    two = replace(SETTINGS, rows=rows, strengths=strengths)
    near = ({"fault": "disk-slow", "load": LATENCY}, {"catch_up_ns": 4000})
    meter, (first, second) = measured(near, settings=two)
    assert (first.runs, second.runs) == ("24 of 24 runs", "12 of 24 runs")
    of_a_seed = 6 + 6  # with the fault, and with dead replicas
    assert meter.looks[2:] == [of_a_seed, of_a_seed]


def test_a_normal_run_that_is_slow_is_seen_whatever_its_seed() -> None:
    slow = {"fault": NORMAL, "load": SATURATED, "profile": LOW_JITTER} | seed(2)
    _, (row,) = measured((slow, {"throughput": 900.0}))
    assert row.unslowed is not None
    assert row.unslowed.share == 0.9


def test_looks_are_parts_of_the_plan_and_the_last_is_all_of_it() -> None:
    first, second, last = PLAN.looks()
    assert last is PLAN
    assert set(first.rest()) < set(second.rest()) < set(last.rest())
    without = replace(SETTINGS, seeds=SETTINGS.seeds | {BEFORE: 0, REALISTIC: 0})
    assert len(Plan(without, seed_of).looks()) == 1
