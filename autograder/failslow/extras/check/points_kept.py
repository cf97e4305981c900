"""The points that a mutant keeps: a mistake must cost its worth, not only fail a test."""

from collections.abc import Iterable
from dataclasses import dataclass

from failslow.grade.model import Grade, LabGrade, TestRow


@dataclass(frozen=True)
class Kept:
    """`points` of `of_points`. `of`: the id of a lab, or of its measured part."""

    of: str
    points: float
    of_points: float

    def __str__(self) -> str:
        return f"{self.points:g} of {self.of_points:g}"


def kept_of(graded: Grade) -> tuple[Kept, ...]:
    """For each lab: its points, and those of its measured part if that was graded.

    A mutant is graded by few tests. The lab's points are what a whole grade would leave at most:
    lines that were not graded count as kept, unless their part is void. Of the measured part only
    the graded rows count.
    """
    return tuple(kept for lab in graded.labs for kept in (_measured(lab), _whole(lab)) if kept)


def _measured(lab: LabGrade) -> Kept | None:
    if lab.measurement is None or lab.lab.measurement is None:
        return None
    part = lab.lab.measurement.part
    rows = [row for row in lab.rows if row.part == part]
    return Kept(part, _rounded(row.score for row in rows), _rounded(row.max_score for row in rows))


def _whole(lab: LabGrade) -> Kept:
    total = sum(part.points for part in lab.lab.parts)
    void = sum(part.points for part in lab.lab.parts if part.id in lab.void)
    lost = _rounded(_lost(row) for row in lab.rows if row.part not in lab.void)
    return Kept(lab.lab.id, round(total - void - lost, 2), total)


def _lost(row: TestRow) -> float:
    return row.max_score - row.score


def _rounded(points: Iterable[float]) -> float:
    return round(sum(points), 2)
