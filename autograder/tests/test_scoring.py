"""The arithmetic of the slow-follower measurement, with invented numbers."""

import math
from dataclasses import replace

import pytest

from failslow.measurement import scoring
from failslow.measurement.binary import Sample
from failslow.measurement.runs import DEAD, LATENCY, LOW_JITTER, NORMAL, REALISTIC, SATURATED, Run
from failslow.measurement.runs import plan as plan_runs
from failslow.measurement.scoring import Row, judge, scale
from failslow.measurement.settings import Bounds, Settings

BASE = Sample(
    throughput=2000.0,
    mean_ns=1_000_000,
    p99_ns=2_000_000,
    peak_held_bytes=1000,
    catch_up_ns=1000,
    completed=100,
    trace_hash="",
)
SETTINGS = Settings(
    replicas=(3,),
    seeds=3,
    loads=(LATENCY, SATURATED),
    capacity_seed=1,
    bounds=Bounds(
        degradation=0.05, lost_spare=0.03, p99_ratio=1.5, held_bytes=5000, catch_up_ns=5000
    ),
    capacity_floor={3: 1000.0},
    points={"follower": {3: {"cpu-slow": 40}}},
    faults={"cpu-slow": "the CPU of {slow} of {replicas} replicas at 5 %"},
)


def samples(changes: dict[tuple[str, str, str], dict[str, object]], seeds: int = 3) -> dict:
    """BASE for every run; `changes` by (profile, load, fault) for all seeds."""
    return {
        run: replace(BASE, **changes.get((run.profile, run.load, run.fault), {}))
        for run in plan_runs(SETTINGS, seeds)
    }


def judged(changes: dict[tuple[str, str, str], dict[str, object]], capacity: float = 2000) -> Row:
    (row,) = judge(SETTINGS, samples(changes), {3: capacity}, 3)
    return row


def test_no_difference_earns_all_points() -> None:
    row = judged({})
    assert row.passed
    assert row.score == 40
    assert row.criterion(scoring.THROUGHPUT).value == 0


@pytest.mark.parametrize(
    ("where", "change", "criterion", "value"),
    [
        ((LOW_JITTER, SATURATED), {"throughput": 1800.0}, scoring.THROUGHPUT, 0.1),
        ((LOW_JITTER, LATENCY), {"mean_ns": 1_200_000}, scoring.MEAN_LATENCY, 0.2),
        ((LOW_JITTER, LATENCY), {"completed": 90}, scoring.UNANSWERED, 0.1),
        ((LOW_JITTER, LATENCY), {"p99_ns": 4_000_000}, scoring.P99, 2.0),
        ((LOW_JITTER, SATURATED), {"peak_held_bytes": 9000}, scoring.HELD_BYTES, 9000),
        ((REALISTIC, LATENCY), {"peak_held_bytes": 9000}, scoring.HELD_BYTES, 9000),
        ((LOW_JITTER, LATENCY), {"catch_up_ns": 9000}, scoring.CATCH_UP, 9000),
        ((LOW_JITTER, LATENCY), {"catch_up_ns": None}, scoring.CATCH_UP, math.inf),
        ((REALISTIC, SATURATED), {"throughput": 1800.0}, scoring.THROUGHPUT_VS_DEAD, 0.1),
        ((REALISTIC, LATENCY), {"mean_ns": 1_200_000}, scoring.LATENCY_VS_DEAD, 0.2),
    ],
)
def test_each_criterion_alone_loses_the_row(
    where: tuple[str, str], change: dict[str, object], criterion: str, value: float
) -> None:
    row = judged({(*where, "cpu-slow"): change})
    failed = [each.name for each in row.criteria if not each.passed]
    assert failed == [criterion]
    assert row.criterion(criterion).value == pytest.approx(value)
    assert row.score == 0


def test_a_figure_at_its_limit_passes() -> None:
    assert judged({(LOW_JITTER, LATENCY, "cpu-slow"): {"p99_ns": 3_000_000}}).passed


def test_getting_faster_is_never_charged() -> None:
    faster = {"throughput": 4000.0, "mean_ns": 500_000, "p99_ns": 500_000}
    assert judged({(LOW_JITTER, load, "cpu-slow"): faster for load in (LATENCY, SATURATED)}).passed


def test_slow_against_normal_under_realistic_jitter_is_reported_not_charged() -> None:
    row = judged({(REALISTIC, LATENCY, NORMAL): {"mean_ns": 800_000}})
    assert row.passed
    assert row.realistic_latency == pytest.approx(0.25)


