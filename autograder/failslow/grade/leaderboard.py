"""The columns of the leaderboard: the measurement's figures that students compare."""

import math
from collections.abc import Iterator

from failslow.grade.model import LabGrade
from failslow.grade.result_suite import Column
from failslow.measurement.figures import MEAN_LATENCY, THROUGHPUT
from failslow.measurement.settings import MEDIAN


def columns(graded: LabGrade) -> Iterator[Column]:
    """None for a lab that was not measured, or whose measured part is void."""
    measured = graded.measurement
    if measured is None or graded.lab.measurement is None:
        return
    if graded.lab.measurement.part in graded.void or any(row.error for row in measured.rows):
        return
    lab = graded.lab.id
    for name, figure in (("throughput lost, %", THROUGHPUT), ("latency grown, %", MEAN_LATENCY)):
        found = [row.find(figure, MEDIAN) for row in measured.rows]
        worst = max((each.value for each in found if each), default=math.inf)
        if math.isfinite(worst):  # it is not where nothing was completed
            yield Column(f"{lab}: {name}", round(100 * worst, 1), "asc")
    least = min(measured.capacities, key=lambda load: load[1])
    yield Column(f"{lab}: operations/s", round(measured.capacities[least]), "desc")
    if measured.messages_per_operation is not None:
        yield Column(
            f"{lab}: messages per operation", round(measured.messages_per_operation, 2), "asc"
        )
