"""The judgement of the slow-follower measurement, with invented numbers."""

import math
from dataclasses import replace
from functools import partial

import pytest

from failslow.base.kit import this_kit
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from failslow.measurement import figures, scoring
from failslow.measurement.binary import Sample
from failslow.measurement.runs import (
    BEFORE,
    DEAD,
    FLAPPING,
    LATENCY,
    LONG,
    LOW_JITTER,
    NORMAL,
    REALISTIC,
    SATURATED,
    UNDER,
    Plan,
    Run,
)
from failslow.measurement.scoring import Judged, Row, Samples, judge
from failslow.measurement.settings import (
    SUBMIT,
    Baseline,
    Criterion,
    Graded,
    Rates,
    Settings,
    Strength,
    load_settings,
)

BASE = Sample(
    throughput=2000.0,
    offered=1000,
    unanswered=0,
    mean_ns=1_000_000,
    p50_ns=1_000_000,
    p99_ns=2_000_000,
    longest_ns=3_000_000,
    completions=(100,) * 10,
    peak_held_bytes=1000,
    peak_heap_bytes=1000,
    resident_bytes=5 << 20,
    unfinished_coroutines=10,
    pending_requests=10,
    catch_up_ns=1000,
    lag=500,
    completed=1000,
    trace_hash="",
)
CPU_SLOW = Strength(
    preset="cpu-slow",
    words="the CPU of {slow} of {replicas} replicas at 5 %",
    lag_entries=100,
)
LIMITS = {
    "throughput": 0.05,
    "latency": 0.05,
    "median latency": 0.2,
    "throughput, worst run": 0.2,
    "latency, worst run": 0.2,
    "unanswered": 0.005,
    "stall": 200_000_000,
    "throughput over capacity": 0.1,
    "throughput, vs dead": 0.05,
    "latency, vs dead": 0.05,
    "throughput, realistic jitter": 0.3,
    "latency, realistic jitter": 0.3,
    "p99": 1.5,
    "held bytes": 5000,
    "heap": 5000,
    "coroutines": 50,
    "requests": 70,
    "catch-up": 5000,
    "catch-up, long run": 8000,
    "lag, between faults": 900,
}


def bounded(pilot: dict[str, float]) -> tuple[Criterion, ...]:
    """Lab 2's criteria with other limits. `pilot`: those that differ for a pilot."""
    lab = load_labs(this_kit()).get("lab2")
    return tuple(
        replace(each, limits={"follower": limit, "pilot": pilot.get(each.name, limit)})
        for each in load_settings(this_kit(), lab).criteria
        for limit in [LIMITS[each.name]]
    )


SETTINGS = Settings(
    slow_sets=3,
    proposers=1,
    seeds={BEFORE: 3, REALISTIC: 3, UNDER: 1, FLAPPING: 1, LONG: 1},
    rates=Rates(capacity_rate=3000, capacity_seeds=3, latency_percent=65, saturated_percent=120),
    baselines={(SUBMIT, 3): Baseline(throughput_floor=1000, latency_ceiling_ns=2_000_000)},
    above_ceiling=0.25,
    criteria=bounded(pilot={}),
    shares={"speed": 60, "held bytes": 15, "catch-up": 15, "tail": 10},
    rows=(Graded("cpu-slow", 3, 40),),
    strengths={"cpu-slow": (CPU_SLOW,)},
)
seed_of = partial(course_key.seed, course_key.DEVELOPMENT)
PLAN = Plan(SETTINGS, seed_of)

Where = dict[str, object]


def matches(run: Run, where: Where) -> bool:
    """`where`: the wanted values of the run's fields."""
    return all(getattr(run, field) == value for field, value in where.items())


def samples(*changes: tuple[Where, dict[str, object]]) -> dict[Run, Sample]:
    """BASE for every run; later changes win."""
    found = dict.fromkeys([*PLAN.capacity(SUBMIT, 3), *PLAN.rest()], BASE)
    for where, change in changes:
        chosen = [run for run in found if matches(run, where)]
        assert chosen, f"no run is {where}"
        found |= {run: replace(found[run], **change) for run in chosen}
    return found


def _all_of(plan: Plan, *mixes: str) -> dict[Run, Sample]:
    """BASE for every run of a plan with three replicas."""
    capacity = [run for mix in mixes for run in plan.capacity(mix, 3)]
    return dict.fromkeys([*capacity, *plan.rest()], BASE)