def test_the_median_decides_and_the_worst_seed_is_kept() -> None:
    found = samples({})
    odd = Run(3, LOW_JITTER, LATENCY, "cpu-slow", 2)
    found[odd] = replace(BASE, mean_ns=3_000_000)
    (row,) = judge(SETTINGS, found, {3: 2000.0}, 3)
    criterion = row.criterion(scoring.MEAN_LATENCY)
    assert row.passed
    assert criterion.value == 0
    assert criterion.worst == pytest.approx(2.0)
    assert criterion.worst_run == odd


@pytest.mark.parametrize("fault", [NORMAL, "cpu-slow", DEAD])
def test_a_run_that_completes_nothing_passes_nothing(fault: str) -> None:
    nothing = {"throughput": 0.0, "completed": 0, "mean_ns": 0, "p99_ns": 0}
    places = [
        (profile, load, fault) for profile in (LOW_JITTER, REALISTIC) for load in SETTINGS.loads
    ]
    row = judged(dict.fromkeys(places, nothing))
    assert not row.passed
    assert row.score == 0


@pytest.mark.parametrize("fault", [NORMAL, "cpu-slow", DEAD])
def test_misbehaviour_in_any_run_of_the_row_loses_it(fault: str) -> None:
    row = judged({(REALISTIC, LATENCY, fault): {"error": "replica 1 died"}})
    assert row.score == 0
    assert row.error is not None
    assert row.error.startswith("replica 1 died (slow_follower with 3 replicas, realistic")


def test_points_scale_down_below_the_capacity_floor() -> None:
    assert scale(500.0, 1000.0) == 0.5
    assert scale(1000.0, 1000.0) == 1.0
    assert scale(5000.0, 1000.0) == 1.0
    assert scale(0.0, 0.0) == 1.0
    assert judged({}, capacity=250.0).score == 10


@pytest.mark.parametrize(
    ("dead_mean_ns", "limit"),
    [(1_000_000, 0.05), (1_020_000, 0.07), (1_500_000, 0.08), (900_000, 0.05), (0, 0.08)],
)
def test_what_the_same_followers_cost_dead_is_allowed_up_to_a_bound(
    dead_mean_ns: int, limit: float
) -> None:
    dead = {"mean_ns": dead_mean_ns, "completed": 100 if dead_mean_ns else 0}
    slow = {"mean_ns": 1_075_000}
    row = judged({(LOW_JITTER, LATENCY, DEAD): dead, (LOW_JITTER, LATENCY, "cpu-slow"): slow})
    criterion = row.criterion(scoring.MEAN_LATENCY)
    assert criterion.value == pytest.approx(0.075)
    assert criterion.limit == pytest.approx(limit)
    assert criterion.passed == (limit == 0.08)
    assert row.criterion(scoring.THROUGHPUT).limit == pytest.approx(0.05)


def test_lost_throughput_of_dead_followers_is_allowed_likewise() -> None:
    row = judged({(LOW_JITTER, SATURATED, DEAD): {"throughput": 1960.0}})
    assert row.criterion(scoring.THROUGHPUT).limit == pytest.approx(0.07)
    assert row.criterion(scoring.MEAN_LATENCY).limit == pytest.approx(0.05)


def test_the_plan_pairs_every_run_with_a_dead_one() -> None:
    runs = plan_runs(SETTINGS, 10)
    assert len(runs) == len(set(runs)) == 10 * 2 * 2 * 3
    assert {run.with_fault(DEAD) for run in runs} <= set(runs)


PILOTS = replace(
    SETTINGS,
    points={"pilot": {3: {"cpu-slow": 10}}, "follower": {3: {"cpu-slow": 30}}},
)


def test_each_victim_has_rows_of_its_own() -> None:
    measured = dict.fromkeys(plan_runs(PILOTS, 3), BASE)
    for run in measured:
        if run.victim == "pilot" and run.fault == "cpu-slow":
            measured[run] = replace(BASE, mean_ns=9_000_000)
    pilot, follower = judge(PILOTS, measured, {3: 2000}, 3)
    assert (pilot.victim, pilot.score) == ("pilot", 0)
    assert (follower.victim, follower.score) == ("follower", 30)


def test_a_run_without_a_fault_serves_the_rows_of_all_victims() -> None:
    runs = plan_runs(PILOTS, 1)
    assert len(set(runs)) == len(runs)
    assert len([run for run in runs if run.fault == NORMAL]) == 4
    slow = next(run for run in runs if run.victim == "pilot" and run.fault == "cpu-slow")
    assert slow.with_fault(NORMAL) in runs
    assert slow.with_fault(DEAD) in runs
    assert "cpu-slow on the pilot" in str(slow)
