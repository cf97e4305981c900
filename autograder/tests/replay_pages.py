"""Opens the page of a replay in a real browser, and acts on it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from failslow.extras.replay import html_report
from failslow.extras.replay.recording import World
from failslow.extras.site import browser
from failslow.lab.labs import Lanes
from failslow.lab.shown import Shown
from recordings import SHOWS

FAILURE = "Expected: <b>is sound</b>"
SUBJECT = html_report.Subject("lab2: Raft", "Raft.Fails", "It works.", "7", False, (FAILURE,))
WIDE = 1280

# Acts, then lets the page draw and list the visible items.
ACT = """
(async () => {
  const key = (k) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", {key: k, bubbles: true, cancelable: true}));
  %s;
  while (document.body.dataset.settled !== "yes") await new Promise(requestAnimationFrame);
  return {...document.body.dataset, focus: document.activeElement.id};
})()
"""

# The page's sentence about each thing of a KIND that is drawn.
HOVER_EVERYWHERE = """
(() => {
  const canvas = document.getElementById("diagram");
  const box = canvas.getBoundingClientRect();
  const tip = document.getElementById("tip");
  const told = new Map();  // by the tip's HTML: only its text needs a layout
  for (let y = box.top; y < box.bottom; y += 5) {
    for (let x = box.left + 100; x < box.right; x += 10) {
      canvas.dispatchEvent(new MouseEvent("mousemove",
        {clientX: x, clientY: y, view: window, bubbles: true}));
      if (document.body.dataset.hovered === "KIND" && !told.has(tip.innerHTML)) {
        told.set(tip.innerHTML, tip.innerText.replace(/\\s+/g, " "));
      }
    }
  }
  return [...new Set(told.values())].sort();
})()
"""


@pytest.fixture(scope="module")
def tab() -> Iterator[browser.Tab]:
    program = browser.find()
    if program is None:
        pytest.skip(browser.NONE)
    with browser.open_tab(program) as tab:
        yield tab


def write_page(
    directory: Path,
    worlds: list[World],
    shows: Sequence[Shown] = SHOWS,
    lanes: Lanes | None = None,
) -> Path:
    path = directory / "replay.html"
    path.write_text(html_report.document(SUBJECT, worlds, tuple(shows), lanes), encoding="utf-8")
    return path


def widen(tab: browser.Tab, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})


def act(tab: browser.Tab, script: str = "") -> dict[str, Any]:
    return tab.evaluate(ACT % script)


def span(state: dict[str, Any]) -> tuple[int, int]:
    begin, end = state["view"].split()
    return int(begin), int(end)
