"""The findings of document 004, judged by the cells of a sweep."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from failslow.extras.faults.sweep import CLEARLY, LITTLE, MUCH, Cell, Row, measured
from failslow.measurement.settings import FOLLOWER

HOLDS, DOES_NOT, UNKNOWN, READ = "holds", "does not hold", "not measured", "to be read"
JUDGED = (HOLDS, DOES_NOT)
TIMES = 2.0
"""A growth by this factor is more than noise."""
DILUTED = 0.1
"""A 99th percentile that grows by less shows nothing."""
LATE_A_MINUTE = 100
"""HBase acts after this number of syncs above 100 ms in a minute (document 004, Table 3)."""
CRASH = "crash"

Judged = tuple[str, str]
"""The verdict, and what was seen."""


@dataclass(frozen=True)
class Finding:
    number: int
    says: str
    verdict: str
    seen: str


def of_all(maps: Mapping[str, Sequence[Row]]) -> dict[str, list[Finding]]:
    """Those of each system, compared with all others. `maps`: their rows by their names."""
    return {
        name: of(mine, [row for rows in maps.values() if rows is not mine for row in rows])
        for name, mine in maps.items()
    }


def of(rows: Sequence[Row], others: Sequence[Row] = ()) -> list[Finding]:
    """All 15, in their order. `rows`: of one system. `others`: those that it is compared with."""
    rows = measured(rows)
    of_ours = _OF_OURS if any(row.point.foreign for row in rows) else {}
    slow = [row for row in rows if row.point.kind != CRASH]
    found = [
        Finding(1, _SYSTEMS_DIFFER, *_systems_differ([*slow, *measured(others)])),
        *(Finding(number, says, *judge(slow)) for number, says, judge in _OF_ONE),
        Finding(14, _FAIL_EARLY, *_fail_early(rows)),
        *(Finding(number, says, READ, task) for number, says, task in _READ),
    ]
    found = [
        replace(each, verdict=UNKNOWN, seen=of_ours[each.number])
        if each.number in of_ours
        else each
        for each in found
    ]
    return sorted(found, key=lambda each: each.number)


def _systems_differ(rows: Sequence[Row]) -> Judged:
    """By one fault: much for the worst proposer of a system, and little for that of another."""
    worst: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in (cell for row in rows for cell in row.cells):
        point = cell.point
        if point.unusual or point.target == FOLLOWER:
            continue
        of_fault = worst.setdefault((point.kind, point.amount), {})
        known = of_fault.setdefault(point.system, cell)
        of_fault[point.system] = max(known, cell, key=lambda each: each.loss.value)
    pairs = [
        (low, high)
        for cells in worst.values()
        if len(cells) > 1
        for low, *_, high in [sorted(cells.values(), key=lambda cell: cell.loss.value)]
    ]
    if not pairs:
        return UNKNOWN, "one system alone"
    low, high = max(pairs, key=lambda pair: pair[1].loss.value - pair[0].loss.value)
    differ = low.loss.value <= LITTLE and high.loss.value >= MUCH
    seen = f"{_costs(high)} in {high.point.system}; {_costs(low)} in {low.point.system}"
    return (HOLDS if differ else DOES_NOT), seen


def _non_monotonic(rows: Sequence[Row]) -> Judged:
    if all(len(row.cells) < 2 for row in rows):
        return UNKNOWN, "no fault has two strengths here"
    milder = [(row, cell) for row in rows for cell in row.milder]
    if not milder:
        return DOES_NOT, "no stronger fault costs clearly less than a weaker one"
    row, cell = max(milder, key=lambda each: _worst_before(*each).loss.value - each[1].loss.value)
    worst = _worst_before(row, cell)
    return HOLDS, f"{_costs(worst)}; {cell.fault}: {_loss(cell)}; such cells: {len(milder)}"


def _worst_before(row: Row, cell: Cell) -> Cell:
    return max(row.cells[: row.cells.index(cell)], key=lambda each: each.loss.value)


def _kinds_differ(rows: Sequence[Row]) -> Judged:
    """By the mean of each fault's strengths, as the document compares them. A gain is no cost."""
    best = ("", 0.0, "", 0.0, 0.0)
    for place in dict.fromkeys(replace(row.point, kind="") for row in rows):
        means = {
            row.point.kind: fmean(max(0.0, cell.loss.value) for cell in row.cells)
            for row in rows
            if replace(row.point, kind="") == place
        }
        most, least = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        if len(means) > 1 and means[most] - means[least] > best[4]:
            best = (most, means[most], least, means[least], means[most] - means[least])
    if not best[0]:
        return UNKNOWN, "one fault alone, or no cost"
    seen = f"{best[0]} costs {_percent(best[1])} on average, {best[2]} {_percent(best[3])}"
    return (HOLDS if best[1] > max(LITTLE, TIMES * best[3]) else DOES_NOT), seen


