"""The page of results: every benchmark's latest figures and plots, in one HTML file."""

import html
import io
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from string import Template
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullLocator

from failslow import atomic, machine
from failslow.bench import figures
from failslow.bench.figures import Figure, Plot, Section
from failslow.errors import CannotDo

RESULTS, PAGE = "results.json", "index.html"
COLOURS = ("#3b76c4", "#d9822b", "#6aa84f", "#a64d79")
GREY = "#808080"
"""Readable on white and on black: the plots are transparent."""

TEMPLATE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Failslow Labs: benchmarks</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; margin: 1rem 0; }
  th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8886; }
  td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  .failed { font-weight: bold; }
  svg { max-width: 100%; height: auto; }
</style>
<h1>Benchmarks</h1>
<p>Made by <code>./kit bench</code>. Figures of different machines cannot be compared; ratios of
one run can.</p>
$sections
</html>
""")


def write(directory: Path, section: Section) -> Path:
    """Replaces the section's results among those in `directory`; returns the page's path.

    CannotDo when the directory cannot be written or holds results that are not ours.
    """
    results = _read(directory / RESULTS)
    results[section.key] = asdict(section) | {"machine": _machine(), "when": _now()}
    atomic.write_text(directory / RESULTS, json.dumps(results, indent=1) + "\n")
    atomic.write_text(directory / PAGE, render(results))
    return directory / PAGE


def render(results: Mapping[str, Any]) -> str:
    """The page for the content of results.json."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "failslow"}):
        sections = "\n".join(_section(content) for content in results.values())
    return TEMPLATE.substitute(sections=sections)


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        for section in content.values():
            _plots(section), _figures(section)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CannotDo(f"{path} is not what ./kit bench wrote ({error!r}); remove it") from error
    return content


def _plots(content: Mapping[str, Any]) -> list[Plot]:
    return [Plot(**plot) for plot in content["plots"]]


def _figures(content: Mapping[str, Any]) -> list[Figure]:
    return [Figure(**figure) for figure in content["figures"]]


def _machine() -> str:
    """Without what a distributor or an owner has added to the kernel's version."""
    version = platform.release().partition("-")[0]
    model = machine.processor()
    return f"{platform.system()} {version}, {os.cpu_count()} cores" + (
        f" ({model})" if model else ""
    )


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _section(content: Mapping[str, Any]) -> str:
    escape = html.escape
    return "\n".join(
        [
            f'<h2 id="{escape(content["key"])}">{escape(content["title"])}</h2>',
            f"<p>{escape(content['text'])}</p>",
            f"<p>{escape(content['when'])}, {escape(content['machine'])}</p>",
            *(_drawing(plot) for plot in _plots(content)),
            _table(_figures(content)),
        ]
    )


def _table(rows: Sequence[Figure]) -> str:
    lines = ['<div class="wide"><table>', "<tr><th>figure<th>value<th>bar<th>verdict"]
    for figure in rows:
        verdict = "" if figure.bar is None else ("passed" if figure.passed else "FAILED")
        lines.append(
            f"<tr><td>{html.escape(figure.name)}"
            f'<td class="number">{figures.number(figure.value)} {html.escape(figure.unit)}'
            f"<td>{figures.bar(figure)}<td class={verdict.lower() or 'none'}>{verdict}"
        )
    return "\n".join([*lines, "</table></div>"])


def _drawing(plot: Plot) -> str:
    """The plot as SVG. The table tells the same in words: so a short label is enough."""
    canvas = Canvas(figsize=(8, 0.5 + 0.5 * _rows(plot) if not plot.lines else 3.6))
    axes = canvas.add_subplot()
    (_draw_lines if plot.lines else _draw_bars)(axes, plot)
    axes.set_title(plot.title, loc="left", color=GREY)
    axes.tick_params(colors=GREY)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)
    if len(plot.series) > 1:
        axes.legend(frameon=False, labelcolor=GREY)
    text = io.StringIO()
    canvas.savefig(
        text, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
    )
    svg = text.getvalue()
    label = html.escape(f"{plot.title}, {plot.unit}", quote=True)
    return svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _rows(plot: Plot) -> int:
    return max(3, len(plot.labels) * len(plot.series))


def _draw_bars(axes: Axes, plot: Plot) -> None:
    height = 0.8 / len(plot.series)
    for number, (name, values) in enumerate(plot.series.items()):
        places = [place + (number + 0.5) * height - 0.4 for place in range(len(plot.labels))]
        drawn = axes.barh(places, values, height * 0.9, label=name, color=COLOURS[number])
        axes.bar_label(drawn, [figures.number(value) for value in values], padding=3, color=GREY)
    axes.set_yticks(range(len(plot.labels)), plot.labels)
    axes.invert_yaxis()
    if plot.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,g}")
    axes.margins(x=0.15)
    axes.set_xlabel(plot.unit, color=GREY)


def _draw_lines(axes: Axes, plot: Plot) -> None:
    for number, (name, values) in enumerate(plot.series.items()):
        axes.plot(plot.labels, values, marker="o", label=name, color=COLOURS[number])
    if plot.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(plot.unit, color=GREY)