def judged_samples(found: Samples) -> Row:
    (row,) = judge(SETTINGS, PLAN, found)
    return row


def judged(*changes: tuple[Where, dict[str, object]]) -> Row:
    return judged_samples(samples(*changes))


def one(where: Where, change: dict[str, object]) -> Row:
    """Changes the first run that fits."""
    found = samples()
    run = next(run for run in found if matches(run, where))
    return judged_samples(found | {run: replace(BASE, **change)})


SLOW: Where = {"fault": "cpu-slow"}
STEADY: Where = SLOW | {"profile": LOW_JITTER}
FULL: Where = STEADY | {"load": SATURATED}
PART: Where = STEADY | {"load": LATENCY}
DEAD_FULL: Where = FULL | {"fault": DEAD}


def criterion(row: Row, name: str) -> Judged:
    return next(each for each in row.criteria if each.name == name)


def failed(row: Row) -> list[str]:
    return [each.name for each in row.criteria if not each.passed]


def test_no_difference_earns_all_points() -> None:
    row = judged()
    assert row.passed
    assert row.score == 40
    assert criterion(row, "throughput").value == 0


@pytest.mark.parametrize(
    ("where", "change", "name", "value"),
    [
        (FULL, {"throughput": 1880.0}, "throughput", 0.06),
        (PART, {"mean_ns": 1_060_000}, "latency", 0.06),
        # A few late answers of the normal run hide no slower median.
        (PART, {"p50_ns": 1_210_000}, "median latency", 0.21),
        (FULL | {"profile": REALISTIC}, {"throughput": 1800}, "throughput, vs dead", 0.1),
        (PART | {"profile": REALISTIC}, {"mean_ns": 1_100_000}, "latency, vs dead", 0.1),
        (PART | {"shape": LONG}, {"mean_ns": 1_300_000}, "latency, worst run", 0.3),
        (PART | {"shape": UNDER}, {"mean_ns": 1_300_000}, "latency, worst run", 0.3),
        (FULL | {"shape": UNDER}, {"throughput": 1400}, "throughput, worst run", 0.3),
        (PART | {"shape": LONG}, {"unanswered": 6}, "unanswered", 0.006),
        (PART | {"profile": REALISTIC}, {"unanswered": 6}, "unanswered", 0.006),
        (
            {"fault": NORMAL, "load": LATENCY, "shape": UNDER},
            {"unanswered": 6},
            "unanswered",
            0.006,
        ),
        (FULL | {"shape": UNDER}, {"completions": (49,) * 3}, "stall", 300_000_000),
        (
            PART | {"shape": LONG},
            {"completions": (100, 49, 49, 49, 49, 100)},
            "stall",
            400_000_000,
        ),
    ],
)
def test_each_figure_of_speed_alone_loses_the_row(
    where: Where, change: dict[str, object], name: str, value: float
) -> None:
    """The limit against normal holds even if dead replicas cost as much."""
    dead = [(where | {"fault": DEAD}, change)] if name in ("throughput", "latency") else []
    row = judged((where, change), *dead)
    assert failed(row) == [name]
    assert criterion(row, name).value == pytest.approx(value)
    assert row.score == 0


@pytest.mark.parametrize(
    ("change", "grown"),
    [
        ({}, 0),
        ({"peak_heap_bytes": 900}, 0),
        ({"peak_heap_bytes": 1700}, 700),
        ({"resident_bytes": (21 << 20) - 1}, 0),
        ({"resident_bytes": 21 << 20}, 16 << 20),
        ({"resident_bytes": 1 << 20}, 0),
        ({"resident_bytes": 21 << 20, "peak_heap_bytes": 2000}, 1000),
        ({"resident_bytes": 21 << 20, "unfinished_coroutines": 60}, 0),
    ],
)
def test_memory_that_no_claim_explains_counts_as_heap(change: dict[str, int], grown: int) -> None:
    """A machine's noise is less than 16 MiB."""
    assert figures.heap_growth(BASE, replace(BASE, **change)) == grown


