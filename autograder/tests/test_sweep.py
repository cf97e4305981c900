"""A sweep's runs, and what it tells of a fault, with invented numbers."""

from dataclasses import replace

import pytest

from failslow.measurement.runs import CAPACITY, LATENCY, LOW_JITTER, NORMAL, SATURATED, Run
from failslow.measurement.settings import SUBMIT
from failslow.measurement.sweep import Cell, Sweep, cells
from failslow.measurement.sweep_table import cost, line
from test_scoring import BASE

SWEEP = Sweep((3, 5), ("cpu-slow", "net-slow"), "follower", (11, 12, 13))
FAULT, SIZE = "net-slow", 3


def test_every_run_has_its_counterpart_once() -> None:
    runs = SWEEP.rest()
    assert len(runs) == len(set(runs)) == 2 * 2 * 3 * (2 + 1)
    for run in runs:
        assert run.with_fault(NORMAL) in runs
        assert run.profile == LOW_JITTER


@pytest.mark.parametrize(
    ("victim", "proposers", "replicas", "of_seeds", "slow"),
    [
        ("follower", 1, 5, [(1, 2), (1, 3), (1, 4)], "follower"),
        ("follower", 1, 3, [(1,), (2,), (1,)], "follower"),
        ("follower", 2, 3, [(1,), (1,), (1,)], "follower"),
        ("leader", 1, 5, [(), (), ()], "leader"),
        ("one-follower", 2, 5, [(1,), (2,), (3,)], "follower"),
        ("leader+follower", 1, 5, [(1,), (2,), (3,)], "leader"),
        ("leader+follower", 1, 3, [(), (), ()], "leader"),
        ("leader+follower", 2, 5, [(1,), (2,), (3,), (1,)], "leader"),
    ],
)
def test_each_seed_slows_another_minority_in_turn(
    victim: str, proposers: int, replicas: int, of_seeds: list[tuple[int, ...]], slow: str
) -> None:
    seeds = tuple(range(11, 11 + len(of_seeds)))
    sweep = replace(SWEEP, victim=victim, proposers=proposers, seeds=seeds)
    runs = sweep.cell(replicas, "cpu-slow")
    assert [(run.seed, run.places) for run in runs] == [*zip(seeds, of_seeds, strict=True)] * 2
    assert {run.victim for run in runs} == {slow}


def test_a_leader_and_followers_of_seven_are_one_minority() -> None:
    sweep = replace(SWEEP, victim="leader+follower", proposers=1)
    assert sweep.cell(7, "cpu-slow")[1].places == (1, 3)


def test_the_capacity_is_that_of_three_seeds() -> None:
    runs = replace(SWEEP, seeds=(1, 2, 3, 4)).capacity(SUBMIT, 5)
    assert [(run.replicas, run.load, run.seed) for run in runs] == [
        (5, CAPACITY, seed) for seed in (1, 2, 3)
    ]


def cell(*changes: tuple[int, str, dict[str, object]]) -> Cell:
    """The cell of FAULT with SIZE replicas. `changes`: the seed and the load of a slow run, and
    how it differs from the run without the fault."""
    samples = dict.fromkeys(SWEEP.rest(), BASE)

    def is_changed(run: Run, seed: int, load: str) -> bool:
        return (run.replicas, run.fault, run.seed, run.load) == (SIZE, FAULT, seed, load)

    for seed, load, differences in changes:
        (run,) = [each for each in samples if is_changed(each, seed, load)]
        samples[run] = replace(samples[run], **differences)
    found = {(each.replicas, each.fault): each for each in cells(SWEEP, samples)}
    assert len(found) == 4
    unchanged = (*SWEEP.replicas[1:], "cpu-slow")
    assert found[unchanged].latency.worst == found[unchanged].throughput.worst == 0
    return found[SIZE, FAULT]


def test_latency_is_of_the_lower_load_and_throughput_of_the_higher() -> None:
    doubled, halved = {"mean_ns": 2 * BASE.mean_ns}, {"throughput": BASE.throughput / 2}
    one = cell((11, LATENCY, doubled), (11, SATURATED, halved))
    assert (one.latency.median, one.latency.worst) == (0, 1)
    assert (one.throughput.median, one.throughput.worst) == (0, 0.5)
    other = cell((11, SATURATED, doubled), (11, LATENCY, halved))
    assert other.latency.worst == other.throughput.worst == 0


def test_the_median_seed_counts_beside_the_worst() -> None:
    slower = [(seed, LATENCY, {"mean_ns": BASE.mean_ns * seed}) for seed in (11, 12, 13)]
    found = cell(*slower)
    assert (found.latency.median, found.latency.worst) == (11, 12)


def test_the_worst_run_of_any_load_counts_for_what_a_mean_hides() -> None:
    for load in (LATENCY, SATURATED):
        found = cell(
            (12, load, {"peak_held_bytes": 10**6, "peak_heap_bytes": BASE.peak_heap_bytes + 7}),
            (13, load, {"completions": (100, 0, 0, 0, 100)}),
        )
        assert (found.held_bytes, found.heap_bytes, found.stall_ns) == (10**6, 7, 3e8)


def test_the_least_lag_tells_whether_the_fault_binds() -> None:
    assert cell((12, SATURATED, {"lag": 3})).lag == 3
    assert cell((12, LATENCY, {"lag": 3})).lag == BASE.lag


def test_an_untrue_answer_and_a_death_are_told() -> None:
    assert cell().misbehaved is None
    assert cell((13, SATURATED, {"error": "replica 1 died"})).misbehaved == "replica 1 died"
    lie = cell((13, LATENCY, {"violation": "answer 7 was on one disk"}))
    assert "answer 7 was on one disk" in line(lie)
    assert "latency grown" not in line(lie)


def test_a_cost_is_short() -> None:
    shares = {0.0004: "0%", 0.042: "4.2%", -0.3: "-30%", 1.0: "2.0x", 99.0: "100x"}
    assert {share: cost(share) for share in shares} == shares
    assert cost(float("inf")) == "all"
