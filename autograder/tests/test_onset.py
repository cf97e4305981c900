"""Figures of a run that has a baseline, a fault and a recovery, with invented numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from demands import some
from failslow.base.errors import CouldNotGrade
from failslow.base.kit import this_kit
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from failslow.measurement import figures
from failslow.measurement.binary import Onset, Program, Sample, command, without_verdict
from failslow.measurement.runs import (
    CHANGING,
    CLOSED,
    FULL,
    LATENCY,
    LONG_ONSET,
    NORMAL,
    ONSET,
    RETURN,
    SHIFT,
    SHIFT_RETURN,
    SPREAD,
    Plan,
    Run,
)
from failslow.measurement.scoring import Row, with_needs
from failslow.measurement.settings import load_settings

FROM, TO, SLICES = 130, 230, 260
"""In slices of 100 ms: the fault, and the window."""


def course(
    answers: Mapping[int, int] | None = None,
    means_ns: Mapping[int, int] | None = None,
    new_proposers: tuple[int, ...] = (),
) -> Sample:
    """100 answers in each slice, and a mean of 1 ms, but for the slices that are named."""
    onset = Onset(
        fault_from=FROM,
        fault_to=TO,
        means_ns=tuple((means_ns or {}).get(at, 1_000_000) for at in range(SLICES)),
        new_proposers=new_proposers,
    )
    counts = tuple((answers or {}).get(at, 100) for at in range(SLICES))
    return replace(without_verdict(CouldNotGrade("")), completions=counts, onset=onset)


def silent(*spans: tuple[int, int]) -> Sample:
    """No answers in these slices."""
    return course({at: 0 for span in spans for at in range(*span)})


TEN_SECONDS = silent((FROM, FROM + 10), (FROM - 101, FROM - 100), (TO, TO + 1))
AFTERWARDS = course(
    dict.fromkeys(range(SLICES - 20, SLICES), 90),
    dict.fromkeys(range(SLICES - 20, SLICES), 1_200_000) | {SLICES - 21: 9_000_000},
)
MEANWHILE = course(means_ns=dict.fromkeys(range(FROM, FROM + 50), 3_000_000) | {TO: 9_000_000})


@pytest.mark.parametrize(
    ("figure", "slow", "value"),
    [
        (figures.onset_loss, TEN_SECONDS, 0.1),
        (figures.onset_loss_later, silent((FROM, FROM + 20)), 0),
        (figures.onset_loss_later, course({FROM + 20: 20}), 0.01),
        (figures.worst_second, silent((FROM + 17, FROM + 25)), 0.8),
        (figures.latency_during, MEANWHILE, 1.0),
        (figures.loss_afterwards, AFTERWARDS, 0.1),
        (figures.latency_afterwards, AFTERWARDS, 0.2),
    ],
)
def test_a_figure_is_of_its_own_part_of_the_run(
    figure: Callable[[Sample, Sample], float], slow: Sample, value: float
) -> None:
    assert figure(course(), slow) == pytest.approx(value)


@pytest.mark.parametrize(
    ("slow", "slices"),
    [
        (course(), 0),
        (course(means_ns={FROM + 6: 2_100_000, FROM + 7: 2_100_000}), 8),
        (course(means_ns={FROM + 7: 9_000_000}), 0),
        (course(means_ns={FROM + 6: 1_900_000, FROM + 7: 1_900_000}), 0),
        (course(means_ns={FROM: 2_100_000, FROM + 1: 2_100_000, FROM - 3: 2_200_000}), 0),
        (course(answers={FROM + 3: 49, FROM + 4: 49}), 5),
        (course(answers={FROM + 4: 51, FROM + 5: 51}), 0),
        (course(means_ns={FROM - 2: 9_000_000, FROM - 1: 9_000_000}), 0),
    ],
)
def test_the_last_bad_slices_end_the_recovery(slow: Sample, slices: int) -> None:
    assert figures.recovery_ns(course(), slow) == slices * 100_000_000


def test_a_run_that_answers_nothing_has_no_good_figures() -> None:
    for figure in (
        figures.onset_loss,
        figures.onset_loss_later,
        figures.worst_second,
        figures.recovery_ns,
    ):
        assert figure(course(), silent((0, SLICES))) == figures.NOTHING_COMPLETED


@pytest.mark.parametrize(
    ("leaders", "slices"), [((), None), ((FROM + 7, FROM + 90), 7), ((FROM - 1, TO), None)]
)
def test_a_leader_is_replaced_during_the_fault(
    leaders: tuple[int, ...], slices: int | None
) -> None:
    found = figures.replaced_ns(course(), course(new_proposers=leaders))
    assert found == (float("inf") if slices is None else slices * 100_000_000)


def answered(*by_replica: int) -> Sample:
    """100 commands in each slice, and that number of messages to clients from each replica."""
    one = course()
    assert one.onset is not None
    answers = tuple((count,) * SLICES for count in by_replica)
    return replace(one, onset=replace(one.onset, answers=answers))


@pytest.mark.parametrize(
    ("by_replica", "away"),
    [((33, 33, 34), 0.01), ((99, 0, 1), 1.0), ((50, 50, 50), 1.0), ((45, 30, 25), 0.25)],
)
def test_a_replica_that_refuses_sends_clients_away(
    by_replica: tuple[int, ...], away: float
) -> None:
    found = answered(*by_replica)
    assert figures.clients_sent_away(found, course()) == pytest.approx(away)
    assert figures.clients_kept_away(course(), found) == pytest.approx(away)


def test_clients_that_return_are_kept_away_by_the_last_2_s_alone() -> None:
    one = answered(33, 33, 34)
    assert one.onset is not None
    first = (*(33,) * (SLICES - 20), *(0,) * 20)
    later = replace(one.onset, answers=(first, *one.onset.answers[1:]))
    assert figures.clients_kept_away(course(), replace(one, onset=later)) == 1


def test_leaders_of_a_healthy_run_are_needless() -> None:
    assert figures.needless_leaders(course(new_proposers=(3, 99)), course()) == 2
    assert figures.needless_leaders(course(), course(new_proposers=(140,))) == 0
    before = course(new_proposers=(FROM - 1, FROM))
    assert figures.needless_leaders(course(), before) == 1, "the fault found another leader"
    assert figures.needless_leaders(before, before) == 2


def test_a_peak_over_the_capacity_counts() -> None:
    capacity = replace(course(), throughput=1000.0)
    assert figures.peak_over_capacity(capacity, course()) == 0
    half = course(dict.fromkeys(range(SLICES - 50, SLICES), 120))
    assert figures.peak_over_capacity(capacity, half) == pytest.approx(0.2)


def test_each_fault_of_lab_7_has_runs_in_two_worlds() -> None:
    kit = this_kit()
    seed_of = partial(course_key.seed, course_key.DEVELOPMENT)
    settings = load_settings(kit, load_labs(kit).get("lab7"))
    drawn = settings.drawn(seed_of)
    assert drawn.profile in settings.worlds
    assert drawn.drawn(seed_of).profile == drawn.profile, "a world that is drawn stays"
    plan = Plan(drawn, seed_of)
    here, there = drawn.profile, drawn.opposite
    assert here != there
    runs = {
        row.fault: {(run.profile, run.shape, run.load) for run in plan.slow(row)}
        for row in drawn.rows
    }
    assert runs["cpu-slow"] == {(here, ONSET, LATENCY), (there, SHIFT, CLOSED)}
    assert runs["endpoint"] == {(here, RETURN, SPREAD), (there, SHIFT_RETURN, SPREAD)}
    assert runs["disk-slow"] == {(here, LONG_ONSET, LATENCY)}
    assert runs["none"] == {(here, CHANGING, FULL)}
    shapes = {run.shape for run in plan.rest() if run.fault == NORMAL}
    assert shapes and shapes <= {ONSET, RETURN, CHANGING}


def test_a_fault_is_as_strong_as_its_world_needs() -> None:
    kit = this_kit()
    settings = load_settings(kit, load_labs(kit).get("lab7")).at(lambda _fault, _count: 0)
    for name in some(settings.worlds):
        drawn = settings.within(name)
        assert settings.within(drawn.opposite).profile in settings.worlds
        presets = [drawn.preset("net-slow", each) for each in (name, drawn.opposite)]
        assert sorted(presets) == ["net-slow-3ms", "net-slow-40ms"], "the other's links are slow"


def test_a_row_may_need_another_one() -> None:
    kit = this_kit()
    settings = load_settings(kit, load_labs(kit).get("lab7")).at(lambda _fault, _count: 0)
    none, cpu = (next(r for r in settings.rows if r.fault == f) for f in ("none", "cpu-slow"))
    lost, kept = Row(cpu, error="it died"), Row(none)
    assert with_needs(settings, kept, [lost, kept]).score == 0
    assert with_needs(settings, kept, [Row(cpu), kept]) == kept


@pytest.mark.parametrize(
    ("load", "words"),
    [(SPREAD, ["--clients-at=all", "--clients=1"]), (CLOSED, ["--clients=8"])],
)
def test_only_a_client_of_a_slow_follower_asks_all_replicas(load: str, words: list[str]) -> None:
    run = Run(3, "world-far", load, RETURN, "cpu-slow", 1)
    argv = command(Program(Path("measure"), ("leader", "follower"), Path("replica")), run, 100.0)
    assert sorted(word for word in argv if str(word).startswith("--clients")) == words


def test_keys_draw_different_worlds() -> None:
    kit = this_kit()
    settings = load_settings(kit, load_labs(kit).get("lab7"))
    keys = [course_key.CourseKey(bytes([number])) for number in range(40)]
    drawn = {settings.drawn(partial(course_key.seed, key)).profile for key in keys}
    assert drawn == settings.worlds.keys()
