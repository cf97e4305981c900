"""The subjects of diagnoses: in every course each variant shows its own fault, and no other's."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from failslow.base.errors import CannotDo
from failslow.extras.check.step import Context, Counts
from failslow.extras.diagnosis.material import right_answers
from failslow.grade.diagnosis import runs, scoring
from failslow.grade.diagnosis.answers import read
from failslow.grade.diagnosis.course import REFERENCE, Truth
from failslow.grade.diagnosis.runs import SLOW, Observed
from failslow.grade.diagnosis.vocabulary import NONE
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab, load_labs

COURSES, FULL_COURSES = 1, 99
"""Beside the development key's: under --full each variant has 100 seeds."""

HICCUPS = "transient-performance"
"""The variant whose warning all variants give. It is told by its slowest clients."""

SLOWER_MIN = 2.0


def run(context: Context) -> Counts:
    """Runs the subjects of some courses, of more under --full."""
    lab = next(each for each in load_labs(context.kit).by_id.values() if each.diagnosis)
    count = FULL_COURSES if context.full else COURSES
    keys = [CourseKey(sha256(f"diagnosis {n}".encode()).digest()) for n in range(count)]
    counts = Counts()
    for key in (course_key.DEVELOPMENT, *keys):
        try:
            counts.add(judge(lab, runs.observe(context.kit, lab, key)))
        except CannotDo as error:
            counts.add(Counts(problems=[f"course {key.fingerprint}: {error}"]))
    return counts


def judge(lab: Lab, observed: Sequence[Observed]) -> Counts:
    """One check for each pair of a subject and a fault, and two for the whole course."""
    counts = Counts()
    truths = [each.subject.truth for each in observed]
    for each in observed:
        for truth in truths:
            if truth.variant not in (REFERENCE, HICCUPS):
                counts.add(_shows_only_its_own(each, truth))
    reference, hiccups = (_slowest(observed, name) for name in (REFERENCE, HICCUPS))
    counts.expect(
        hiccups >= SLOWER_MIN * reference,
        f"the p99 of {HICCUPS} is {hiccups / 1e6:.1f} ms, of the reference {reference / 1e6:.1f}",
    )
    answers = read(right_answers(tuple(observed)).encode(), "the right answers", lab)
    score = sum(judged.score for judged in scoring.judge(answers, observed))
    counts.expect(score == scoring.points(lab), f"the right answers earn {score:g}")
    return counts


def _shows_only_its_own(each: Observed, truth: Truth) -> Counts:
    """Whether the evidence denies that the fault is another subject's, on such a replica."""
    moved = replace(truth, replica=str(each.subject.leader)) if truth.replica != NONE else truth
    other = Observed(replace(each.subject, truth=moved), each.runs)
    shown = [found.id for found in each.evidence.values() if scoring.shows(found, other)]
    own = each.subject.truth.variant == truth.variant
    counts = Counts()
    counts.expect(
        bool(shown) == own,
        f"{each.subject.truth.variant} (seed {each.subject.seed}) "
        + (f"shows {truth.variant}: {', '.join(shown)}" if shown else "does not show its fault"),
    )
    return counts


def _slowest(observed: Sequence[Observed], variant: str) -> int:
    """The 99th percentile of clients' latency in the run with a slow follower, in nanoseconds."""
    (found,) = [each for each in observed if each.subject.truth.variant == variant]
    (slow,) = [each for each in found.runs if each.name == SLOW]
    return int(slow.observed["clients"]["p99_ns"])
