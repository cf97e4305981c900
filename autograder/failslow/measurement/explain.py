"""Puts a lost row into words a student understands, with the wait that caused it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from failslow.measurement import cause
from failslow.measurement.cause import Explained
from failslow.measurement.figures import FIGURES, MEAN_LATENCY, THROUGHPUT
from failslow.measurement.formatting import percent, seconds
from failslow.measurement.scoring import ERROR, Judged, Row, Unslowed
from failslow.measurement.settings import MEDIAN, WITH_CAPACITY, Settings

OBSERVERS: dict[str, Callable[[Explained], list[str]]] = {
    "held bytes": cause.backlog,
    "heap": cause.own_memory,
    "coroutines": partial(cause.unfinished, is_call=False),
    "requests": partial(cause.unfinished, is_call=True),
    "catch-up": cause.repair,
    "lag": cause.repair,
    "loss": cause.hand_over,
    "loss from 2 s on": cause.hand_over,
    "loss of a client": cause.clients_stay,
    "replaced": cause.hand_over,
    "worst second": cause.hand_over,
    "recovery": cause.hand_over,
    "latency meanwhile": cause.hand_over,
    "loss afterwards": cause.hand_over,
    "latency afterwards": cause.hand_over,
    "needless leaders": cause.needless,
}
"""The observations that explain a figure that is no delay."""


@dataclass(frozen=True)
class Report:
    """A row in words. `text`: every reason for which it earned less than its points; of one that
    has them all, how far it is from its limits. `cause`: the same for all rows that lost points for
    it, or "". `missed`: the figure over its limit, alone, or "". `figures`: all, with the limits,
    or "". `replay`: the command that draws the run, or "".
    """

    text: str
    cause: str = ""
    missed: str = ""
    figures: str = ""
    replay: str = ""


def report(settings: Settings, row: Row, explained: Explained | None) -> Report:
    if row.passed:
        return Report(f"{_margins(row)} {_needed(row)}")
    lines = [sentence(settings, row, explained), *_other_losses(row), _kept(settings, row)]
    if row.unslowed:
        lines.append(_scaled(row.unslowed, explained, row.graded.replicas))
    lines.append(_needed(row))
    worst = row.worst_criterion()
    return Report(
        text="\n".join(line for line in lines if line),
        cause=_cause(settings, row, explained),
        missed=what_happened(worst) if worst else "",
        figures=f"Figures: {_raw(row, row.unslowed)}." if row.unslowed else "",
    )


def _cause(settings: Settings, row: Row, explained: Explained | None) -> str:
    """Without a figure: rows with other faults share it."""
    worst = row.worst_criterion()
    if row.error is not None:
        return row.error.removesuffix(f" ({row.error_run})")
    if row.is_void:
        return "no slow replica fell behind"
    if worst is None:
        return "the submission is slow without a fault"
    if worst.criterion.figure in cause.OBSERVED:
        return cause.OBSERVED[worst.criterion.figure]
    if explained is None or worst.criterion.compared_with == WITH_CAPACITY:
        return f"{worst.name} is over its limit"
    if cause.dropped(explained.slow):
        return "commands, or their answers, were dropped"
    wait = cause.costly_wait(explained, row.graded.replicas)
    if wait is None:
        return "clients waited, and no wait of a coroutine explains it"
    whose = "your leader" if settings.proposers == 1 else "a pilot"
    return f"{whose} {cause.in_short(wait)}"


def sentence(settings: Settings, row: Row, explained: Explained | None) -> str:
    """The main reason for which a row lost points."""
    fault = settings.describe(row.graded)
    if row.error is not None:
        return f"With {fault}: {row.error}"
    if row.is_void:
        return (
            f"Void: with {fault}, no slow replica fell behind by {row.lag_needed} entries"
            f" (it was {row.lag} in one run), so the row shows nothing. Tell your instructor."
        )
    worst = row.worst_criterion()
    if worst is None:
        return f"With {fault}, the submission stayed as fast as without."
    text = f"With {fault}, {what_happened(worst)}"
    if explained is None:
        return f"{text}."
    if worst.criterion.figure in OBSERVERS:
        return " ".join([f"{text}.", *OBSERVERS[worst.criterion.figure](explained)])
    if worst.criterion.compared_with == WITH_CAPACITY:
        return f"{text}."  # both runs were quicker than a third one: no wait of theirs did it
    dropped = cause.dropped(explained.slow)
    wait = cause.costly_wait(explained, row.graded.replicas)
    if wait is None:
        seen = dropped or cause.delays(explained)
        return " ".join([f"{text}.", *seen])
    who = "your leader waits" if settings.proposers == 1 else "your pilots wait"
    accused = f": {who} for the slow replica" if wait.peers else ""
    described = f"The wait that cost the points: {cause.describe(wait, row.graded.replicas)}"
    return " ".join([f"{text}{accused}.", *dropped, described])


def _other_losses(row: Row) -> list[str]:
    first = row.worst_criterion()
    failed = [each for each in row.criteria if not each.passed and each is not first]
    return [f"Also ({each.share}): {what_happened(each)}." for each in failed]


def _margins(row: Row) -> str:
    closest = max(row.criteria, key=lambda each: each.excess)
    shown = [row.find(THROUGHPUT, MEDIAN), row.find(MEAN_LATENCY, MEDIAN), closest]
    figures = dict.fromkeys(_figure(each) for each in shown if each)
    return f"Within all limits: {', '.join(figures)}."


def _needed(row: Row) -> str:
    """The runs that the verdict needed."""
    if row.made == row.planned:
        return f"All {row.planned} runs were made."
    sure = f"error under {percent(ERROR)}" if row.holds_speed else "no other can change the verdict"
    return f"{row.runs} decided it: {sure}."


def _kept(settings: Settings, row: Row) -> str:
    if row.error or row.is_void or not row.lost_shares:
        return ""
    if not row.holds_speed:
        return "Lost: the whole row. Its other shares count only where speed holds."
    lost = [f"{name} ({settings.shares[name]} %)" for name in row.lost_shares]
    return f"Lost of the row's points: {', '.join(lost)}."


def _scaled(unslowed: Unslowed, explained: Explained | None, replicas: int) -> str:
    if unslowed.share == 1:
        return ""
    causes = []
    if unslowed.throughput < unslowed.throughput_floor:
        causes.append("throughput is below the floor")
    if unslowed.latency_ns > unslowed.latency_ceiling_ns:
        causes.append("average latency is above the ceiling")
    text = (
        f"Without a fault, {' and '.join(causes)}: points are scaled to {percent(unslowed.share)}."
    )
    if explained is None:
        return text
    wait = cause.constant_wait(explained.base, replicas)
    described = [] if wait is None else [f"There, {cause.describe(wait, replicas)}"]
    return " ".join([text, *cause.dropped(explained.base), *described])


def _raw(row: Row, unslowed: Unslowed) -> str:
    return ", ".join(
        [
            *map(_figure, row.criteria),
            f"lag {row.lag} (at least {row.lag_needed})",
            f"without a fault: throughput {unslowed.throughput:.0f}/s"
            f" (floor {unslowed.throughput_floor:.0f}/s), latency {seconds(unslowed.latency_ns)}"
            f" (ceiling {seconds(unslowed.latency_ceiling_ns)})",
        ]
    )


def _figure(judged: Judged) -> str:
    """'throughput 1.2 % (limit 5 %)': a share that was lost."""
    unit = FIGURES[judged.criterion.figure].unit
    return f"{judged.name} {unit(judged.value)} (limit {unit(judged.limit)})"


def what_happened(judged: Judged) -> str:
    """A sentence on a figure and the limit that it missed."""
    figure = FIGURES[judged.criterion.figure]
    if math.isinf(judged.value) and figure is FIGURES["catch-up"]:
        return "the slow replicas never caught up after healing"
    if math.isinf(judged.value) and figure is FIGURES["fast again"]:
        return "the log was not in fast mode again after dead replicas were back"
    if math.isinf(judged.value) and figure is FIGURES["replaced"]:
        return "no other replica led while the fault lasted"
    if math.isinf(judged.value):
        return f"{judged.name} cannot be compared: in one of the runs no operation completed"
    note = f"{judged.criterion.note}, " if judged.criterion.note else ""
    return f"{figure.happened(judged.value)} ({note}limit {figure.unit(judged.limit)})"
