"""The runs of the slow-follower measurement."""

from dataclasses import replace
from functools import partial

from demands import some
from failslow.lab import course_key
from failslow.lab.labs import ONE_FOLLOWER
from failslow.measurement.runs import (
    BEFORE,
    DEAD,
    FLAPPING,
    LONG,
    LOW_JITTER,
    NORMAL,
    REALISTIC,
    SLOW_DISK,
    UNDER,
    Places,
    Plan,
    is_compared_with_dead,
)
from failslow.measurement.settings import SUBMIT, Graded, Strength
from test_scoring import PILOTS, PLAN, SETTINGS, seed_of

FIVE = Graded("cpu-slow", 5, 40)


def test_every_run_has_its_counterparts() -> None:
    runs = PLAN.rest()
    assert len(set(runs)) == len(runs)
    for run in runs:
        assert run.with_fault(NORMAL) in runs
        if run.shape == BEFORE:
            assert run.fault == NORMAL or run.with_fault(DEAD) in runs


def test_a_run_without_a_fault_serves_all_slow_sets_and_victims() -> None:
    normal = {run for run in PLAN.rest() if run.fault == NORMAL}
    assert {run.places for run in normal} == {()}
    assert normal == {run for run in Plan(PILOTS, seed_of).rest() if run.fault == NORMAL}


def test_the_key_draws_the_slow_sets_of_five() -> None:
    drawn = {
        base: frozenset(
            run.places
            for run in Plan(
                SETTINGS, partial(course_key.seed, course_key.CourseKey(base.encode()))
            ).slow(FIVE)
        )
        for base in "abcdefgh"
    }
    for sets in some(drawn.values()):
        assert len(sets) == 3
        assert all(len(set(places)) == 2 and set(places) <= {1, 2, 3, 4} for places in sets)
    assert len(set(drawn.values())) > 1


def test_another_victim_than_followers_has_no_places() -> None:
    runs = Plan(PILOTS, seed_of).slow(PILOTS.rows[0])
    assert {run.places for run in runs} == {()}
    assert all("cpu-slow on the pilot" in str(run) for run in runs)
    rest = Plan(PILOTS, seed_of).rest()
    assert {run.victim for run in rest if run.fault == DEAD} == {"follower"}


def test_one_follower_may_be_slow_of_five_or_none() -> None:
    strengths = {**SETTINGS.strengths, NORMAL: (Strength(NORMAL, "none", 0),)}
    settings = replace(SETTINGS, strengths=strengths, profile=SLOW_DISK)
    plan = Plan(settings, seed_of)
    one = plan.slow(replace(FIVE, victim=ONE_FOLLOWER))
    assert {len(run.places) for run in one} == {1}
    assert {(run.victim, run.profile) for run in one} == {
        ("follower", SLOW_DISK),
        ("follower", REALISTIC),
    }
    none = plan.slow(replace(FIVE, fault=NORMAL))
    assert none == [run.with_fault(NORMAL) for run in none]
    assert not any(is_compared_with_dead(run) for run in none)


def test_a_second_proposer_is_no_follower() -> None:
    assert {run.places for run in Plan(PILOTS, seed_of).slow(PILOTS.rows[1])} == {(1,)}
    sets = {run.places for run in Plan(PILOTS, seed_of).slow(FIVE)}
    assert sets == {(1, 2), (1, 3), (2, 3)}


def test_the_plan_is_a_function_of_its_settings_and_seeds() -> None:
    assert PLAN.rest() == Plan(SETTINGS, seed_of).rest()
    other = Plan(SETTINGS, partial(course_key.seed, course_key.CourseKey(b"another")))
    assert not {*PLAN.rest()} & {*other.rest()}


def test_fewer_seeds_are_a_part_of_more() -> None:
    few, more = Plan(SETTINGS, seed_of, 2).rest(), Plan(SETTINGS, seed_of, 5).rest()
    assert {*few} < {*more}


def test_no_seed_serves_two_purposes() -> None:
    runs = PLAN.rest()
    kinds = {run.seed: (run.shape, run.profile) for run in runs}
    assert all(kinds[run.seed] == (run.shape, run.profile) for run in some(runs))
    capacity = [run.seed for run in PLAN.capacity(SUBMIT, 3)]
    assert len(set(capacity)) == 3
    assert not {*capacity} & {*kinds}


def test_short_steady_runs_have_all_slow_sets_and_the_others_one() -> None:
    sets: dict[tuple[str, str], set[Places]] = {}
    for run in PLAN.slow(SETTINGS.rows[0]):
        sets.setdefault((run.shape, run.profile), set()).add(run.places)
    every = {(BEFORE, LOW_JITTER), (UNDER, LOW_JITTER)}
    alone = {(BEFORE, REALISTIC), (FLAPPING, LOW_JITTER), (LONG, LOW_JITTER)}
    assert sets == {key: {(1,), (2,)} for key in every} | {key: {(1,)} for key in alone}


def test_the_faults_take_the_slow_sets_in_turn_for_long_runs() -> None:
    faults = ["cpu-slow", "disk-slow", "net-slow"]
    strengths = dict.fromkeys(faults, SETTINGS.strengths["cpu-slow"])
    plan = Plan(replace(SETTINGS, strengths=strengths), seed_of)
    for shape in (FLAPPING, LONG):
        runs = [plan.slow(Graded(fault, 3, 10)) for fault in faults]
        sets = [{run.places for run in of_row if run.shape == shape} for of_row in runs]
        assert sets == [{(1,)}, {(2,)}, {(1,)}]


def test_a_run_names_all_that_makes_it() -> None:
    runs = [*PLAN.capacity(SUBMIT, 3), *PLAN.rest()]
    assert len({str(run) for run in runs}) == len(runs)
