"""The page of experiments on real processes: one HTML file that requests nothing."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from failslow.extras.faults import verdict
from failslow.extras.faults.experiment import CONDITIONS, SLOW, Experiment
from failslow.extras.faults.stages import SLICE_MS, Slices
from failslow.extras.faults.verdict import Cost
from failslow.extras.faults.waits import Grown
from failslow.extras.shared import line_plot
from failslow.extras.slowness import drawing
from failslow.extras.slowness.graph import FIRST_CLIENT, Edge, Graph, name_of, what_waits
from failslow.extras.slowness.html_report import PAGE, table

STYLE = """<style>
:root { --series-1: #1a56c4; --series-2: #c2410c; --series-3: #15803d; }
th, td { border-bottom: 1px solid #8884; }
.wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
svg .tick { stroke: #8884; fill: none; }
svg .line { fill: none; stroke-width: 1.8; }
.series-1 { stroke: var(--series-1); } .series-2 { stroke: var(--series-2); }
.series-3 { stroke: var(--series-3); }
.key { display: inline-block; width: 1.4rem; border-top: 3px solid; margin: 0 .3rem .2rem .9rem; }
.key.series-1 { border-color: var(--series-1); } .key.series-2 { border-color: var(--series-2); }
.key.series-3 { border-color: var(--series-3); }
.PASS { color: #15803d; } .FAIL { color: #b91c1c; } .INCONCLUSIVE { color: #a16207; }
@media (prefers-color-scheme: dark) {
  :root { --series-1: #8caaf5; --series-2: #fb923c; --series-3: #4ade80; }
  .PASS { color: #4ade80; } .FAIL { color: #f87171; } .INCONCLUSIVE { color: #facc15; } }
</style>"""


@dataclass(frozen=True)
class Shown:
    """An experiment and what is known around it."""

    experiment: Experiment
    graph: Graph
    grown: list[Grown]


def render(solution: str, shown: Sequence[Shown]) -> str:
    title = f"Faults on real processes: {solution}"
    body = [
        "<p>Runs of a healthy cluster, of one with a slow replica, and of one in which the same"
        " replica is dead, in turns. All links between replicas take 2 ms. The costs compare the"
        " slow runs with the healthy ones; the intervals hold with 90 %.</p>",
        _summary(shown),
        *(_experiment(number, each) for number, each in enumerate(shown)),
    ]
    return PAGE.format(title=html.escape(title), body=STYLE + "\n".join(body))


def cost(value: Cost) -> str:
    return f"{100 * value.value:+.1f} % ({100 * value.low:+.1f} to {100 * value.high:+.1f})"


def _summary(shown: Sequence[Shown]) -> str:
    rows = []
    for number, each in enumerate(shown):
        done = each.experiment
        rows.append(
            [
                f'<a href="#fault-{number}">{html.escape(done.fault)}</a>',
                f'<b class="{done.verdict.word}">{done.verdict.word}</b>',
                cost(done.costs.latency),
                cost(done.costs.throughput),
            ]
        )
    return table(["fault", "verdict", "latency", "throughput"], rows)


def _experiment(number: int, shown: Shown) -> str:
    done = shown.experiment
    slow = [run for run in done.runs if run.condition == SLOW]
    caught_up = [run.caught_up_s for run in slow]
    words = (
        "never" if None in caught_up else f"within {max(each or 0.0 for each in caught_up):.1f} s"
    )
    parts = [
        f'<h2 id="fault-{number}">{html.escape(done.fault)} on a {html.escape(done.target)}:'
        f' <span class="{done.verdict.word}">{done.verdict.word}</span></h2>',
        f"<p>{html.escape(done.verdict.reason)}</p>" if done.verdict.reason else "",
        f"<p>The slow replica may cost {100 * done.limits.latency:.0f} % of mean latency and"
        f" {100 * done.limits.throughput:.0f} % of throughput."
        f" {done.rate:,} puts/s offered. The proposer held {max(r.held_bytes for r in slow):,}"
        f" bytes for the slow replica at most, by its metrics of each second. The replica had"
        f" caught up {words}. In the plots the fault begins after {slow[0].began_s:.2g} s and"
        f" holds for {slow[0].hold_s:g} s.</p>",
        _figures(done),
        _legend(),
        _over_time(done, _latencies, "mean latency (ms)"),
        _over_time(done, _throughputs, "puts/s"),
        _distribution(done),
        "<h3>Waits that grew</h3>",
        _grown(shown),
        drawing.svg(shown.graph, f"graph-{number}"),
    ]
    return "\n".join(parts)


def _figures(done: Experiment) -> str:
    rows = []
    for condition in CONDITIONS:
        slices = done.held(condition)
        all_us = sorted(latency for each in slices for latency in each)
        rows.append(
            [
                condition,
                f"{verdict.throughput(slices) * 1000 / SLICE_MS:,.0f}",
                *(f"{value / 1000:.2f}" for value in _percentiles(all_us)),
                f"{100 * done.others_cores(condition):.0f} %",
            ]
        )
    heads = ["run", "puts/s", "mean (ms)", "p50 (ms)", "p99 (ms)", "processor used by others"]
    return table(heads, rows)


def _percentiles(ordered: Sequence[int]) -> tuple[float, float, float]:
    if not ordered:
        return 0.0, 0.0, 0.0
    last = len(ordered) - 1
    return (
        sum(ordered) / len(ordered),
        ordered[round(last * 0.5)],
        ordered[round(last * 0.99)],
    )


def _latencies(slices: Slices) -> list[float]:
    return [sum(each) / len(each) / 1000 if each else 0.0 for each in slices]


def _throughputs(slices: Slices) -> list[float]:
    return [len(each) * 1000 / SLICE_MS for each in slices]


def _over_time(done: Experiment, values: Callable[[Slices], list[float]], title: str) -> str:
    series = {}
    for condition in CONDITIONS:
        run = next(each for each in done.runs if each.condition == condition)
        series[condition] = [
            ((number + 1) * SLICE_MS / 1000, value)
            for number, value in enumerate(values(run.slices[:-1]))
        ]
    return line_plot.draw(series, "time (s)", title)


def _distribution(done: Experiment) -> str:
    """The share of commands by their latency, up to 99 %, of each condition."""
    series = {}
    for condition in CONDITIONS:
        ordered = sorted(latency for each in done.held(condition) for latency in each) or [0]
        last = len(ordered) - 1
        series[condition] = [
            (ordered[round(last * percent / 100)] / 1000, float(percent)) for percent in range(100)
        ]
    return line_plot.draw(series, "latency (ms)", "% of commands")


def _legend() -> str:
    keys = "".join(
        f'<span class="key series-{number}"></span>{condition}'
        for number, condition in enumerate(CONDITIONS, start=1)
    )
    return f"<p>{keys}</p>"


def _grown(shown: Shown) -> str:
    if not shown.grown:
        return "<p>None.</p>"
    rows = [
        [
            who_waits(shown, each.edge),
            html.escape(", ".join(name_of(shown.graph, peer) for peer in each.edge.receivers)),
            html.escape(what_waits(each.edge)),
            each.edge.color,
            *(("-", "-") if each.healthy is None else _times(each.healthy)),
            *_times(each.edge),
        ]
        for each in shown.grown
    ]
    heads = ["waits", "for", "what", "edge", "healthy: mean (ms)", "worst", "fault: mean", "worst"]
    return table(heads, rows)


def who_waits(shown: Shown, edge: Edge) -> str:
    return "clients" if edge.sender >= FIRST_CLIENT else name_of(shown.graph, edge.sender)


def _times(edge: Edge) -> tuple[str, str]:
    return f"{edge.mean_ns / 1e6:.2f}", f"{edge.worst_ns / 1e6:.1f}"
