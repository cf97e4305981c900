"""The page of a failing run of five replicas and 20,000 messages, in a real browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from failslow.extras.replay import html_report, recording
from failslow.extras.site import browser
from failslow.lab.shown import Shown
from recordings import LANES, SHOWS, Recording, large, two_lanes
from replay_pages import FAILURE, HOVER_EVERYWHERE, WIDE, act, span, widen, write_page

ROUNDS = 2500
MESSAGES = ROUNDS * 4 * 2

PAGE_WIDTHS = (WIDE, 390, 320)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("replay")
    worlds = recording.read(large(replicas=5, rounds=ROUNDS).write(directory / "record"))
    assert len(worlds[0].messages) == MESSAGES
    return write_page(directory, worlds)


@pytest.fixture
def opened(tab: browser.Tab, written: Path) -> Iterator[browser.Tab]:
    """The page with the whole run in view; afterwards nobody has complained."""
    widen(tab, WIDE)
    assert tab.open(written) == []
    act(tab, "key('f')")
    yield tab
    assert tab.complaints() == []


def test_every_message_is_drawn(
    opened: browser.Tab, record_property: Callable[[str, object], None]
) -> None:
    state = act(opened)
    assert int(state["arrowsDrawn"]) == MESSAGES
    record_property("first_draw_ms", state["firstDrawMs"])


@pytest.mark.parametrize("width", PAGE_WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_something_is_on_the_canvas(
    tab: browser.Tab, written: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    tab.page.emulate_media(color_scheme=scheme)
    widen(tab, width)
    assert tab.open(written) == []
    act(tab)
    colours, first, wide = tab.evaluate(
        """(() => {
          const canvas = document.getElementById("diagram");
          const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const colours = new Set(new Uint32Array(data.buffer));
          const whole = document.documentElement;
          return [colours.size, [...data.slice(0, 3)], whole.scrollWidth - whole.clientWidth];
        })()"""
    )
    assert colours > 20
    assert (max(first) < 60) == (scheme == "dark")
    assert wide == 0, "the page scrolls sideways"


def test_keys_move_and_zoom(opened: browser.Tab) -> None:
    whole = span(act(opened))
    near = span(act(opened, 'key("+"); key("+"); key("+")'))
    assert near[1] - near[0] < (whole[1] - whole[0]) / 3
    assert int(act(opened)["arrowsDrawn"]) < MESSAGES / 2
    right = span(act(opened, 'key("ArrowRight")'))
    assert right[0] > near[0]
    assert span(act(opened, 'key("ArrowLeft")'))[0] < right[0]
    far = span(act(opened, 'key("-")'))
    assert far[1] - far[0] > near[1] - near[0]
    assert span(act(opened, 'key("f")')) == whole


def button(tab: browser.Tab) -> str:
    return tab.evaluate("document.getElementById('problem').innerText")


def test_the_first_violation_is_marked_and_found(opened: browser.Tab) -> None:
    assert "First violation" in button(opened)
    state = act(opened, 'key("v")')
    assert state["selected"].startswith("note VIOLATION of log matching")
    begin, end = span(state)
    assert begin < (100 + ROUNDS * 400) * 1000 * 0.7 < end
    marked = opened.evaluate("document.querySelector('tr.problem td:nth-child(4)').textContent")
    assert marked.startswith("VIOLATION of log matching")
    assert "Next step" in button(opened)
    assert act(opened, 'key("Escape")')["selected"] == ""


def test_arrows_are_labelled_when_they_are_few(opened: browser.Tab) -> None:
    assert act(opened)["labelsDrawn"] == "0"
    near = act(opened, "for (let i = 0; i < 12; ++i) key('+')")
    labels = int(near["labelsDrawn"])
    assert 0 < labels <= int(near["arrowsDrawn"])
    hide = "for (const box of document.querySelectorAll('#types input')) box.click()"
    assert act(opened, hide)["labelsDrawn"] == "0"


def test_a_type_can_be_filtered_out(opened: browser.Tab) -> None:
    hide = "document.querySelector('#types input[data-type$=\"reply\"]').click()"
    assert int(act(opened, hide)["arrowsDrawn"]) == MESSAGES / 2
    assert int(act(opened, hide)["arrowsDrawn"]) == MESSAGES


def test_search_finds_contents_and_walks_through_them(opened: browser.Tab) -> None:
    assert act(opened, 'key("/")')["focus"] == "search"
    enter = (
        "const box = document.getElementById('search'); box.value = '%s';"
        "box.dispatchEvent(new Event('input'))"
    )
    assert int(act(opened, enter % "[1, 77, ")["matches"]) == 4
    first = act(opened, 'key("Escape"); key("n")')
    assert first["focus"] == "diagram"
    assert first["selected"].startswith("message ")
    second = act(opened, 'key("n")')
    assert second["selected"] not in ("", first["selected"])
    assert act(opened, 'key("N")')["selected"] == first["selected"]
    words = opened.evaluate("document.getElementById('matches').textContent")
    assert words == "1 of 4"
    assert int(act(opened, enter % "log matching")["matches"]) == 1
    assert int(act(opened, enter % "nowhere to be found")["matches"]) == 0


def test_pointing_shows_contents(opened: browser.Tab) -> None:
    act(opened, 'key("/")')
    near = (
        "const box = document.getElementById('search'); box.value = '[1, 77, ';"
        "box.dispatchEvent(new Event('input')); key('Escape'); key('n');"
        "for (let i = 0; i < 9; ++i) key('+')"
    )
    act(opened, near)
    found = opened.evaluate(
        """(() => {
          const canvas = document.getElementById("diagram");
          const box = canvas.getBoundingClientRect();
          for (let y = box.top + 50; y < box.bottom - 220; y += 4) {
            for (let x = box.left + 100; x < box.right; x += 40) {
              canvas.dispatchEvent(new MouseEvent("mousemove",
                {clientX: x, clientY: y, view: window, bubbles: true}));
              const text = document.getElementById("tip").innerText;
              if (document.body.dataset.hovered === "message") return text;
            }
          }
          return "";
        })()"""
    )
    assert "AppendEntries" in found
    assert "fate" in found


def test_the_table_lists_what_is_in_view_and_takes_keys(opened: browser.Tab) -> None:
    state = act(opened, "for (let i = 0; i < 14; ++i) key('+')")
    rows = opened.evaluate("document.querySelectorAll('#events tbody tr').length")
    assert 0 < rows == min(200, int(state["eventsInView"]))
    chosen = act(opened, "document.querySelector('#events tbody button').click()")
    assert chosen["selected"]
    assert opened.evaluate("document.activeElement.closest('tr') !== null")
    assert opened.evaluate("document.querySelectorAll('tr.is-selected').length") == 1


def test_the_failure_is_told_as_text(opened: browser.Tab) -> None:
    assert opened.evaluate("document.querySelector('#failures pre').innerText") == FAILURE


def test_of_several_clusters_the_telling_one_is_shown_first(
    tab: browser.Tab, tmp_path: Path
) -> None:
    one, other = Recording(world=1), Recording(replicas=5, world=2)
    one.send(1, 0, 1)
    for number in range(3):
        other.send(1, number, 4)
    other.add("failure", 9, text="wrong")
    one.lines += other.lines
    worlds = recording.read(one.write(tmp_path / "record"))
    assert tab.open(write_page(tmp_path, worlds, ())) == []
    assert act(tab)["arrowsDrawn"] == "3"
    assert "First failure" in button(tab)
    assert act(tab, "key('v')")["selected"] == "note wrong"
    choose = (
        "const box = document.getElementById('world'); box.value = '0';"
        "box.dispatchEvent(new Event('change'))"
    )
    assert act(tab, choose)["arrowsDrawn"] == "1"
    assert tab.evaluate("document.getElementById('problem').disabled")
    assert tab.complaints() == []


def test_the_entries_of_two_lanes_are_drawn(tab: browser.Tab, tmp_path: Path) -> None:
    widen(tab, WIDE)
    worlds = recording.read(two_lanes().write(tmp_path / "record"))
    assert tab.open(write_page(tmp_path, worlds, SHOWS, LANES)) == []
    act(tab)
    p1, p2, p3, q1, q2 = tab.evaluate(HOVER_EVERYWHERE.replace("KIND", "entry"))
    assert "decided replica 0 at 0.000020 s, replica 2 at 0.000030 s" in p1
    assert "ran replica 0 at 0.000033 s, replica 2 at 0.000032 s cycle with Q.1" in p1
    assert "cycle with P.1 depends on P.1" in q1
    assert "a no-op" in p2
    assert "decided nowhere ran nowhere not decided" in p3
    assert "depends on P.1" in q2
    assert "cycle" not in q2
    rows = tab.evaluate("[...document.querySelectorAll('#events tbody tr')].map(r => r.innerText)")
    assert any("Q.2" in row and "depends on P.1" in row for row in rows)
    assert tab.complaints() == []


def test_a_vital_is_drawn_with_its_threshold(tab: browser.Tab, tmp_path: Path) -> None:
    made = Recording()
    for when, claim in ((0, "5,0,1000,1200,0"), (50, "5,2,23100,2400,0"), (99, "8,0,0,0,0")):
        made.wait(when, 0, 1, label="timeout", event=f"claims {claim}")
    vital = Shown("processor", kind=5, value=0, words=("usual", "warn", "fatal"), figure=(1, 2))
    worlds = recording.read(made.write(tmp_path / "record"))
    assert tab.open(write_page(tmp_path, worlds, (vital,))) == []
    act(tab)
    told = tab.evaluate(HOVER_EVERYWHERE.replace("KIND", ""))
    assert any("usual: 1.00 \u2264 1.20 ms" in each for each in told)
    assert any("fatal: 23.10 > 2.40 ms" in each for each in told)
    assert tab.complaints() == []


def test_the_page_says_what_it_leaves_out(
    tab: browser.Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_report, "MESSAGES_MAX", 100)
    worlds = recording.read(large(replicas=5, rounds=50).write(tmp_path / "record"))
    assert tab.open(write_page(tmp_path, worlds)) == []
    assert act(tab, "key('f')")["arrowsDrawn"] == "100"
    said = tab.evaluate("document.getElementById('left-out').innerText")
    assert said.startswith("300 messages are left out")
    assert act(tab, "key('v')")["selected"].startswith("note VIOLATION")


def test_the_browser_would_notice_a_request(tab: browser.Tab, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text('<script src="https://elsewhere.invalid/x.js"></script>')
    assert "elsewhere.invalid" in "; ".join(tab.open(bad))
