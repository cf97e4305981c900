"""The subjects of a course's diagnosis: which variant has which label, and how each is run.

All of it derives from the course key. Without the key nobody can tell a label's variant but by
diagnosis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.grade.diagnosis.vocabulary import NONE, REPLICAS, labels
from failslow.lab import course_key
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab
from failslow.lab.mutants import Variant, load_variants

REFERENCE = "reference"
"""The name of the variant without a fault."""

GREEN_EDGE = "green-edge"
"""The kind of evidence that a log tolerates a slow follower: its leader waits for a quorum."""

FOLLOWER = "follower"


@dataclass(frozen=True)
class Truth:
    """The right answers. `evidence`: the kinds that show the fault, or that there is none."""

    variant: str
    replica: str
    coroutine: str
    wait: str
    cause: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """A labelled variant. `seed`, `leader` and `slow`, a follower, are those of its runs."""

    label: str
    seed: int
    leader: int
    slow: int
    truth: Truth


def subjects(kit: Kit, lab: Lab, key: CourseKey) -> tuple[Subject, ...]:
    """In the order of their labels. CannotDo if the kit has no variants, or others than lab.yaml
    says."""
    assert lab.diagnosis is not None
    variants = {each.path.stem: each for each in load_variants(kit, lab.id)}
    if not variants:
        raise CannotDo(
            f"this kit has no variants of {lab.id}: the course hands out the material of its"
            " diagnosis"
        )
    if {REFERENCE, *variants} != {*lab.diagnosis.variants}:
        raise CannotDo(f"{lab.id}: lab.yaml names other variants than the reference has")
    order = _permuted(lab.diagnosis.variants, key, "diagnosis order")
    first = course_key.seed(key, "diagnosis leader", 0)
    return tuple(
        _subject(label, variants.get(name), key, (first + index) % REPLICAS)
        for index, (label, name) in enumerate(zip(labels(lab), order, strict=True))
    )


def fingerprint(key: CourseKey) -> str:
    """Tells the material of one course from another's."""
    return f"{course_key.seed(key, 'diagnosis material', 0):016x}"


def _permuted(names: Sequence[str], key: CourseKey, purpose: str) -> list[str]:
    return sorted(names, key=lambda name: course_key.seed(key, f"{purpose} {name}", 0))


def _subject(label: str, variant: Variant | None, key: CourseKey, leader: int) -> Subject:
    """Leaders take turns: one replica is the answer of a third of the labels."""
    turn = 1 + course_key.seed(key, f"diagnosis slow {label}", 0) % 2
    slow = (leader + turn) % REPLICAS
    healthy = REPLICAS - leader - slow
    seed = course_key.seed(key, f"diagnosis run {label}", 0)
    return Subject(label, seed, leader, slow, _truth(variant, leader, healthy))


def _truth(variant: Variant | None, leader: int, healthy: int) -> Truth:
    if variant is None:
        return Truth(REFERENCE, NONE, NONE, NONE, NONE, (GREEN_EDGE,))
    replica = healthy if variant.replica == FOLLOWER else leader
    return Truth(
        variant.path.stem,
        str(replica),
        variant.coroutine,
        variant.wait,
        variant.cause,
        variant.evidence,
    )
