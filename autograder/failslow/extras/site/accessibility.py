"""Looks for barriers on built pages: axe, with the rules of WCAG 2.2 up to level AA."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from failslow.extras.site.browser import Tab

HEIGHT = 900
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

RUN = """async (rules) => {
  const { violations } = await axe.run(document, { runOnly: rules });
  return violations.map((v) => `${v.help} (${v.id}, ${v.nodes.length}): ${v.nodes[0].target}`);
}"""


@dataclass(frozen=True)
class View:
    """A reader's view of a page; `width` in pixels."""

    scheme: Literal["light", "dark"]
    width: int


VIEWS = tuple(View(scheme, width) for width in (320, 768, 1280) for scheme in ("light", "dark"))


def barriers(tab: Tab, file: Path, views: Sequence[View] = VIEWS) -> list[str]:
    """The findings of axe on a page from the disk, each once, with the view that showed it."""
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for view in views:
        tab.page.emulate_media(color_scheme=view.scheme)
        tab.page.set_viewport_size({"width": view.width, "height": HEIGHT})
        tab.open(file)
        tab.evaluate(script)
        for each in tab.page.evaluate(RUN, RULES):
            found.setdefault(each, f"{each} ({view.scheme}, {view.width} pixels wide)")
    return list(found.values())
