"""Lab 7 alone: what `kit bench adr` and `detector` say of detectors."""

import re
from collections.abc import Mapping
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
lab7 = lab_kits.load(KIT, load_labs(KIT).get("lab7"))
assert lab7 is not None
adr, cost = lab7.detectors, lab7.cost


def sample(under_fault: int, *new_proposers: int) -> Sample:
    """A fault from 10 s on, for 10 s, which leaves that many of 100 commands in a slice."""
    onset = Onset(100, 200, (1,) * 210, new_proposers)
    completions = (100,) * 100 + (under_fault,) * 100 + (100,) * 10
    return replace(without_verdict(CouldNotGrade("")), completions=completions, onset=onset)


def measured(ours: Sample, ours_without_fault: Sample) -> Section:
    def result(run: "adr.Run") -> Sample:  # type: ignore[name-defined]
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


def test_a_detector_is_judged_by_pairs() -> None:
    def pairs(share: float) -> list[tuple[Result, Result]]:
        plain = Result(1000, 100, {}, 0)
        return [(plain, Result(1000 * (1 - share), 100 * (1 + share), {}, 0))] * 6

    assert cost.section(pairs(0.009), pairs(0.009)).passed
    assert not cost.section(pairs(0.011), pairs(0.009)).passed
    assert not cost.section(pairs(0.009), pairs(0.011)).passed