def _followers_worse(rows: Sequence[Row]) -> Judged:
    """A client that knows the leader asks no follower: such cells show nothing."""
    asked = [row for row in rows if row.point.at != "leader"]
    pairs = list(_pairs(asked, target=(FOLLOWER, "leader")))
    if not pairs:
        return UNKNOWN, "no clients at followers, with followers and leaders slow"
    worse = [(one, two) for one, two in pairs if one.loss.low > two.loss.high + CLEARLY]
    if not worse:
        return DOES_NOT, f"in none of {len(pairs)} pairs does a follower cost more than the leader"
    one, two = max(worse, key=lambda pair: pair[0].loss.value - pair[1].loss.value)
    return HOLDS, f"{_costs(one)}; leader: {_loss(two)}; {len(worse)} of {len(pairs)} pairs"


def _resources_harm(rows: Sequence[Row]) -> Judged:
    pairs = [
        pair
        for cheap in sorted({row.point.costs for row in rows})
        for pair in _pairs(rows, costs=(cheap, 4 * cheap))
    ]
    if not pairs:
        return UNKNOWN, "processors of one speed (--costs, in the simulator)"
    worse = [(fast, slow) for fast, slow in pairs if fast.loss.low > slow.loss.high + CLEARLY]
    better = [(fast, slow) for fast, slow in pairs if slow.loss.low > fast.loss.high + CLEARLY]
    fast, slow = max(worse or pairs, key=lambda pair: pair[0].loss.value - pair[1].loss.value)
    seen = (
        f"{fast.fault} on a {fast.point.target}: {_loss(fast)}, and {_loss(slow)} with a quarter of"
        f" the processor's speed; more in {len(worse)} of {len(pairs)} pairs, less in {len(better)}"
    )
    return (HOLDS if len(worse) > len(better) else DOES_NOT), seen


def _workload_matters(rows: Sequence[Row]) -> Judged:
    sizes = sorted({row.point.value_bytes for row in rows})
    pairs = [
        *_pairs(rows, mix=("read", "write")),
        *_pairs(rows, mix=("mixed", "write")),
        *(_pairs(rows, value_bytes=(sizes[0], sizes[-1])) if len(sizes) > 1 else ()),
    ]
    if not pairs:
        return UNKNOWN, "one workload alone"
    one, two = max(pairs, key=lambda pair: abs(pair[0].loss.value - pair[1].loss.value))
    low, high = sorted((one, two), key=lambda cell: cell.loss.value)
    differ = high.loss.low > low.loss.high and high.loss.value > TIMES * low.loss.value
    return (
        HOLDS if differ else DOES_NOT
    ), f"{_costs(high)}; {_work(low) or 'as usual'}: {_loss(low)}"


def _danger_zones(rows: Sequence[Row]) -> Judged:
    if all(len(row.cells) < 2 for row in rows):
        return UNKNOWN, "no fault has two strengths here"
    zones = [zone for row in rows if (zone := row.danger_zone)]
    if not zones:
        return DOES_NOT, "no fault goes from little to much"
    one, two = min(zones, key=_width)
    seen = f"{_costs(one)}; {two.fault}: {_loss(two)}; {len(zones)} of {len(rows)} rows have one"
    return HOLDS, seen


