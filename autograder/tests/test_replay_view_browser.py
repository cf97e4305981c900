"""The page places events by their order, and follows an instant in its address."""

from itertools import pairwise
from pathlib import Path

import pytest

from failslow.extras.replay import recording
from failslow.extras.site import browser
from recordings import Recording
from replay_pages import WIDE, act, span, widen, write_page


@pytest.fixture(autouse=True)
def wide(tab: browser.Tab) -> None:
    widen(tab, WIDE)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Two clusters. In the second, a message is followed by a pause of 3.5 s and by three more."""
    one, other = Recording(world=1), Recording(world=2)
    one.add("note", 500, text="the first cluster")
    first = other.send(10, 0, 1)
    other.fate("arrive", 20, first)
    for number in range(3):
        late = other.send(3_500_000 + 10 * number, 1, 2, method=1)
        other.fate("arrive", 3_500_050 + 10 * number, late)
    other.add("note", 4_000_000, text="the end")
    one.lines += other.lines
    return write_page(tmp_path, recording.read(one.write(tmp_path / "record")))


def open_at(tab: browser.Tab, written: Path, address: str) -> None:
    tab.page.goto("about:blank")  # another fragment alone would not load the page anew
    tab.page.goto(f"{written.as_uri()}{address}")


CHOOSE_SECOND = (
    "const box = document.getElementById('world'); box.value = '1';"
    "box.dispatchEvent(new Event('change'))"
)
# The x of the ends of the drawn arrows, in pixels.
ENDS = """
(async () => {
  const {arrowOf} = await import("replay/layout.js");
  const {state} = await import("replay/state.js");
  return state.world.messages.map((message) => arrowOf(message)).map(([x1, , x2]) => [x1, x2]);
})()
"""


def test_in_order_a_pause_takes_no_room(tab: browser.Tab, written: Path) -> None:
    assert tab.open(written) == []
    act(tab, CHOOSE_SECOND)
    act(tab, "key('f')")
    first, *late = tab.evaluate(ENDS)
    assert first[1] - first[0] < 1
    assert late[0][0] - first[1] > 500
    state = act(tab, "key('o')")
    assert state["ordered"] == "true"
    first, *late = tab.evaluate(ENDS)
    ends = sorted({end for arrow in (first, *late) for end in arrow})
    steps = [after - before for before, after in pairwise(ends)]
    assert len(steps) == 7
    assert max(steps) - min(steps) < 0.01, "each instant is one step"
    assert min(steps) > 50
    assert act(tab, "document.getElementById('order').click()")["ordered"] == "false"
    assert tab.evaluate(ENDS)[0][1] - tab.evaluate(ENDS)[0][0] < 1
    assert tab.complaints() == []


def test_in_order_the_view_stays_and_moves(tab: browser.Tab, written: Path) -> None:
    tab.open(written)
    act(tab, CHOOSE_SECOND)
    act(tab, "key('o')")
    whole = span(act(tab, "key('f')"))
    assert whole[0] == 0
    near = span(act(tab, "key('+'); key('+')"))
    assert 0 < near[0] < near[1] < whole[1]
    moved = span(act(tab, "key('ArrowRight')"))
    assert moved[0] > near[0]
    by_time = span(act(tab, "key('o')"))
    assert abs(by_time[0] - moved[0]) < 1000
    assert abs(by_time[1] - moved[1]) < 1000


def test_in_order_hidden_messages_take_no_room(tab: browser.Tab, written: Path) -> None:
    tab.open(written)
    act(tab, CHOOSE_SECOND)
    before = tab.evaluate(ENDS)[0] if act(tab, "key('o'); key('f')") else []
    hide = "document.querySelector('#types input[data-type^=RequestVote]').click()"
    act(tab, f"{hide}; key('f')")
    after = tab.evaluate(ENDS)[0]
    assert after[1] - after[0] > 2 * (before[1] - before[0])


def test_an_address_leads_to_an_instant(tab: browser.Tab, written: Path) -> None:
    open_at(tab, written, "#t=3.5&cluster=2")
    begin, end = span(act(tab))
    assert begin < 3_500_000_000 < end
    assert end - begin < 500_000_000
    assert tab.evaluate("document.getElementById('world').value") == "1"
    tab.evaluate(
        "new Promise((done) => { addEventListener('hashchange', () => done(), {once: true});"
        "location.hash = '#t=0.0003&cluster=1'; })"
    )
    act(tab)
    assert tab.evaluate("document.getElementById('world').value") == "0"
    assert tab.complaints() == []


def test_the_address_remembers_the_selected_event(tab: browser.Tab, written: Path) -> None:
    tab.open(written)
    act(tab, CHOOSE_SECOND)
    act(tab, "key('f')")
    act(tab, "document.querySelectorAll('#events tbody button')[1].click()")
    assert tab.evaluate("location.hash") == "#t=3.5&cluster=2"
    open_at(tab, written, tab.evaluate("location.hash"))
    begin, end = span(act(tab))
    assert begin < 3_500_000_000 < end
    assert tab.complaints() == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("#t=soon", "The address is wrong: t=soon is no time in seconds."),
        ("#t=-1", "The address is wrong: t=-1 is no time in seconds."),
        ("#t=9&cluster=2", "The address is wrong: t=9 is outside of 0 to 4 s."),
        ("#t=1&cluster=3", "The address is wrong: there is no cluster 3."),
        ("#elsewhere", ""),
    ],
)
def test_a_wrong_address_is_one_sentence(
    tab: browser.Tab, written: Path, address: str, said: str
) -> None:
    open_at(tab, written, address)
    act(tab)
    assert tab.evaluate("document.getElementById('step').textContent") == said
    assert tab.complaints() == []


# The texts of the axis, each with its left and right edge, in pixels. The canvas is drawn anew.
AXIS = """
(async () => {
  const {draw} = await import("replay/draw.js");
  const {state} = await import("replay/state.js");
  const kind = CanvasRenderingContext2D.prototype;
  const fillText = kind.fillText;
  const texts = [];
  kind.fillText = function (text, x, y) {
    const half = this.measureText(text).width / 2;
    if (y === 12) texts.push([text, x - half, x + half]);
    fillText.call(this, text, x, y);
  };
  draw();
  kind.fillText = fillText;
  return {texts, left: state.left, right: state.width};
})()
"""


@pytest.mark.parametrize("width", [320, 390, WIDE])
@pytest.mark.parametrize("key", ["f", "o"])
def test_no_text_of_the_axis_is_cut_or_covered(
    tab: browser.Tab, written: Path, width: int, key: str
) -> None:
    widen(tab, width)
    assert tab.open(written) == []
    act(tab, CHOOSE_SECOND)
    act(tab, f"key('{key}')")
    axis = tab.evaluate(AXIS)
    edges = [edge for _, *both in axis["texts"] for edge in both]
    assert len(axis["texts"]) >= 2
    assert [axis["left"], *edges, axis["right"]] == sorted([axis["left"], *edges, axis["right"]])