@pytest.mark.parametrize(
    ("where", "change", "name", "score"),
    [
        (PART, {"p99_ns": 4_000_000}, "p99", 36),
        (FULL, {"peak_held_bytes": 9000}, "held bytes", 34),
        (FULL, {"peak_heap_bytes": 7000}, "heap", 34),
        (FULL, {"resident_bytes": 21 << 20}, "heap", 34),
        (SLOW | {"profile": REALISTIC}, {"peak_held_bytes": 9000}, "held bytes", 34),
        (PART, {"unfinished_coroutines": 61}, "coroutines", 34),
        (PART | {"shape": LONG}, {"pending_requests": 81}, "requests", 34),
        (PART | {"shape": LONG}, {"catch_up_ns": 9000}, "catch-up, long run", 34),
        (PART | {"shape": BEFORE}, {"catch_up_ns": 6000}, "catch-up", 34),
        (PART | {"shape": UNDER}, {"catch_up_ns": None}, "catch-up", 34),
        (PART | {"shape": FLAPPING}, {"lag": 901}, "lag, between faults", 34),
    ],
)
def test_other_figures_cost_their_share(
    where: Where, change: dict[str, object], name: str, score: float
) -> None:
    row = judged((where, change))
    assert failed(row) == [name]
    assert not row.passed
    assert row.score == score


def test_other_shares_count_only_where_speed_holds() -> None:
    held = {"peak_held_bytes": 9000}
    assert judged((PART, held), (PART, {"p99_ns": 4_000_000})).score == 30
    row = judged((SLOW, held), (FULL, {"throughput": 100.0, "mean_ns": 10**9}))
    assert row.score == 0
    worst = row.worst_criterion()
    assert worst
    assert worst.share == scoring.SPEED


def test_two_lost_figures_of_a_share_cost_it_once() -> None:
    assert judged((PART, {"catch_up_ns": None, "lag": 901})).score == 34


@pytest.mark.parametrize(
    ("where", "change"),
    [
        (PART, {"p99_ns": 3_000_000}),
        (PART, {"p50_ns": 1_190_000}),
        # No row is charged for getting faster.
        (SLOW, {"throughput": 4000.0, "mean_ns": 500_000, "p99_ns": 500_000}),
        (PART, {"unanswered": 5}),
        (PART, {"completions": (100, 49, 49, 50, 49, 49)}),
        (PART, {"peak_held_bytes": 5000, "peak_heap_bytes": 6000, "catch_up_ns": 5000}),
        (PART | {"shape": LONG}, {"catch_up_ns": 8000}),
        (PART | {"shape": FLAPPING}, {"lag": 900}),
        (PART | {"shape": LONG}, {"lag": 9000}),
        (FULL, {"unanswered": 900}),
        (FULL, {"catch_up_ns": None}),
        (PART, {"unfinished_coroutines": 60, "pending_requests": 80}),
        (FULL, {"unfinished_coroutines": 900, "pending_requests": 900}),
    ],
)
def test_what_is_within_the_limits_costs_nothing(where: Where, change: dict[str, object]) -> None:
    assert judged((where, change)).passed


def test_under_realistic_jitter_a_lost_spare_may_cost_more() -> None:
    """Slow and dead replicas cost the same there. A wait that needs jitter would hide behind it."""
    spare = {"profile": REALISTIC, "fault": NORMAL}
    assert judged((spare, {"mean_ns": 800_000})).passed
    row = judged((spare, {"mean_ns": 760_000}))
    assert failed(row) == ["latency, realistic jitter"]
    assert criterion(row, "latency, realistic jitter").value == pytest.approx(1 / 0.76 - 1)
    row = judged((spare, {"throughput": 3000.0}))
    assert failed(row) == ["throughput, realistic jitter"]


def test_a_capacity_below_the_throughput_of_other_runs_is_none() -> None:
    normal = {"fault": NORMAL, "load": SATURATED, "profile": LOW_JITTER}
    quick = {"throughput": 2190.0}
    assert judged((normal, quick), (FULL, quick), (DEAD_FULL, quick)).passed
    quick = {"throughput": 2210.0}
    row = judged((normal, quick), (FULL, quick), (DEAD_FULL, quick))
    assert failed(row) == ["throughput over capacity"]


def test_the_median_decides_and_the_worst_run_has_a_bound_of_its_own() -> None:
    assert one(PART, {"mean_ns": 1_200_000}).passed
    row = one(PART, {"mean_ns": 1_210_000})
    assert failed(row) == ["latency, worst run"]
    row = one(FULL, {"throughput": 1599.0})
    assert failed(row) == ["throughput, worst run"]


def test_a_median_above_the_limit_is_not_excused_by_one_good_run() -> None:
    found = samples((PART, {"mean_ns": 1_060_000}))
    for places in ((1,), (2,)):
        run = next(run for run in found if matches(run, PART | {"places": places}))
        found[run] = BASE
    assert "latency" in failed(judged_samples(found))


