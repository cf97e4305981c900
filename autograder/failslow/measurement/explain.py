"""Puts a lost row into words a student understands, with the wait that caused it."""

import math

from failslow.measurement import cause, scoring
from failslow.measurement.cause import Explained
from failslow.measurement.scoring import Criterion, Row, Unslowed
from failslow.measurement.settings import Settings
from failslow.measurement.words import growth, percent, seconds, size

IN_SECONDS = (scoring.CATCH_UP, scoring.LONG_CATCH_UP, scoring.STALL)


def report(settings: Settings, row: Row, explained: Explained | None) -> str:
    """Every reason for which a row earned less than its points, and its raw figures. Of one that
    has them all: how far it is from its limits."""
    if row.passed:
        return _margins(row)
    lines = [sentence(settings, row, explained), *_other_losses(row), _kept(settings, row)]
    if row.unslowed:
        lines += [
            _scaled(row.unslowed, explained, row.graded.replicas),
            f"Figures: {_raw(row, row.unslowed)}.",
        ]
    return "\n".join(line for line in lines if line)


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
    criterion = row.worst_criterion()
    if criterion is None:
        return f"With {fault}, the submission stayed as fast as without."
    text = f"With {fault}, {what_happened(criterion)}"
    if explained is None:
        return f"{text}."
    if criterion.share not in (scoring.SPEED, scoring.TAIL):
        return " ".join([f"{text}.", *_background(criterion, explained)])
    if criterion.name == scoring.OVER_CAPACITY:
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


def _background(criterion: Criterion, explained: Explained) -> list[str]:
    """The observations of a loss that is no delay."""
    if criterion.name == scoring.HELD_BYTES:
        return cause.backlog(explained)
    if criterion.name == scoring.HEAP:
        return cause.own_memory(explained)
    if criterion.name in (scoring.COROUTINES, scoring.REQUESTS):
        return cause.unfinished(explained, is_call=criterion.name == scoring.REQUESTS)
    return cause.repair(explained)


def _other_losses(row: Row) -> list[str]:
    first = row.worst_criterion()
    failed = [each for each in row.criteria if not each.passed and each is not first]
    return [f"Also ({each.share}): {what_happened(each)}." for each in failed]


def _margins(row: Row) -> str:
    shown = [row.criterion(name) for name in (scoring.THROUGHPUT, scoring.MEAN_LATENCY)]
    closest = max(row.criteria, key=lambda each: each.excess)
    if closest not in shown:
        shown.append(closest)
    return f"Within all limits: {', '.join(map(_figure, shown))}."


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


def _figure(criterion: Criterion) -> str:
    """'throughput 1.2 % (limit 5 %)': a share that was lost."""
    value, limit = _value(criterion, criterion.value), _value(criterion, criterion.limit)
    return f"{criterion.name} {value} (limit {limit})"


def _value(criterion: Criterion, value: float) -> str:
    """A value or a limit in the unit of its criterion."""
    if criterion.name == scoring.P99:
        return f"{value:.2f}x"
    if criterion.name in (scoring.HELD_BYTES, scoring.HEAP):
        return size(value)
    if criterion.name in (scoring.COROUTINES, scoring.REQUESTS):
        return f"{value:.0f}"
    if criterion.name == scoring.LAG_BETWEEN:
        return f"{value:.0f} entries"
    if criterion.name in IN_SECONDS:
        return seconds(value)
    return percent(value)


def what_happened(criterion: Criterion) -> str:
    """A sentence on a figure and the limit that it missed."""
    value, limit = criterion.value, criterion.limit
    if math.isinf(value) and criterion.share == scoring.CATCH_UP:
        return "the slow replicas never caught up after healing"
    if math.isinf(value):
        return f"{criterion.name} cannot be compared: in one of the runs no operation completed"
    bound = f"(limit {_value(criterion, limit)})"
    dead = "than with the same replicas dead"
    stalled = f"fewer than half of the usual answers came for {seconds(value)} without a break"
    late = f"the slow replicas took {seconds(value)} to catch up after healing"
    texts = {
        scoring.THROUGHPUT: f"throughput fell by {percent(value)}",
        scoring.MEAN_LATENCY: f"average latency {growth(value)}",
        scoring.WORST_THROUGHPUT: f"throughput fell by {percent(value)} in the worst run",
        scoring.WORST_LATENCY: f"average latency {growth(value)} in the worst run",
        scoring.MEDIAN_LATENCY: f"the median latency {growth(value)}",
        scoring.REALISTIC_THROUGHPUT: f"with realistic jitter, throughput fell by {percent(value)}",
        scoring.REALISTIC_LATENCY: f"with realistic jitter, average latency {growth(value)}",
        scoring.OVER_CAPACITY: (
            f"without a fault, throughput was {percent(value)} above the capacity, which was"
            " measured first"
        ),
        scoring.UNANSWERED: f"{percent(value)} of the commands were never answered",
        scoring.STALL: stalled,
        scoring.P99: f"the 99th percentile of latency grew {value:.1f} times",
        scoring.HELD_BYTES: f"a replica held up to {size(value)} for its peers",
        scoring.HEAP: f"the heap of a healthy replica was up to {size(value)} larger",
        scoring.COROUTINES: (
            f"a healthy replica had up to {value:.0f} more coroutines that did not end"
        ),
        scoring.REQUESTS: (
            f"a healthy replica had up to {value:.0f} more requests without an answer"
        ),
        scoring.CATCH_UP: late,
        scoring.LONG_CATCH_UP: f"{late}, in a long run",
        scoring.LAG_BETWEEN: (
            f"a fault that came and went left the slow replicas {value:.0f} entries behind"
        ),
        scoring.THROUGHPUT_VS_DEAD: f"throughput was {percent(value)} lower {dead}",
        scoring.LATENCY_VS_DEAD: f"average latency was {percent(value)} higher {dead}",
    }
    return f"{texts[criterion.name]} {bound}"
