"""The constants of lab 6's measurement are those of the same log in memory, which never syncs."""

from functools import partial
from statistics import fmean, median

import pytest

from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.lab import course_key
from failslow.lab.labs import load_labs
from failslow.measurement.binary import Program, Sample, measure_once
from failslow.measurement.runs import BEFORE, LATENCY, NORMAL, SATURATED, Plan, Run
from failslow.measurement.settings import SUBMIT, load_settings

pytestmark = pytest.mark.full

SYSTEM = "measure_memory-durable"
REPLICAS = 5
SEEDS = range(1, 9)
THROUGHPUT, LATENCY_MEAN, LATENCY_P99 = 0.95, 1.05, 1.1
"""Bounds of a submission against the system: less throughput, more latency."""
ROUNDED = 0.01
"""The constants are round numbers."""


def test_the_constants_are_those_of_a_log_in_memory(kit: Kit) -> None:
    lab = load_labs(kit).get("lab6")
    settings = load_settings(kit, lab)
    cmake.build(kit, targets=[SYSTEM])
    assert lab.measurement is not None
    program = Program(kit.binary(SYSTEM), lab.measurement.roles, kit.binary(SYSTEM))
    plan = Plan(
        settings.at(lambda _fault, _count: 0), partial(course_key.seed, course_key.DEVELOPMENT)
    )

    def throughput(run: Run) -> float:
        return measure_once(program, run, settings.rates.capacity_rate).throughput

    capacity = median(map(throughput, plan.capacity(SUBMIT, REPLICAS)))

    def at(load: str, percent: int) -> list[Sample]:
        runs = [Run(REPLICAS, settings.profile, load, BEFORE, NORMAL, seed) for seed in SEEDS]
        rate = capacity * percent / 100
        return [measure_once(program, run, rate) for run in runs]

    full = at(SATURATED, settings.rates.saturated_percent)
    part = at(LATENCY, settings.rates.latency_percent)
    bounds = settings.baselines[SUBMIT, REPLICAS]
    (p99,) = (each.limits for each in settings.criteria if each.figure == "normal p99")
    found = {
        "throughput": THROUGHPUT * fmean(each.throughput for each in full),
        "latency": LATENCY_MEAN * fmean(each.mean_ns for each in part),
        "p99": LATENCY_P99 * fmean(each.p99_ns for each in part),
    }
    stated = {
        "throughput": bounds.throughput_floor,
        "latency": bounds.latency_ceiling_ns,
        "p99": p99["follower"],
    }
    assert stated == pytest.approx(found, rel=ROUNDED)
