"""The handbook's page of benchmarks: made from what ./kit bench wrote."""

import json
from pathlib import Path

import pytest

from failslow.extras.site import benchmarked

SECTION = {
    "key": "kv",
    "title": "The store",
    "text": "Three replicas.",
    "figures": [
        {"name": "SET", "value": 0.52, "unit": "x", "bar": 0.6, "at_most": False},
        {"name": "p99", "value": 3.0, "unit": "ms", "bar": 4.0, "at_most": True},
        {"name": "puts", "value": 117493.2, "unit": "/s", "bar": None, "at_most": False},
    ],
    "plots": [
        {
            "title": "Commands",
            "unit": "per second",
            "labels": ["SET", "GET"],
            "series": {"ours": [32000.0, 93000.0], "redis": [60000.0, 1360000.0]},
        },
    ],
    "machine": "Linux 6, 2 cores",
    "when": "2026-11-24 11:15 UTC",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    results = tmp_path / benchmarked.RESULTS
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"kv": SECTION}), encoding="utf-8")
    return tmp_path


def test_a_missed_bar_is_told(site: Path) -> None:
    page = benchmarked.fill(site, "On {{ bench.kv.machine }}:\n\n{{ bench.kv.bars }}")
    assert "On Linux 6, 2 cores, 2026-11-24 11:15 UTC:" in page
    assert "| SET | 0.52 x | at least 0.6 | **missed** |" in page
    assert "| p99 | 3 ms | at most 4 |  |" in page
    assert "puts" not in page


def test_figures_without_a_bar_are_folded(site: Path) -> None:
    page = benchmarked.fill(site, "{{ bench.kv.others }}")
    assert page.startswith('??? note "The store: all other figures"\n\n    | figure | value |\n')
    assert "    | puts | 117,493 /s |" in page
    assert "SET" not in page


def test_systems_have_a_row_each(site: Path) -> None:
    named = {"a: lost": 12.34, "a: found": 3, "b: lost": 5}
    rows = [{"name": name, "value": value, "unit": "%"} for name, value in named.items()]
    content = {"adr": SECTION | {"figures": rows}}
    (site / benchmarked.RESULTS).write_text(json.dumps(content), encoding="utf-8")
    assert benchmarked.fill(site, "{{ bench.adr.systems }}").splitlines() == [
        "|  | lost | found |",
        "| --- | --- | --- |",
        "| a | 12.3 % | 3 % |",
        "| b | 5 % |  |",
    ]


def test_a_comparison_is_drawn_between_powers_of_ten(site: Path) -> None:
    page = benchmarked.fill(site, "{{ bench.kv.plots }}")
    assert page.count('role="img"') == 1
    assert "Commands (per second)" in page
    for tick in ("10,000", "100,000", "1,000,000", "10,000,000"):
        assert f">{tick}</text>" in page
    assert page.count("<title>redis, ") == 2


def test_a_part_that_does_not_exist_ends_the_build(site: Path) -> None:
    for wanted in ("bench.kv.poem", "bench.raft.bars"):
        with pytest.raises(KeyError):
            benchmarked.fill(site, f"{{{{ {wanted} }}}}")
