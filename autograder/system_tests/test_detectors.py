"""The detectors of lab 7: the levels in a status, a slow leader, and a replay."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.faults.verdict import INCONCLUSIVE
from failslow.extras.shared import waiting

LEVELS = ("usual:", "warn:", "fatal:")
SHOWN_S = 30.0


def run(kit: Kit, *words: object) -> process.Completed:
    return process.run([kit.root / "kit", *map(str, words)], timeout_s=600)


@pytest.fixture
def data(kit: Kit, tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "data"
    try:
        begun = run(kit, "cluster", "up", "--lab", "lab7", "--data", data)
        assert begun.exit_code == 0, begun.errors
        yield data
    finally:
        run(kit, "cluster", "down", "--data", data)


def test_a_status_has_the_levels_of_each_replica(kit: Kit, data: Path) -> None:
    def shows() -> list[dict[str, Any]]:
        text = run(kit, "cluster", "status", "--json", "--data", data).output
        return [each["shows"] for each in json.loads(text)["replicas"]]

    def is_known() -> bool:
        cells = [str(each[name]) for each in shows() for name in ("processor", "disk", "network")]
        return len(cells) == 9 and all(cell.startswith(LEVELS) for cell in cells)

    # A write gives each disk a value.
    assert run(kit, "cluster", "submit", "SET", "k", "v", "--data", data).exit_code == 0
    assert waiting.until(is_known, SHOWN_S), shows()
    assert [each["suspects"] is None for each in shows()] == [False] * 3


@pytest.mark.full
def test_a_slow_leader_hands_over(kit: Kit, tmp_path: Path) -> None:
    asked = ("--lab", "lab7", "--target", "leader", "--fault", "net-slow-40ms", "--quick", "--json")
    done = run(kit, "faults", "run", *asked, "--out", tmp_path)
    assert done.exit_code in (0, 1), done.errors
    (found,) = json.loads(done.output)
    if found["verdict"]["word"] == INCONCLUSIVE:
        pytest.skip(found["verdict"]["reason"])
    (only,) = found["runs"]
    assert only["successor"] not in (None, only["leader"])


@pytest.mark.full
def test_a_replay_draws_levels_and_hand_overs(kit: Kit, tmp_path: Path) -> None:
    words = ("lab7", "HandOver.ToAWellPeer", kit.reference, "--out", tmp_path)
    assert run(kit, "replay", *words).exit_code == 0
    page = (tmp_path / "replay.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page)
    assert found is not None
    recording = json.loads(found[1])
    figures = zip(recording["worlds"][0]["figures"], recording["shows"], strict=True)
    assert {bool(rows) for rows, shown in figures if shown["figure"]} == {True}
    marks = [mark[2] for mark in recording["worlds"][0]["marks"]]
    assert any(mark.startswith("handed over to ") for mark in marks)
