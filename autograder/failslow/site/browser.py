"""Opens the built pages in a real browser and says what a reader would notice.

Speaks the Chrome DevTools Protocol over two named pipes, which needs no library and no port: a
message is JSON and ends with a zero byte.
"""

import json
import os
import select
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from failslow import process

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE = "no browser"
"""What is said where there is none."""
ANSWER_S = 30.0
READ_BYTES = 1 << 20

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}

# Our own pages from our own disk: the sandbox adds nothing, and containers often forbid it.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)

# Once the diagrams are drawn, or after a time in which any would be: what is wrong with the page.
INSPECT = """
(async () => {
  const drawn = () => !document.querySelector("pre.mermaid");
  for (let i = 0; i < 100 && !drawn(); ++i) await new Promise(r => setTimeout(r, 50));
  const problems = [];
  if (!drawn()) problems.push("a diagram is not drawn");
  const width = document.documentElement.clientWidth;
  const whole = document.documentElement.scrollWidth;
  if (whole > width) {
    const wide = [...document.querySelectorAll("article *")].filter(
      e => e.getBoundingClientRect().right > width + 1 && !e.closest("pre, table, .scroll"));
    const first = wide.length ? `: <${wide[0].tagName}> ${wide[0].textContent.slice(0, 40)}` : "";
    problems.push(`is ${whole} pixels wide on a phone of ${width}${first}`);
  }
  return problems;
})()
"""

# Types a word into the search box, as a reader does, and counts what it finds.
SEARCH = """
(async () => {
  const box = document.querySelector('[data-md-component="search-query"]');
  if (!box) return 0;
  document.querySelector('[data-md-toggle="search"]').click();
  box.focus();
  box.value = %s;
  box.dispatchEvent(new Event("focus"));
  box.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
  const found = () => document.querySelectorAll(".md-search-result__item").length;
  for (let i = 0; i < 100 && !found(); ++i) await new Promise(r => setTimeout(r, 50));
  return found();
})()
"""


class NoBrowser(Exception):
    """None is installed, or it does not answer."""


def find() -> str | None:
    """The path of a browser that can be driven, or None."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


@contextmanager
def open_tab(program: str) -> Iterator["Tab"]:
    """A browser with one page, as wide as a phone, for as long as the body runs."""
    with tempfile.TemporaryDirectory(prefix="failslow-browser-") as scratch:
        to, from_ = (Path(scratch) / name for name in ("to", "from"))
        os.mkfifo(to)
        os.mkfifo(from_)
        # Opened for both directions, so that neither side waits for the other to open it.
        pipes = os.open(to, os.O_RDWR), os.open(from_, os.O_RDONLY | os.O_NONBLOCK)
        command = 'exec "$@" 3<"$0/to" 4>"$0/from"'
        argv = ["bash", "-c", command, scratch, program, *FLAGS, f"--user-data-dir={scratch}/user"]
        try:
            with process.background([*argv, "about:blank"]):
                yield Tab(*pipes)
        finally:
            for pipe in pipes:
                os.close(pipe)


class Tab:
    """One page of the browser. NoBrowser from any method when it does not answer in time."""

    def __init__(self, to: int, from_: int) -> None:
        self._to = to
        self._from = from_
        self._rest = b""
        self._last_id = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", **PHONE)

    def open(self, page: Path) -> list[str]:
        """Opens a page from the disk; returns what a reader would notice."""
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        self._wait_for("Page.loadEventFired")
        problems = list(self.evaluate(INSPECT))
        return problems + complaints(self._events)

    def complaints(self) -> list[str]:
        """About the page that was opened last, up to now."""
        self.evaluate("0")  # what was logged before is here by the answer
        return complaints(self._events)

    def search(self, words: str) -> int:
        """How much the open page's search finds."""
        return int(self.evaluate(SEARCH % json.dumps(words)))

    def evaluate(self, script: str) -> Any:  # noqa: ANN401 - whatever the script returns
        done = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise RuntimeError(f"our own script fails: {done['exceptionDetails']}")
        return done["result"].get("value")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._last_id += 1
        message: dict[str, object] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") != self._last_id:
                self._events.append(answer)
            elif "error" in answer:
                raise NoBrowser(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def _wait_for(self, event: str) -> None:
        while not any(seen.get("method") == event for seen in self._events):
            self._events.append(self._read())

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_S
        while b"\0" not in self._rest:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._from], [], [], left)[0]:
                raise NoBrowser(f"the browser did not answer within {ANSWER_S:g} s")
            got = os.read(self._from, READ_BYTES)
            if not got:
                raise NoBrowser("the browser has ended")
            self._rest += got
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


def complaints(events: Sequence[dict[str, Any]]) -> list[str]:
    """Requests to other hosts, and errors that the browser logged, as sentences."""
    found = []
    for event in events:
        given = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            url = given["request"]["url"]
            if urlsplit(url).scheme not in ("file", "data", "blob", "about"):
                found.append(f"asks another host for {url}")
        elif event.get("method") == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            text = details.get("exception", {}).get("description", details.get("text", ""))
            found.append(f"a script fails: {text.splitlines()[0] if text else 'unknown'}")
        elif event.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
            found.append(f"the browser says: {given['entry']['text']}")
    return list(dict.fromkeys(found))
