"""Lab 7 alone: what `kit bench adr` says of detectors."""

from dataclasses import replace

from failslow.base.errors import CouldNotGrade
from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.extras.bench.figures import Section
from failslow.lab.labs import load_labs
from failslow.measurement.binary import Onset, Sample, without_verdict

KIT = this_kit()
adr = lab_kits.load(KIT, load_labs(KIT).get("lab7"))
assert adr is not None


def sample(under_fault: int, *new_proposers: int) -> Sample:
    """A fault from 10 s on, for 10 s, which leaves that many of 100 commands in a slice."""
    onset = Onset(100, 200, (0,) * 210, new_proposers)
    completions = (100,) * 100 + (under_fault,) * 100 + (100,) * 10
    return replace(without_verdict(CouldNotGrade("")), completions=completions, onset=onset)


def measured(ours: Sample, ours_without_fault: Sample) -> Section:
    found: Section = adr.section(
        {
            adr.Run(system, world, fault): sample(20)
            if system != adr.OURS
            else ours_without_fault
            if fault == adr.NONE
            else ours
            for system in adr.SYSTEMS
            for world in adr.WORLDS
            for fault in (adr.NONE, *adr.FAULTS.values())
        }
    )
    return found


def test_a_detector_is_judged_by_its_worst_loss_and_by_false_alarms() -> None:
    good = measured(sample(90, 105), sample(100))
    assert good.passed
    figures = {figure.name: figure.value for figure in good.figures}
    assert figures["vanilla: lost, mean"] == figures["vanilla: lost, worst world and fault"] == 80
    assert round(figures["ours: lost, mean"]) == 10
    assert figures["ours: another leader after, mean"] == 0.5
    assert figures["vanilla: faults that it acted on"] == 0
    assert good.plots[0].series["the text"] == [80] * len(adr.FAULTS)
    assert not measured(sample(84, 105), sample(100)).passed
    assert not measured(sample(90, 105), sample(100, 30)).passed


def test_a_leader_before_the_fault_or_after_it_has_not_acted_on_it() -> None:
    figures = {one.name: one.value for one in measured(sample(90, 99, 200), sample(100)).figures}
    assert figures["ours: faults that it acted on"] == 0
