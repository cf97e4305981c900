"""Opens built pages in an installed browser and reports errors that a reader would notice.

Playwright drives the browser. It downloads none: the distribution's Chromium is used.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page, Request, ViewportSize

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE = "no browser"
"""The remark when none is installed."""

PHONE: "ViewportSize" = {"width": 390, "height": 844}
FLAGS = (
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
LOCAL_SCHEMES = ("file", "data", "blob", "about")

HERE = Path(__file__).resolve().parent
INSPECT = (HERE / "inspect.js").read_text(encoding="utf-8")
SEARCH = (HERE / "search.js").read_text(encoding="utf-8")


class NoBrowser(Exception):
    """No browser is installed, or it does not answer."""


def find() -> str | None:
    """The path of a browser that can be driven, or None."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


@contextmanager
def open_tab(program: str) -> Iterator["Tab"]:
    """A browser with one page, as wide as a phone, while the body runs."""
    # Imported here: Playwright is installed for `kit check` only.
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
            yield Tab(browser.new_page(viewport=PHONE, is_mobile=True, offline=True))
            browser.close()
        except sync_api.Error as error:
            raise NoBrowser(error.message.splitlines()[0]) from error


class Tab:
    """One page of the browser; `page` is Playwright's."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self._complaints: dict[str, None] = {}
        page.on("request", self._requested)
        page.on("pageerror", lambda error: self._complain(f"a script fails: {error.message}"))
        page.on("console", self._printed)

    def open(self, file: Path) -> list[str]:
        """Opens a page from the disk; returns the errors that a reader would notice."""
        self._complaints.clear()
        self.page.goto(file.as_uri())
        return [*self.evaluate(INSPECT), *self.complaints()]

    def complaints(self) -> list[str]:
        """Requests to other hosts, and errors, since the page was opened. Each once."""
        self.evaluate("0")  # events that came before are handled when this answers
        return list(self._complaints)

    def search(self, words: str) -> list[str]:
        """The addresses of the results of the open page's search, the best first."""
        return list(self.evaluate(SEARCH.replace("WORDS", json.dumps(words))))

    def evaluate(self, script: str) -> Any:  # noqa: ANN401 - any type of the script
        return self.page.evaluate(script)

    def _requested(self, request: "Request") -> None:
        if urlsplit(request.url).scheme not in LOCAL_SCHEMES:
            self._complain(f"asks another host for {request.url}")

    def _printed(self, said: "ConsoleMessage") -> None:
        if said.type == "error":
            self._complain(f"the browser says: {said.text}")

    def _complain(self, sentence: str) -> None:
        self._complaints[sentence] = None
