"""Judges answers, field by field.

Fields stand alone: a wrong one costs its own points. The points are such that the same answer for
every label earns at most a quarter, even for an author who knows the best one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from failslow.grade.diagnosis.answers import (
    CAUSE,
    COROUTINE,
    EVIDENCE,
    FIELDS,
    REPLICA,
    VARIANT,
    WAIT,
    Answers,
)
from failslow.grade.diagnosis.runs import OWN_WAIT, PATH_WAIT, RED_EDGE, Evidence, Observed
from failslow.grade.diagnosis.vocabulary import NONE
from failslow.lab.labs import Lab

POINTS = {
    VARIANT: 0.5,
    REPLICA: 0.25,
    COROUTINE: 0.25,
    WAIT: 0.25,
    CAUSE: 0.5,
    EVIDENCE: 0.75,
}
LABEL_POINTS = sum(POINTS.values())

LOOK_AT = {
    VARIANT: "compare the run with a slow follower with the healthy one, and with other labels",
    REPLICA: "whose coroutine waits, sends or keeps something that it should not?",
    COROUTINE: "the warnings, edges and waits name coroutines; which one is at the fault?",
    WAIT: "which event does that coroutine wait for?",
    CAUSE: "how does it come that clients notice one slow follower?",
    EVIDENCE: "it is in the material, but does not show what this label is",
}


@dataclass(frozen=True)
class Judged:
    """One label's answers. `lines`: for the student, one for each field without its points."""

    label: str
    score: float
    lines: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.lines


def points(lab: Lab) -> float:
    """The points of a whole diagnosis; 0 for a lab without one."""
    return LABEL_POINTS * len(lab.diagnosis.variants) if lab.diagnosis else 0.0


def judge(answers: Answers, observed: Sequence[Observed]) -> tuple[Judged, ...]:
    """In the order of the labels."""
    return tuple(_judge(answers.by_label.get(each.subject.label, {}), each) for each in observed)


def _judge(given: dict[str, str], observed: Observed) -> Judged:
    score = 0.0
    lines = []
    for name in FIELDS:
        complaint = _complaint(name, given.get(name), observed)
        if complaint:
            lines.append(f"{name}: {complaint}")
        else:
            score += POINTS[name]
    return Judged(observed.subject.label, score, tuple(lines))


def _complaint(name: str, value: str | None, observed: Observed) -> str:
    """Why the field has no points; "" if it has. It tells nothing about the right answer."""
    if value is None:
        return "no answer that can be read"
    if name == EVIDENCE:
        return _complaint_about_evidence(value, observed)
    return "" if value == getattr(observed.subject.truth, name) else f"no; {LOOK_AT[name]}"


def _complaint_about_evidence(value: str, observed: Observed) -> str:
    if value == NONE:
        return "no; the material has some"
    known = observed.evidence
    if value not in known:
        return f"the material has no {value}"
    return "" if shows(known[value], observed) else f"no; {LOOK_AT[EVIDENCE]}"


def shows(evidence: Evidence, observed: Observed) -> bool:
    """Whether the observation shows the subject's fault, or of the reference, its quorums."""
    truth = observed.subject.truth
    if evidence.kind not in truth.evidence:
        return False
    if evidence.kind in (OWN_WAIT, PATH_WAIT, RED_EDGE):
        place = (str(evidence.replica), evidence.coroutine, evidence.event)
        return place == (truth.replica, truth.coroutine, truth.wait)
    return evidence.replica == observed.subject.leader
