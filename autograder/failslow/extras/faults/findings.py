"""The findings of document 004 that a sweep of one store can confirm or contradict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from failslow.extras.faults.sweep import LITTLE, Cell, Row

HOLDS, DOES_NOT, UNKNOWN = "holds", "does not hold", "not measured"
TIMES = 2.0
"""A growth by this factor is more than noise."""

Judged = tuple[str, str]
"""The verdict, and what was seen."""


@dataclass(frozen=True)
class Finding:
    number: int
    says: str
    verdict: str
    seen: str


def of(rows: Sequence[Row]) -> list[Finding]:
    return [Finding(number, says, *judge(rows)) for number, says, judge in _FINDINGS]


def _non_monotonic(rows: Sequence[Row]) -> Judged:
    if all(len(row.cells) < 2 for row in rows):
        return UNKNOWN, "no fault has two strengths here"
    seen = [f"{_where(cell)}, {_loss(cell)}" for row in rows for cell in row.milder]
    if not seen:
        return DOES_NOT, "no stronger fault costs clearly less than a weaker one"
    return HOLDS, f"less than a weaker fault: {'; '.join(seen)}"


def _kinds_differ(rows: Sequence[Row]) -> Judged:
    """By the mean of each fault's strengths, as the document compares them."""
    best = ("", 0.0, "", 0.0, 0.0)
    for target, workload in dict.fromkeys((row.target, row.workload) for row in rows):
        means = {
            row.kind: sum(cell.loss.value for cell in row.cells) / len(row.cells)
            for row in rows
            if (row.target, row.workload) == (target, workload)
        }
        most, least = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        if len(means) > 1 and means[most] - means[least] > best[4]:
            best = (most, means[most], least, means[least], means[most] - means[least])
    if not best[0]:
        return UNKNOWN, "one fault alone"
    seen = f"{best[0]} costs {_percent(best[1])} on average, {best[2]} {_percent(best[3])}"
    return (HOLDS if best[1] > max(LITTLE, TIMES * best[3]) else DOES_NOT), seen


def _followers_worse(rows: Sequence[Row]) -> Judged:
    pairs = _pairs(rows, lambda cell: cell.target, "follower", "leader")
    if not pairs:
        return UNKNOWN, "followers and leaders were not both slow"
    worse = [(one, two) for one, two in pairs if one.loss.low > two.loss.high]
    if not worse:
        return DOES_NOT, f"in none of {len(pairs)} pairs does a follower cost more than the leader"
    one, two = max(worse, key=lambda pair: pair[0].loss.value - pair[1].loss.value)
    return HOLDS, f"{_where(one)}: {_loss(one)}; leader: {_loss(two)}"


def _workload_matters(rows: Sequence[Row]) -> Judged:
    pairs = _pairs(rows, lambda cell: cell.workload, "small", "large")
    if not pairs:
        return UNKNOWN, "one workload alone"
    one, two = max(pairs, key=lambda pair: abs(pair[0].loss.value - pair[1].loss.value))
    low, high = sorted((one, two), key=lambda cell: cell.loss.value)
    seen = (
        f"{high.fault} on a {high.target}: {_loss(high)} with {high.workload} values, {_loss(low)}"
        f" with {low.workload} ones"
    )
    differ = high.loss.low > low.loss.high and high.loss.value > TIMES * low.loss.value
    return (HOLDS if differ else DOES_NOT), seen


def _danger_zones(rows: Sequence[Row]) -> Judged:
    if all(len(row.cells) < 2 for row in rows):
        return UNKNOWN, "no fault has two strengths here"
    zones = [(row, zone) for row in rows if (zone := row.danger_zone)]
    if not zones:
        return DOES_NOT, "no fault goes from little to much"
    return HOLDS, "; ".join(
        f"{row.target}, {row.workload}: {one.fault} ({_loss(one)}) to {two.fault} ({_loss(two)})"
        for row, (one, two) in zones
    )


def _only_severe_elect(rows: Sequence[Row]) -> Judged:
    slow = [cell for row in rows for cell in row.cells if cell.target == "leader"]
    costly = [cell for cell in slow if cell.loss.value > LITTLE or cell.leader_changed]
    if not costly:
        return UNKNOWN, "no slow leader costs much"
    stay = [cell for cell in costly if not cell.leader_changed]
    if not stay:
        return DOES_NOT, f"the leader changes under all {len(costly)} faults that cost much"
    worst = max(stay, key=lambda cell: cell.loss.value)
    return HOLDS, (
        f"the leader stays under {len(stay)} of {len(costly)} faults that cost more than"
        f" {_percent(LITTLE)}: {_where(worst)} costs {_loss(worst)}"
    )


_FINDINGS: tuple[tuple[int, str, Callable[[Sequence[Row]], Judged]], ...] = (
    (2, "A stronger fault may cost less than a weaker one", _non_monotonic),
    (3, "Kinds of faults differ much in what they cost", _kinds_differ),
    (4, "A slow follower may cost more than a slow leader", _followers_worse),
    (6, "What a fault costs depends on the workload", _workload_matters),
    (7, "There are danger zones: a little stronger, and much is lost", _danger_zones),
    (11, "Only a severe fault of the leader makes the replicas elect another", _only_severe_elect),
)
"""Findings 1 and 5 need other stores and machines; 8 to 10 and 12 to 15 are about configurations,
metrics and code."""


def _pairs(
    rows: Sequence[Row], of: Callable[[Cell], str], one: str, two: str
) -> list[tuple[Cell, Cell]]:
    """Cells that differ in this alone."""
    cells = [cell for row in rows for cell in row.cells]
    firsts = [cell for cell in cells if of(cell) == one]
    seconds = [cell for cell in cells if of(cell) == two]

    def rest(cell: Cell) -> list[object]:
        return [each for each in cell.key if each not in (one, two)]

    return [(a, b) for a, b in product(firsts, seconds) if rest(a) == rest(b)]


def _where(cell: Cell) -> str:
    return f"{cell.fault} on a {cell.target} ({cell.workload} values)"


def _loss(cell: Cell) -> str:
    return _percent(cell.loss.value)


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"
