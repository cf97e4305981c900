"""The kit's output: results on stdout, progress and errors on stderr.

The two are separate so that `--json` output is clean and a redirected run stays readable.
Without a terminal, one line per finished stage replaces a progress bar.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

WIDTH_WITHOUT_TERMINAL = 110

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
def progress(title: str) -> Iterator[Advance]:
    """A progress bar for one stage of work; prints one line when the stage succeeds. Nothing is
    shown of a stage inside another, or beside it: a terminal has room for one bar."""
    if not _shown.acquire(blocking=False):
        yield lambda done, total, now: None
        return
    try:
        with _bar(title) as advance:
            yield advance
    finally:
        _shown.release()


@contextmanager
def _bar(title: str) -> Iterator[Advance]:
    console = stderr()
    started = time.monotonic()
    total_seen = 0
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}", markup=False),
        console=console,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what is printed stands above the bar
        disable=not console.is_terminal,
    )
    task = bar.add_task(title, total=None, now="")

    def advance(done: int, total: int, now: str) -> None:
        nonlocal total_seen
        total_seen = total
        bar.update(task, completed=done, total=total, now=now[-60:])

    with bar:
        yield advance
    count = f" ({total_seen})" if total_seen else ""
    note(f"{title}{count}: {time.monotonic() - started:.1f} s")
