"""The pictures of a log with two lanes."""

import json
from pathlib import Path
from typing import Any

import pytest

from failslow.kit import this_kit
from failslow.replay import page, recording
from failslow.site import lanes
from recordings import LANES, SHOWS, two_lanes

SUBJECT = page.Subject("lab5: Copilot", "Copilot.Works", "It works.", "7", True, ())


@pytest.fixture
def replay(tmp_path: Path) -> str:
    worlds = recording.read(two_lanes().write(tmp_path / "record"))
    return page.document(SUBJECT, worlds, SHOWS, LANES)


def entry(index: int, **rest: Any) -> dict[str, Any]:  # noqa: ANN401
    given = {"lane": 0, "index": index, "after": None, "proposed": 0, "decided": None, "ran": None}
    return given | rest


def test_a_part_has_the_entries_of_its_time(replay: str) -> None:
    part = lanes.part_of(replay, 0.011, 0.058)
    assert (part["lanes"], part["length"]) == (["P", "Q"], 47_000)
    names = [(each["lane"], each["index"]) for each in part["entries"]]
    assert names == [(0, 1), (1, 1), (1, 2), (0, 2)], "P.3 begins later"
    first = {"proposed": 0, "decided": 9_000, "ran": 21_000}
    assert part["entries"][0] == {"lane": 0, "index": 1, "after": 1, **first}
    assert [
        (each["lane"], each["index"]) for each in lanes.part_of(replay, 0.04, 0.05)["entries"]
    ] == [
        (1, 2),
        (0, 2),
    ], "P.1 and Q.1 have run before"


def test_what_comes_after_the_part_has_not_happened(replay: str) -> None:
    (*_, last) = lanes.part_of(replay, 0, 0.015)["entries"]
    assert last == {
        "lane": 1,
        "index": 1,
        "after": None,
        "proposed": 12_000,
        "decided": None,
        "ran": None,
    }


def test_each_entry_is_drawn_as_what_it_is() -> None:
    entries = [
        entry(1, after=0, decided=10, ran=20),
        entry(2, after=1, decided=30, ran=50),
        entry(1, lane=1, after=2, decided=40, ran=60),
        entry(3),
    ]
    drawn = lanes.draw({"lanes": ["P", "Q"], "length": 100, "entries": entries})
    assert drawn.count('<rect class="entry"') == 1
    assert drawn.count('<rect class="cycle"') == 2
    assert drawn.count('<line class="open"') == 1
    assert drawn.count('<line class="dependency cycle"') == 2
    said = "P.1 depends on nothing. P.2 depends on Q.1. Q.1 depends on P.2. P.3 is not decided"
    assert f'aria-label="{said}"' in drawn


def test_a_page_gets_its_pictures(tmp_path: Path) -> None:
    path = tmp_path / lanes.PARTS / "two.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"lanes": ["<", "Q"], "length": 9, "entries": [entry(1)]}))
    filled = lanes.fill(tmp_path, "before\n{{ lanes.two }}\nafter")
    assert filled.startswith('before\n<div class="scroll"><svg')
    assert "<.1" not in filled


def test_the_committed_pictures_show_what_the_page_says() -> None:
    site = this_kit().site
    parts = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (site / lanes.PARTS).glob("*.json")
    }
    slow = [each for each in parts["slow-pilot"]["entries"] if each["lane"] == 0]
    assert slow
    assert all(each["decided"] is None for each in slow)
    drawn = lanes.draw(parts["cycle"])
    assert 'class="cycle"' in drawn
    assert 'class="entry"' not in drawn
    assert 'class="cycle"' not in lanes.draw(parts["fast"])
