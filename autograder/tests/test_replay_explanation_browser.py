"""The page steps through what led to a failure, in a real browser."""

from pathlib import Path

from failslow.extras.site import browser
from recordings import Recording, not_linearizable, read, script, two_votes
from replay_pages import HOVER_EVERYWHERE, WIDE, act, span, widen, write_page


def show(tab: browser.Tab, made: Recording, tmp_path: Path) -> None:
    widen(tab, WIDE)
    assert tab.open(write_page(tmp_path, [read(made, tmp_path / "record")])) == []


def told(tab: browser.Tab) -> str:
    return tab.evaluate("document.getElementById('step').innerText")


def test_it_opens_where_all_steps_of_the_explanation_are_in_view(
    tab: browser.Tab, tmp_path: Path
) -> None:
    made = two_votes()
    made.add("note", 5000, text="the end")
    show(tab, made, tmp_path)
    state = act(tab)
    begin, end = span(state)
    assert begin < 130_000
    assert 172_000 < end < 1_000_000
    assert state["selected"] == ""
    assert state["step"] == "-1"


def test_keys_step_through_the_votes_and_back(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, two_votes(), tmp_path)
    assert act(tab, "key('v')")["selected"].startswith("note VIOLATION of one vote per term")
    assert told(tab) == "1 of 5: The invariant breaks here."
    second = act(tab, "key('v')")
    assert told(tab) == "2 of 5: Replica 1 sends this in the faulty step."
    assert "term: 2, granted: true" in tab.evaluate("document.getElementById('selected').innerText")
    assert act(tab, "key('v')")["selected"] != second["selected"]
    assert told(tab) == "3 of 5: The first vote of replica 1."
    assert act(tab, "key('V')")["selected"] == second["selected"]
    assert act(tab, "key('v'); key('v'); key('v'); key('v')")["step"] == "0"
    assert act(tab, "key('V')")["step"] == "4"
    assert tab.complaints() == []


def test_the_list_leads_to_each_step(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, two_votes(), tmp_path)
    assert act(tab, "document.querySelectorAll('#steps button')[2].click()")["step"] == "2"
    current = "[...document.querySelectorAll('#steps [aria-current=true]')].map(b => b.innerText)"
    assert tab.evaluate(current) == ["The first vote of replica 1."]
    words = tab.evaluate("document.querySelectorAll('#steps p')[2].innerText")
    assert "replica 1 \u2192 replica 0" in words
    assert "term: 2, granted: true" in words


def test_the_window_is_drawn_with_a_lane_for_each_client(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, not_linearizable(), tmp_path)
    act(tab, "key('v')")
    assert told(tab) == "1 of 3: No order of these operations explains this reply."
    assert act(tab)["selected"] == "operation nil"
    hovered = tab.evaluate(HOVER_EVERYWHERE.replace("KIND", "operation"))
    assert [words.split(" time")[0] for words in hovered] == ["GET x", "SET x 1", "SET x 2"]
    assert "client 2 lasts it got no answer" in hovered[2]


def test_votes_of_a_script_are_drawn(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, script(), tmp_path)
    state = act(tab, "key('v')")
    assert state["selected"] == "mark #4  leader: look at quorum A -> 1 yes"
    assert told(tab) == "1 of 4: This step of the script goes wrong."
    hovered = tab.evaluate(HOVER_EVERYWHERE.replace("KIND", "mark"))
    assert len(hovered) == 4
    assert "voter 1 of quorum A says no" in "".join(hovered)
    legend = tab.evaluate("document.getElementById('legend').innerText")
    assert "a lost vote" in legend


def test_a_run_without_a_problem_has_no_explanation(tab: browser.Tab, tmp_path: Path) -> None:
    made = Recording()
    made.send(1, 0, 1)
    show(tab, made, tmp_path)
    assert act(tab, "key('v'); key('V')")["selected"] == ""
    assert tab.evaluate("document.getElementById('problem').disabled")
    assert tab.evaluate("document.getElementById('explanation').hidden")
    assert "a lost vote" not in tab.evaluate("document.getElementById('legend').innerText")


# The colour at a place beside an event's anchor, and the colour of that name.
COLOURS = """
(async () => {
  const {anchorOf} = await import("replay/layout.js");
  const {state, canvas} = await import("replay/state.js");
  const ratio = canvas.width / state.width;
  const pen = canvas.getContext("2d");
  const pixel = (x, y) => pen.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1);
  const drawn = (x, y) => [...pixel(x, y).data];
  const named = (name) => {
    const swatch = new OffscreenCanvas(1, 1).getContext("2d");
    swatch.fillStyle = state.colour[name];
    swatch.fillRect(0, 0, 1, 1);
    return [...swatch.getImageData(0, 0, 1, 1).data];
  };
  return (%s)(state, anchorOf, drawn, named);
})()
"""


def test_each_step_has_a_badge(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, two_votes(), tmp_path)
    act(tab)
    badges = """(state, anchorOf, drawn, named) => state.world.explanation.map(({event}) => {
      const [x, y] = anchorOf(event);
      return `${drawn(x - 6, y)}` === `${named("problem")}`;
    })"""
    assert tab.evaluate(COLOURS % badges) == [True] * 5


def test_a_yes_is_green_and_a_no_is_not(tab: browser.Tab, tmp_path: Path) -> None:
    show(tab, script(), tmp_path)
    act(tab)
    votes = """(state, anchorOf, drawn, named) => state.world.marks.slice(0, 2).map((mark) => {
      const at = drawn(state.x(mark.start), state.lanes[mark.replica].line);
      return ["quorum-mark", "ink"].find((name) => `${named(name)}` === `${at}`);
    })"""
    assert tab.evaluate(COLOURS % votes) == ["quorum-mark", "ink"]
