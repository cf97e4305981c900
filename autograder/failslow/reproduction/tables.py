"""The tables of `kit reproduce`: published figures beside ours. Pure functions of the results.

Each table has a note: why our figures differ from the published ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from failslow.measurement.words import percent, size
from failslow.reproduction import published
from failslow.reproduction.followers import PROFILES, STRUCK_BY
from failslow.reproduction.published import (
    FAULTS,
    FAULTS_002,
    REFERENCE,
    REPLICAS,
    TRANSIENT,
    VARIANTS,
)

BAR = 0.05
METRICS = {"throughput": "throughput", "mean": "mean", "p50": "median", "p99": "p99"}
METRICS_000 = ("throughput", "mean", "p99")

CLAIMS = (
    ("001, 3.4", "throughput, mean and p99", "under 5 %", FAULTS, METRICS_000, REPLICAS),
    ("002, 6.2", "throughput, 3 replicas", "within 6 %", FAULTS_002, ("throughput",), (3,)),
    ("002, 6.2", "throughput, 5 replicas", "within 10 %", FAULTS_002, ("throughput",), (5,)),
    ("002, 6.2", "median and p99", "within 15 %", FAULTS_002, ("p50", "p99"), REPLICAS),
)
"""Place, figure and its published bound; the faults, metrics and numbers of replicas it is of."""

Results = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str


def all_tables(results: Results) -> list[Table]:
    return [make(results) for make in TABLES.values()]


def warnings(results: Results) -> Table:
    """Table 5.1."""
    rows = []
    for each in results["variants"]:
        printed = published.WARNINGS[each["variant"], each["slow"]]
        kinds = ", ".join(f"{count} {kind}" for kind, count in each["warnings"].items())
        rows.append(
            (
                VARIANTS[each["variant"]],
                "slow" if each["slow"] else "healthy",
                f"{printed.lines:,}",
                f"{printed.warnings:,}",
                f"{sum(each['warnings'].values()):,}",
                kinds,
            )
        )
    named = max(each["coroutines"] for each in results["variants"])
    return Table(
        title=f"Warnings: 36 windows in document 000, {results['windows']} here",
        heads=("variant", "follower", "lines", "warnings", "ours", "ours by kind"),
        rows=rows,
        note=(
            "Document 000 counts lines, and one warning for each coroutine without Finalize. Ours"
            " is one warning for all coroutines of a name; NF-Raft's warnings name up to"
            f" {named:,} coroutines."
        ),
    )


def backlog(results: Results) -> Table:
    """Figure 5.6."""
    rows = []
    for variant, series in results["backlog"].items():
        calls = series["calls"]
        held = _summary(results, variant, slow=True)["held_bytes_most"]
        rows.append(
            (
                VARIANTS[variant],
                published.BACKLOG[variant],
                f"{calls[len(calls) // 2]:,}",
                f"{calls[-1]:,}",
                f"{max(calls):,}",
                size(held),
            )
        )
    return Table(
        title="Backlog with a slow follower: the leader's calls without an answer",
        heads=("variant", "document 000", "half time", "end", "most", "most bytes queued"),
        rows=rows,
        note=(
            "The reference releases a round's calls 100 ms after its quorum, so its backlog never"
            " grows to a peak. Document 000 shows a peak before the first release."
        ),
    )


def quorums(results: Results) -> Table:
    """Table 5.2."""
    rows, p99 = [], {}
    for variant, theirs in published.QUORUM_MS.items():
        found = _summary(results, variant, slow=True)["quorum"]
        ours = [f"{found[name] / 1e6:.1f}" for name in ("median_ns", "p99_ns", "p999_ns")]
        p99[variant] = found["p99_ns"]
        rows.append((VARIANTS[variant], *(f"{value:.1f}" for value in theirs), *ours))
    (_, theirs, _), (_, theirs_slow, _) = published.QUORUM_MS.values()
    return Table(
        title="Latency of the healthy follower, in ms, as the warnings print it",
        heads=("variant", "median", "p99", "p99.9", "our median", "our p99", "our p99.9"),
        rows=rows,
        note=(
            f"TP-Raft's p99 is {theirs_slow / theirs:.1f} times the reference's in document 000,"
            f" and {p99[TRANSIENT] / p99[REFERENCE]:.1f} times here. Our answers come from a"
            " simulated disk and network at a third of the capacity: nothing but the planted delay"
            " makes them late."
        ),
    )


def tails(results: Results) -> Table:
    """Figure 5.2a."""
    rows = []
    for variant, grown in published.P99_GROWN.items():
        base, slow = (_summary(results, variant, slow)["p99_ns"] for slow in (False, True))
        rows.append(
            (
                VARIANTS[variant],
                percent(grown),
                percent(slow / base - 1),
                f"{base / 1e6:.1f}",
                f"{slow / 1e6:.1f}",
            )
        )
    return Table(
        title="The clients' 99th percentile: grown with a slow follower",
        heads=("variant", "document 000", "ours", "our ms, healthy", "our ms, slow"),
        rows=rows,
        note=(
            "Our open clients wait at a third of the capacity. The document's 450 clients fill the"
            " leader's processor to 75 %, where queues hide a part of a delay."
        ),
    )


def costs(results: Results) -> Table:
    """Figure 5.1 of document 000, figure 3 of document 001 and figure 5 of document 002."""
    cells = results["followers"]
    pairs = [
        tuple(cell for cell in cells if (cell["replicas"], cell["fault"]) == (replicas, fault))
        for replicas in REPLICAS
        for fault in STRUCK_BY
    ]
    return Table(
        title="What a slow minority of followers costs: with little jitter / realistic",
        heads=("fault", "replicas", *METRICS.values()),
        rows=[
            (
                pair[0]["fault"],
                str(pair[0]["replicas"]),
                *(" / ".join(_share(cell[name]) for cell in pair) for name in METRICS),
            )
            for pair in pairs
        ],
        note=(
            "Throughput lost and latency grown; a negative share is a gain. Memory contention"
            " costs nothing here: its 50 MB are more than our replicas need."
        ),
    )


def claims(results: Results) -> Table:
    """What documents 000, 001 and 002 say of these costs in one sentence each."""
    total = len(FAULTS) * len(REPLICAS) * len(METRICS_000)
    rows: list[tuple[str, ...]] = [
        (
            "000, 5.1.2",
            f"of {total} metrics, lose over 5 %",
            "3",
            *(
                str(sum(value > BAR for value in _costs(results, profile, FAULTS, METRICS_000)))
                for profile in PROFILES
            ),
        )
    ]
    for place, figure, bar, faults, metrics, replicas in CLAIMS:
        worst = (max(_costs(results, each, faults, metrics, replicas)) for each in PROFILES)
        rows.append((place, figure, bar, *map(_share, worst)))
    return Table(
        title="The same in one number: our worst",
        heads=("document", "figure", "published", "ours, little jitter", "ours, realistic"),
        rows=rows,
        note=(
            "With little jitter a missing follower costs nothing, because the others answer alike."
            " With realistic jitter the quorum has no spare for a late answer of the others:"
            " document 002 names that reason, too."
        ),
    )


TABLES: dict[str, Callable[[Results], Table]] = {
    "warnings": warnings,
    "backlog": backlog,
    "quorums": quorums,
    "tails": tails,
    "costs": costs,
    "claims": claims,
}


def _summary(results: Results, variant: str, slow: bool) -> Mapping[str, Any]:
    return next(
        each for each in results["variants"] if (each["variant"], each["slow"]) == (variant, slow)
    )


def _costs(
    results: Results,
    profile: str,
    faults: Sequence[str],
    metrics: Sequence[str],
    replicas: Sequence[int] = REPLICAS,
) -> list[float]:
    """Infinite where nothing was answered."""
    return [
        _least(cell[name])
        for cell in results["followers"]
        for name in metrics
        if cell["profile"] == profile and cell["fault"] in faults and cell["replicas"] in replicas
    ]


def _least(value: float | None) -> float:
    return float("inf") if value is None else value


def _share(value: float | None) -> str:
    return percent(_least(value))