def test_the_slow_set_with_the_worst_median_counts() -> None:
    first, second = ((1,), (2,))
    row = judged((PART | {"places": first}, {"mean_ns": 1_060_000}))
    assert criterion(row, "latency").value == pytest.approx(0.06)
    assert criterion(row, "latency").worst_run.places == first
    row = judged((PART | {"places": second}, {"p99_ns": 4_000_000}))
    assert criterion(row, "p99").worst_run.places == second
    assert row.score == 36


@pytest.mark.parametrize("fault", [NORMAL, "cpu-slow", DEAD])
def test_a_run_that_completes_nothing_passes_nothing(fault: str) -> None:
    nothing = {"throughput": 0.0, "completed": 0, "mean_ns": 0, "p99_ns": 0, "completions": (0,)}
    row = judged(({"fault": fault}, nothing))
    assert not row.passed
    assert row.score == 0


def test_a_run_in_which_nothing_was_offered_passes_nothing() -> None:
    assert math.isinf(criterion(judged((PART, {"offered": 0})), "unanswered").value)


@pytest.mark.parametrize("fault", [NORMAL, "cpu-slow", DEAD])
def test_misbehaviour_in_any_run_of_the_row_loses_it(fault: str) -> None:
    row = one({"profile": REALISTIC, "fault": fault}, {"error": "replica 1 died"})
    assert row.score == 0
    assert row.error is not None
    assert row.error.startswith("replica 1 died (slow_follower with 3 replicas, realistic")


@pytest.mark.parametrize(
    "where", [SLOW | {"shape": LONG}, {"fault": DEAD}, {"fault": NORMAL}, {"load": "capacity"}]
)
def test_a_violated_invariant_in_any_run_voids_all_rows(where: Where) -> None:
    both = replace(SETTINGS, rows=(Graded("disk-slow", 3, 20), Graded("cpu-slow", 3, 20)))
    both = replace(both, strengths=dict.fromkeys(["disk-slow", "cpu-slow"], (CPU_SLOW,)))
    plan = Plan(both, seed_of)
    found = dict.fromkeys([*plan.capacity(SUBMIT, 3), *plan.rest()], BASE)
    run = next(run for run in found if matches(run, where))
    found[run] = replace(BASE, violation="answer 7 was not on a majority of disks")
    rows = judge(both, plan, found)
    assert [row.score for row in rows] == [0, 0]
    assert all("answer 7 was not on a majority of disks" in (row.error or "") for row in rows)


NEEDLESS = "a healthy leader stays violated at 3.0 s: replica 0 hands over (H1)"
AGAIN = NEEDLESS.replace("3.0", "4.0")


@pytest.mark.parametrize(
    ("said", "scores", "words"),
    [
        ({"cpu-slow": NEEDLESS}, [20, 0, 20], "a rule is violated, which costs the row: "),
        ({NORMAL: NEEDLESS}, [20, 20, 0], "a rule is violated, which costs the row: "),
        ({NORMAL: NEEDLESS, "cpu-slow": NEEDLESS}, [20, 20, 0], ""),
        ({NORMAL: NEEDLESS, "cpu-slow": AGAIN}, [0, 0, 0], "a rule is violated more than once"),
        ({"cpu-slow": "one vote " + NEEDLESS}, [0, 0, 0], "safety is violated, which voids all"),
    ],
)
def test_a_lone_violation_of_some_rules_costs_one_row(
    said: dict[str, str], scores: list[int], words: str
) -> None:
    faults = ["disk-slow", "cpu-slow", NORMAL]
    settings = replace(
        SETTINGS,
        rows=tuple(Graded(fault, 3, 20) for fault in faults),
        strengths={fault: (replace(CPU_SLOW, preset=fault),) for fault in faults},
        row_rules=frozenset({"a healthy leader stays"}),
    )
    plan = Plan(settings, seed_of)
    found = dict.fromkeys([*plan.capacity(SUBMIT, 3), *plan.rest()], BASE)
    for fault, violation in said.items():
        run = next(run for run in found if matches(run, {"fault": fault, "shape": LONG}))
        found[run] = replace(BASE, violation=violation)
    rows = judge(settings, plan, found)
    assert [row.score for row in rows] == scores
    assert {row.error[: len(words)] for row in rows if row.error is not None} == {words}


