"""The tables of `kit reproduce`: published figures beside ours. Pure functions of the results.

Each table has a note: why our figures differ from the published ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from failslow.extras.reproduction import published
from failslow.extras.reproduction.followers import PROFILES, STRUCK_BY
from failslow.extras.reproduction.published import (
    FAULTS,
    FAULTS_002,
    REFERENCE,
    REPLICAS,
    TRANSIENT,
    VARIANTS,
)
from failslow.measurement.formatting import percent, size
from failslow.measurement.runs import DEAD, REALISTIC

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

    def markdown(self) -> str:
        lines = [f"**{self.title}**", ""]
        lines += [f"| {' | '.join(self.heads)} |", "| --- |" + " --- |" * (len(self.heads) - 1)]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([*lines, "", self.note])


def warnings(results: Results) -> Table:
    """Table 5.1."""
    rows: list[tuple[str, ...]] = []
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
            "NF-Raft: document 000 warns of each coroutine that calls no Finalize, also when all"
            " calls are answered. We see the effect: calls that are left behind. A healthy follower"
            " leaves none. With a slow one, one warning for all coroutines of a name in a window"
            f" stands for {named:,} coroutines in all. BG-Raft: we have two criteria, calls without"
            " a request and repeated entries, where document 000 has one. Rounds and confirmations"
            " of reads have quorums of their own, so a window may have two transient warnings."
        ),
    )


def backlog(results: Results) -> Table:
    """Figure 5.6."""
    rows: list[tuple[str, ...]] = []
    for variant, series in results["backlog"].items():
        calls = series["calls"]
        summary = _summary(results, variant, slow=True)
        rows.append(
            (
                VARIANTS[variant],
                published.BACKLOG[variant],
                f"{max(calls):,}",
                f"{calls[-1]:,}",
                size(summary["held_bytes_most"]),
                percent(summary["unanswered"]),
            )
        )
    return Table(
        title="Backlog with a slow follower: the leader's calls without an answer",
        heads=("variant", "document 000", "most", "end", "bytes queued", "commands unanswered"),
        rows=rows,
        note=(
            "NF-Raft's backlog grows until the leader's memory is full. Then the leader pages and"
            " leaves commands unanswered, so the queue shrinks. The throughput of document 000"
            " falls there, too (section 5.2.2). Our reference has no peak: it releases a round's"
            " calls 100 ms after its quorum."
        ),
    )


def quorums(results: Results) -> Table:
    """Table 5.2."""
    rows, ours = [], {}
    for variant, theirs in published.QUORUM_MS.items():
        found = _summary(results, variant, slow=True)["quorum"]
        ours[variant] = [found[name] for name in ("median_ns", "p99_ns", "p999_ns")]
        printed = (f"{value:.1f}" for value in theirs)
        rows.append((VARIANTS[variant], *printed, *(f"{each / 1e6:.1f}" for each in ours[variant])))
    times = [
        f"{published.QUORUM_MS[TRANSIENT][each] / published.QUORUM_MS[REFERENCE][each]:.1f} times"
        f" in document 000, {ours[TRANSIENT][each] / ours[REFERENCE][each]:.1f} times here"
        for each in (1, 2)
    ]
    return Table(
        title="Latency of the healthy follower, in ms, as the warnings print it",
        heads=("variant", "median", "p99", "p99.9", "our median", "our p99", "our p99.9"),
        rows=rows,
        note=(
            f"TP-Raft against the reference: its p99 is {times[0]}, its p99.9 {times[1]}. Our"
            " disk and network are quicker, and only the planted delay is late: it shows further"
            " out, and stands out more."
        ),
    )


def tails(results: Results) -> Table:
    """Figure 5.2a."""
    rows: list[tuple[str, ...]] = []
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
            "The reference loses its spare, as below. BG-Raft loses no more, because half of the"
            " leader's capacity is left for its background tasks. TP-Raft's delay is ten times our"
            " usual latency, and delays every command that waits meanwhile."
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
    """The words of documents 000, 001 and 002 about these costs, one sentence each."""
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
    dead = max(_costs(results, REALISTIC, (DEAD,), tuple(METRICS)))
    return Table(
        title="The same in one number: our worst",
        heads=("document", "figure", "published", "ours, little jitter", "ours, realistic"),
        rows=rows,
        note=(
            "With little jitter a missing follower costs nothing, because the others answer alike."
            f" In the realistic profile even dead followers cost {_share(dead)} at the worst: the"
            " quorum has no spare for a late answer, as document 002 says. Slowness adds little."
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