def _width(zone: tuple[Cell, Cell]) -> float:
    low, high = sorted(each.point.amount for each in zone)
    return high / max(low, 1)


def _tail_diluted(rows: Sequence[Row]) -> Judged:
    costly = [cell for row in rows for cell in row.cells if cell.loss.value >= MUCH]
    if not costly:
        return UNKNOWN, "no fault costs much"
    hidden = [cell for cell in costly if cell.p99 < DILUTED]
    if not hidden:
        least = min(costly, key=lambda cell: cell.p99)
        return DOES_NOT, f"{_costs(least)}; its 99th percentile grows by {_percent(least.p99)}"
    worst = max(hidden, key=lambda cell: cell.loss.value)
    return HOLDS, (
        f"{_costs(worst)}; the 99th percentile of the run grows by {_percent(worst.p99)};"
        f" {len(hidden)} of {len(costly)} costly cells"
    )


def _only_severe_elect(rows: Sequence[Row]) -> Judged:
    slow = [cell for row in rows for cell in row.cells if row.point.target != FOLLOWER]
    costly = [cell for cell in slow if cell.loss.value > LITTLE or cell.leader_changes]
    if not costly:
        return UNKNOWN, "no slow leader costs much"
    stay = [cell for cell in costly if not cell.leader_changes]
    if not stay:
        return DOES_NOT, f"the leader changes under all {len(costly)} faults that cost much"
    worst = max(stay, key=lambda cell: cell.loss.value)
    elected = [cell for cell in costly if cell.leader_changes]
    after = min(elected, key=lambda cell: cell.loss.value, default=None)
    return HOLDS, (
        f"the leader stays under {len(stay)} of {len(costly)} faults that cost more than"
        f" {_percent(LITTLE)}: {_costs(worst)}"
        + (f"; with a new leader {_costs(after)}" if after else "")
    )


def _clients_stay(rows: Sequence[Row]) -> Judged:
    """The cluster is as quick as without a fault, and its clients do not know."""
    followers = [row for row in rows if row.point.target == FOLLOWER]
    pairs = list(_pairs(followers, at=("one", "leader")))
    if not pairs:
        return UNKNOWN, "no clients at a slow follower, and at the leader beside it"
    apart = [
        (one, two)
        for one, two in pairs
        if two.loss.value <= LITTLE and one.loss.low > two.loss.high + CLEARLY
    ]
    if not apart:
        return DOES_NOT, f"in none of {len(pairs)} pairs do clients at the slow follower lose more"
    one, two = max(apart, key=lambda pair: pair[0].loss.value - pair[1].loss.value)
    return HOLDS, f"{_costs(one)}; they stay, and at the leader they lose {_loss(two)}"


def _never_triggered(rows: Sequence[Row]) -> Judged:
    costly = [cell for row in rows for cell in row.cells if cell.loss.value >= MUCH]
    if not costly:
        return UNKNOWN, "no fault costs much"
    silent = [
        cell for cell in costly if cell.late * 60 < LATE_A_MINUTE * max(cell.point.seconds, 1)
    ]
    rule = f"{LATE_A_MINUTE} commands above 100 ms in a minute"
    if not silent:
        return DOES_NOT, f"HBase's rule ({rule}) acts under all {len(costly)} faults that cost much"
    worst = max(silent, key=lambda cell: cell.loss.value)
    return HOLDS, (
        f"HBase's rule ({rule}) would be silent under {len(silent)} of {len(costly)} faults that"
        f" cost much: {_costs(worst)}, with {worst.late} late commands"
    )


