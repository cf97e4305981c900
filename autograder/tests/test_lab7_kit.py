"""Lab 7 alone: what `kit bench adr` and its like say of detectors."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from demands import some
from failslow.base.errors import CouldNotGrade
from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.extras.bench.figures import Section
from failslow.extras.bench.load import Result
from failslow.lab.labs import load_labs
from failslow.measurement.binary import Onset, Sample, without_verdict
from failslow.measurement.settings import load_settings

KIT = this_kit()
adr = lab_kits.load(KIT, load_labs(KIT).get("lab7"))
assert adr is not None


def sample(under_fault: int, *new_proposers: int, late_ns: int = 0) -> Sample:
    """A fault from 10 s on, for 10 s, which leaves that many of 100 commands in a slice."""
    onset = Onset(100, 200, (1,) * 100 + (1 + late_ns,) * 100 + (1,) * 10, new_proposers)
    completions = (100,) * 100 + (under_fault,) * 100 + (100,) * 10
    return replace(without_verdict(CouldNotGrade("")), completions=completions, onset=onset)


def learned(run: "adr.Run", late_ns: int = 0) -> Sample:  # type: ignore[name-defined]
    """A throughput for each number of clients, and a nanosecond of latency without a fault."""
    clients = int(next(word for word in run.words if word.startswith("--clients=")).split("=")[1])
    one = sample(100, late_ns=0 if "--fault=none" in run.words else late_ns)
    return replace(one, completions=(clients,) * 210)


def measured(ours: Sample, ours_without_fault: Sample) -> Section:
    def result(run: "adr.Run") -> Sample:  # type: ignore[name-defined]
        if run in adr.plan_offline():
            return learned(run)
        if run.system != adr.OURS:
            return sample(20)
        return ours_without_fault if "--shape=changing" in run.words else ours

    found: Section = adr.section({run: result(run) for run in adr.plan()})
    return found


def values(section: Section) -> Mapping[str, float]:
    return {figure.name: figure.value for figure in section.figures}


def test_the_rules_of_a_row_are_the_invariants_that_are_no_safety() -> None:
    lab = load_labs(KIT).get("lab7")
    checker = (KIT.labs / lab.directory / "testkit/handover_checker.cc").read_text("utf-8")
    others = re.findall(r'\{"([^"]+)", "H\d", false\}', checker)
    assert load_settings(KIT, lab).row_rules == frozenset(others)


def test_a_detector_is_judged_by_its_worst_loss_and_by_false_alarms() -> None:
    good = measured(sample(90, 105), sample(20))
    assert good.passed
    figures = values(good)
    assert figures["vanilla: lost, mean"] == figures["vanilla: lost, worst world and fault"] == 80
    assert round(figures["ours: lost, mean"]) == 10
    assert figures["ours: another leader after, mean"] == 0.5
    assert figures["vanilla: faults that it acted on"] == 0
    assert good.plots[0].series["the text"] == [80] * len(adr.FAULTS)
    assert not measured(sample(84, 105), sample(20)).passed
    assert not measured(sample(90, 105), sample(20, 30)).passed


def test_a_leader_before_the_fault_or_after_it_has_not_acted_on_it() -> None:
    figures = values(measured(sample(90, 99, 200), sample(20)))
    assert figures["ours: faults that it acted on"] == 0


def test_a_system_that_stops_replicas_has_the_same_onset_and_clients_that_give_up() -> None:
    for system in some(adr.DETECTORS):
        run = adr.slow(system, "world-far", "net-slow-1ms")
        shape = adr.STAGES if system.name in ("IASO, restart", "IASO, shutdown") else "onset"
        assert f"--shape={shape}" in run.words


def test_a_regression_finds_afterwards_what_is_late_for_its_throughput() -> None:
    def found(late_ns: int, held_out_late_ns: int = 0) -> Mapping[str, float]:
        def result(run: "adr.Run") -> Sample:  # type: ignore[name-defined]
            one = learned(run, late_ns)
            if "--seed=2" not in run.words:
                return one
            return replace(one, onset=sample(100, late_ns=held_out_late_ns).onset)

        figures = adr.figures_offline({run: result(run) for run in adr.plan_offline()})
        return {figure.name.removeprefix(f"{adr.OFFLINE}: "): figure.value for figure in figures}

    assert found(0) == {adr.ACTED_ON: 0, adr.ALARMS: 0}
    all_faults = len(adr.WORLDS) * len(adr.FAULTS)
    assert found(9) == {adr.ACTED_ON: all_faults, adr.AFTER: 1.0, adr.ALARMS: 0}
    assert found(0, 9)[adr.ALARMS] == len(adr.WORLDS) * len(adr.HELD_OUT)


def test_slow_disks_have_a_row_for_each_system() -> None:
    section = adr.section_disks({run: sample(90, 103) for run in adr.plan_disks()})
    figures = values(section)
    assert section.passed
    for system in some(adr.SYSTEMS):
        assert round(figures[f"{system.name}: lost, mean"]) == 10
        assert figures[f"{system.name}: {adr.ACTED_ON}"] == len(adr.WORLDS) * len(adr.DISK_FAULTS)
        assert figures[f"{system.name}: {adr.AFTER}"] == 0.3


def long(ours: Callable[[str], int], static: int) -> Section:
    def result(run: "adr.Run") -> Sample:  # type: ignore[name-defined]
        if run.system == adr.VANILLA:
            return sample(20)
        return sample(ours(run.name) if run.system == adr.OURS else static)

    found: Section = adr.section_long({run: result(run) for run in adr.plan_long()})
    return found


def test_long_faults_are_compared_with_vanilla_and_with_the_best_static_pair() -> None:
    assert long(lambda run: 90, 90).passed
    assert not long(lambda run: 90, 95).passed, "five points behind"
    assert not long(lambda run: 60, 20).passed, "half of vanilla's loss"
    in_one_world = long(lambda run: 80 if "world-far" in run else 95, 89)
    assert [figure.name for figure in in_one_world.figures if not figure.passed] == [
        "worst world and fault, ours"
    ]


def test_each_workload_has_a_row_of_the_plot() -> None:
    section = adr.section_loads({run: sample(70) for run in adr.plan_loads()})
    assert len(section.plots[0].labels) == 9
    assert round(values(section)["ours: reads, 1 client"]) == 30


def test_false_alarms_are_counted_in_a_hundred_worlds() -> None:
    runs = adr.plan_worlds({("world-far", 50): 900.0, ("world-far", 200): 300.0})
    assert "--rate=900" in runs[adr.OURS][0].words and "--rate=300" in runs[adr.OURS][1].words

    def section(ours: Sequence[int]) -> Section:
        flat = [run for each in runs.values() for run in each]
        first = runs[adr.OURS][0]
        samples = {run: sample(100, *(ours if run == first else ())) for run in flat}
        found: Section = adr.section_worlds(runs, samples)
        return found

    assert section([]).passed
    bad = section([3, 50])
    assert not bad.passed
    assert values(bad)["ours: false alarms"] == 2 and values(bad)["ours: worlds with one"] == 1
    assert values(bad)["HDFS: false alarms"] == 0


def test_crowds_have_all_sizes_of_values_and_no_false_alarm() -> None:
    plan = adr.plan_clients()
    assert len(set(plan)) == 100
    sizes = {word for run in plan for word in run.words if word.startswith("--value-bytes=")}
    assert len(sizes) == len(adr.VALUE_BYTES)
    assert adr.section_clients(dict.fromkeys(plan, sample(20))).passed
    assert not adr.section_clients({plan[0]: sample(20, 30)}).passed


def test_a_detector_is_judged_by_pairs_and_by_healthy_runs() -> None:
    def pairs(share: float) -> list[tuple[Result, Result]]:
        plain = Result(1000, 100, {}, 0)
        return [(plain, Result(1000 * (1 - share), 100 * (1 + share), {}, 0))] * 6

    assert adr.section_detector(pairs(0.009), pairs(0.009), 0, 3).passed
    assert not adr.section_detector(pairs(0.011), pairs(0.009), 0, 3).passed
    assert not adr.section_detector(pairs(0.009), pairs(0.011), 0, 3).passed
    assert not adr.section_detector(pairs(0.009), pairs(0.009), 1, 3).passed
    assert not adr.section_detector(pairs(0.009), pairs(0.009), 0, 30).passed
