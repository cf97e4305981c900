"""The page of the sweep: its plots and tables show the committed results."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from demands import some
from failslow.base.kit import this_kit
from failslow.extras.bench.slow import BARS, REFERENCE, Options
from failslow.extras.shared import dot_plot
from failslow.extras.shared.dot_plot import Scale
from failslow.extras.site import measured

SCALE = Scale(0.001, 1.0, {0.001: "least", 1.0: "most"}, 0.05, "Title <1>")


def cell(solution: str, fault: str, median: float | None, lag: int = 500) -> dict[str, Any]:
    figures = {"throughput": median, "latency": median, "lag": lag, "misbehaved": None}
    return {"solution": solution, "fault": fault, "replicas": 3} | figures


@pytest.fixture
def site(tmp_path: Path) -> Path:
    options = {"solution": ["reference", "lab2/other"], "seeds": 2, "replicas": [3]}
    content = {
        "options": options | {"faults": None, "victim": "follower"},
        "cells": [
            cell("reference", "a", 0.004),
            cell("reference", "b", 0.02, lag=9),
            cell("lab2/other", "a", None),
            cell("lab2/other", "b", 4.0),
        ],
    }
    results = tmp_path / measured.RESULTS
    results.mkdir(parents=True)
    (results / "two.json").write_text(json.dumps(content))
    content["options"]["solution"] = ["reference"]
    (results / "one.json").write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("solutions.two", "| fault | reference | other |"),
        ("solutions.two", "| `a` | 0.4% / 0.4% | all / all |"),
        ("solutions.two", r"| `b` \* | 2% / 2% | 5.0x / 5.0x |"),
        ("sizes.one", "| fault | 3 replicas |"),
        ("sizes.one", "| `a` | 0.4% / 0.4% |"),
        ("worst.one", "- throughput lost, the worst median: 2% (`b`, 3 replicas)"),
    ],
)
def test_tables_have_every_fault_and_the_worst_is_named(site: Path, part: str, line: str) -> None:
    assert line in measured.fill(site, f"{{{{ measured.{part} }}}}")


def test_a_part_stands_where_the_page_asks_for_it(site: Path) -> None:
    text = measured.fill(site, "??? note\n\n    {{ measured.sizes.one }}\n")
    lines = text.splitlines()[2:]
    assert len(lines) == 4
    assert all(line.startswith("    |") for line in lines)


def test_a_plot_has_a_mark_for_every_number(site: Path) -> None:
    text = measured.fill(site, "{{ measured.latency.two }}")
    titles = re.findall(r"<g [^>]*><title>(.*?)</title>", text)
    assert titles == ["reference, a", "reference, b", "other, a", "other, b"]
    assert 'class="legend"' in text
    assert "\n\n" not in text  # Markdown would end the block there


def test_marks_stand_where_their_values_are() -> None:
    assert SCALE.x(0.001) == SCALE.x(-3.0) == dot_plot.LABELS
    assert SCALE.x(1.0) == SCALE.x(float("inf")) == dot_plot.WIDTH - dot_plot.RIGHT
    assert SCALE.x(0.1) - SCALE.x(0.01) == pytest.approx(SCALE.x(0.01) - SCALE.x(0.001), abs=0.2)
    drawn = dot_plot.draw(["r"], {"s": [0.05]}, SCALE)
    assert f'd="M{SCALE.x(0.05)} ' in drawn
    assert f"translate({SCALE.x(0.05)} " in drawn
    assert "Title &lt;1&gt;" in drawn


def test_the_page_names_the_commands_of_its_results() -> None:
    page = (this_kit().site / "docs" / "measurement.md").read_text(encoding="utf-8")
    shown = {name for _, _, name in measured.WANTED.findall(page)}
    assert shown
    for name in shown:
        result = measured.read(this_kit().site, name)
        line = measured.fill(this_kit().site, f"{{{{ measured.command.{name} }}}}")
        assert line == f"{result.options.command()} --json"
        assert f"measured.command.{name} " in page
        options = result.options
        wanted = {
            (s, n, f) for s in options.solution for n in options.replicas for f in result.faults
        }
        assert {*result.cells} == wanted


def test_the_committed_reference_meets_its_bars() -> None:
    result = measured.read(this_kit().site, "reference")
    assert result.options.solution == (REFERENCE,)
    assert result.options.replicas == Options().replicas
    assert result.options.faults is None
    for cell in some(result.cells.values()):
        assert cell["throughput"] < BARS.medians.throughput
        assert cell["latency"] < BARS.medians.latency