def _fail_early(rows: Sequence[Row]) -> Judged:
    """A dead replica beside a slow one: the gain of a replica that stops itself."""
    dead = {
        replace(row.point, kind="", amount=0): row.cells[0]
        for row in rows
        if row.point.kind == CRASH
    }
    pairs = [
        (cell, dead[place])
        for row in rows
        if row.point.kind != CRASH and (place := replace(row.point, kind="", amount=0)) in dead
        for cell in row.cells
    ]
    if not pairs:
        return UNKNOWN, "no dead replica to compare with"
    gains = [pair for pair in pairs if pair[0].loss.low > pair[1].loss.high + CLEARLY]
    ended = sum(1 for cell, _ in pairs if cell.trouble)
    worst, instead = max(pairs, key=lambda pair: pair[0].loss.value - pair[1].loss.value)
    seen = (
        f"{ended} of {len(pairs)} slow replicas ended. Ending would pay in {len(gains)}:"
        f" {_costs(worst)}; dead: {_loss(instead)}"
    )
    return (HOLDS if ended else DOES_NOT), seen


_SYSTEMS_DIFFER = "The same fault has radically different consequences (25 % at 1 ms, or at 100 ms)"
_FAIL_EARLY = "Systems fail early: they end a slow process (CockroachDB after 20 s)"
_OF_ONE: tuple[tuple[int, str, Callable[[Sequence[Row]], Judged]], ...] = (
    (2, "A stronger fault may cost less than a weaker one (half of the systems)", _non_monotonic),
    (3, "Kinds of faults differ in what they cost (up to 10 times)", _kinds_differ),
    (4, "A slow follower may cost more than a slow leader (etcd: 45 and 31 %)", _followers_worse),
    (
        5,
        "More resources make a slow fault worse (etcd, 10 ms: 7 % with one core, 72 % with five)",
        _resources_harm,
    ),
    (6, "The cost of a fault depends on the workload (up to 7.2 times)", _workload_matters),
    (7, "A little stronger, and much is lost (etcd's leader, reads: 0.5 to 2 ms)", _danger_zones),
    (
        8,
        "Tuning helps against one fault, not under other work (HBase: 27 %, and over 90 %)",
        lambda _: (
            UNKNOWN,
            "no threshold to tune: see the static pairs of ./kit bench adr",
        ),
    ),
    (
        9,
        "Fast commands dilute tail latency (etcd: the 99.9th percentile grows by 0.3 to 5.5 %)",
        _tail_diluted,
    ),
    (
        11,
        "Only a severe fault of the leader elects another (etcd: 70 % of packets, not 10 %)",
        _only_severe_elect,
    ),
    (12, "Clients and servers know different things (a follower of etcd: 68 %)", _clients_stay),
    (
        13,
        "Thresholds are not reached under severe faults (HBase: 32 of 100 slow syncs, at 98 %)",
        _never_triggered,
    ),
)
_READ = (
    (
        10,
        "All systems use static timeouts",
        "find the timeouts at the top of lab 2's raft.cc, and say which of them adapt",
    ),
    (
        15,
        "Tests check the code of slow-fault handling, not its effect",
        "find one test of lab 7 that checks an effect, and one that checks the code",
    ),
)
_OF_OURS = {
    8: "thresholds are in the system's settings: change one, and sweep it as a version",
    10: "timeouts are in the system's code",
    13: "thresholds are in the system's settings",
    15: "tests are the system's own",
}
"""By number, why a sweep says nothing of them for a foreign system."""


def _pairs(rows: Sequence[Row], **axis: tuple[Any, Any]) -> Iterator[tuple[Cell, Cell]]:
    """Cells that differ in this axis alone."""
    ((name, (one, two)),) = axis.items()
    cells = {cell.point: cell for row in rows for cell in row.cells}
    for point, cell in cells.items():
        other = cells.get(replace(point, **{name: two}))
        if getattr(point, name) == one and other is not None:
            yield cell, other


def _costs(cell: Cell) -> str:
    work = f" ({_work(cell)})" if _work(cell) else ""
    return f"{cell.fault} on a {cell.point.target}{work}: {_loss(cell)}"


def _work(cell: Cell) -> str:
    return ", ".join(cell.point.unusual)


def _loss(cell: Cell) -> str:
    return _percent(cell.loss.value)


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"
