"""The kit's output: results on stdout, progress and errors on stderr.

The two are separate so that `--json` output is clean and a redirected run stays readable.
Without a terminal, one line per finished stage replaces a progress bar, and a long stage has a line
now and then.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from failslow.base import printable
from failslow.base.pace import Pace, in_words

WIDTH_WITHOUT_TERMINAL = 110
LINE_EVERY_S = 20.0
"""Between the lines of a long stage without a terminal."""

PASSED = "[green]passed[/green]"
FAILED = "[red]FAILED[/red]"
SKIPPED = "[yellow]skipped[/yellow]"

Advance = Callable[[int, int, str], None]
"""Called with (done, total, the current job)."""


_shown = threading.Lock()
"""Held by the stage that is shown."""


def stdout() -> Console:
    return _console(stderr=False)


def stderr() -> Console:
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def error(message: str, detail: str = "") -> None:
    """Prints a one-line reason, then any detail below it."""
    print(f"kit: {printable.line(message)}", file=sys.stderr)
    if detail.strip():
        print(printable.text(detail.rstrip()), file=sys.stderr)


def note(message: str) -> None:
    print(printable.text(message), file=sys.stderr, flush=True)


@contextmanager
def progress(
    title: str, paces: Path | None = None, even_if_empty: bool = True
) -> Iterator[Advance]:
    """A progress bar for one stage of work; prints one line when the stage succeeds. Nothing is
    shown of a stage inside another, or beside it: a terminal has room for one bar.

    `paces`: the file of expected times (pace.py). `even_if_empty`: also a stage without
    anything to do has its line.
    """
    if not _shown.acquire(blocking=False):
        yield lambda done, total, now: None
        return
    try:
        stage = _Stage(title, Pace(paces, title))
        with stage.bar:
            yield stage.advance
        if even_if_empty or stage.total:
            stage.end()
    finally:
        _shown.release()


class _Stage:
    def __init__(self, title: str, pace: Pace) -> None:
        self._title = title
        self._pace = pace
        self._console = stderr()
        self._started = self._said = time.monotonic()
        self.total = 0
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[now]}", markup=False),
            console=self._console,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # what is printed stands above the bar
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task(title, total=None, left="", now="")

    def advance(self, done: int, total: int, now: str) -> None:
        self.total = total
        at = time.monotonic()
        left_s = self._pace.left_s(done, total, at - self._started) if total else None
        left = in_words(left_s)
        self.bar.update(self._task, completed=done, total=total, left=left, now=now[-60:])
        if not self._console.is_terminal and left and at - self._said >= LINE_EVERY_S:
            self._said = at
            note(f"{self._title}: {done} of {total}, {left}")

    def end(self) -> None:
        elapsed_s = time.monotonic() - self._started
        self._pace.keep(self.total, elapsed_s)
        count = f" ({self.total})" if self.total else ""
        note(f"{self._title}{count}: {elapsed_s:.1f} s")