def test_a_row_without_a_lagging_replica_is_void() -> None:
    before = SLOW | {"shape": BEFORE}
    row = judged((before, {"lag": 99}))
    assert row.is_void
    assert row.score == 0
    assert judged((before | {"places": (2,)}, {"lag": 99})).is_void
    assert judged((before, {"lag": 100})).passed
    # The load that must put it behind depends on the fault: one load of every slow set is enough.
    assert judged((SLOW | {"load": SATURATED}, {"lag": 0})).passed
    assert judged((SLOW | {"load": LATENCY}, {"lag": 0})).passed


def test_waiting_for_the_slow_replica_is_lost_speed_and_not_void() -> None:
    row = judged((FULL, {"lag": 0, "throughput": 100.0}))
    assert not row.is_void
    assert row.score == 0


@pytest.mark.parametrize(
    ("load", "change", "score"),
    [
        (SATURATED, {"throughput": 1000.0}, 40),
        (SATURATED, {"throughput": 500.0}, 20),
        (LATENCY, {"mean_ns": 2_000_000}, 40),
        (LATENCY, {"mean_ns": 2_000_001}, 10),
        (LATENCY, {"mean_ns": 5_000_000}, 4),
    ],
)
def test_points_scale_down_with_a_slow_baseline(
    load: str, change: dict[str, object], score: float
) -> None:
    row = judged(({"profile": LOW_JITTER, "load": load}, change))
    assert row.score == pytest.approx(score, abs=0.01)
    assert row.passed == (score == 40)


def test_every_run_without_a_fault_must_keep_the_bounds() -> None:
    normal: Where = {"profile": LOW_JITTER, "fault": NORMAL}
    assert one(normal | {"load": SATURATED}, {"throughput": 500.0}).score == 20
    assert one(normal | {"load": LATENCY, "shape": LONG}, {"mean_ns": 5_000_000}).score == 4


def test_the_smaller_of_floor_and_ceiling_counts() -> None:
    slow = {"throughput": 100.0, "mean_ns": 3_000_000}
    assert judged(({"profile": LOW_JITTER}, slow)).score == 4


PILOTS = replace(
    SETTINGS,
    proposers=2,
    criteria=bounded(pilot={"throughput": 0.1, "latency": 0.15}),
    rows=(Graded("cpu-slow", 3, 10, "pilot"), Graded("cpu-slow", 3, 30)),
)


def test_each_victim_has_rows_of_its_own() -> None:
    plan = Plan(PILOTS, seed_of)
    measured = _all_of(plan, SUBMIT)
    for run in measured:
        if run.victim == "pilot" and run.fault == "cpu-slow":
            measured[run] = replace(BASE, mean_ns=9_000_000)
    pilot, follower = judge(PILOTS, plan, measured)
    assert (pilot.graded.victim, pilot.score) == ("pilot", 0)
    assert (follower.graded.victim, follower.score) == ("follower", 30)


def test_each_victim_has_its_own_bounds() -> None:
    plan = Plan(PILOTS, seed_of)

    def both(mean_ns: int) -> list[bool]:
        slower = replace(BASE, mean_ns=mean_ns)
        runs = _all_of(plan, SUBMIT)
        measured = {run: BASE if run.fault != "cpu-slow" else slower for run in runs}
        return [row.passed for row in judge(PILOTS, plan, measured)]

    assert both(1_040_000) == [True, True]
    assert both(1_140_000) == [True, False]
    assert both(1_160_000) == [False, False]


def test_each_mix_has_a_baseline_of_its_own() -> None:
    reads = replace(
        SETTINGS,
        rows=(Graded("cpu-slow", 3, 10, mix="get"), Graded("cpu-slow", 3, 30)),
        baselines=SETTINGS.baselines | {("get", 3): Baseline(4000, 2_000_000)},
    )
    plan = Plan(reads, seed_of)
    get, submit = judge(reads, plan, _all_of(plan, SUBMIT, "get"))
    assert (get.graded.mix, get.score) == ("get", 5)
    assert (submit.graded.mix, submit.score) == (SUBMIT, 30)


def test_a_measurement_may_leave_out_shapes_and_the_realistic_profile() -> None:
    few = replace(SETTINGS, seeds={BEFORE: 1, REALISTIC: 0, UNDER: 0, FLAPPING: 0, LONG: 0})
    plan = Plan(few, seed_of)
    (row,) = judge(few, plan, _all_of(plan, SUBMIT))
    assert row.score == 40
    names = {each.name for each in row.criteria}
    assert not names & {"catch-up, long run", "lag, between faults", "latency, realistic jitter"}
