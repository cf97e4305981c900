"""Runs something again after each save of a file.

It looks at the files' times. Some editors replace a file, and some containers' file systems tell no
changes of the machine around them: looking works with all.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

from failslow.base import console, process
from failslow.base.errors import CannotDo

LOOK_EVERY_S = 0.05
SAVED = (".cc", ".cpp", ".h", ".txt", ".yaml")
"""Editors' own files beside a source end otherwise."""
WAITS = "waits for a save; Ctrl-C ends"
AN_ERROR = re.compile(r"^.*(?:error:|undefined reference|multiple definition)", re.M)
ERROR_LINES_MAX = 12

Times = dict[Path, tuple[int, int, int]]


def watch(directories: Sequence[Path], run: Callable[[], None]) -> None:
    """Runs it at once, and after each save below the directories; returns at an interrupt. One
    more run follows a save during a run. What cannot be done is printed, up to a second error of
    the compiler."""
    try:
        while True:
            before = _times(directories)
            console.stdout().clear()
            try:
                run()
            except CannotDo as error:
                console.error(str(error), _up_to_second(error.detail))
                console.note(f"({WAITS})")
            _wait(directories, before)
    except KeyboardInterrupt:
        process.stop_all()
        if sys.stdout.isatty():
            print()  # behind the terminal's ^C


def _wait(directories: Sequence[Path], before: Times) -> None:
    """Returns when files differ from `before`, and no save is under way."""
    last = before
    while True:
        sleep(LOOK_EVERY_S)
        now = _times(directories)
        if now == last != before:
            return
        last = now


def _times(directories: Sequence[Path]) -> Times:
    """What a save changes, by the files' paths."""
    found: Times = {}
    for directory in directories:
        for place, _, names in os.walk(directory):
            for path in (Path(place, name) for name in names if name.endswith(SAVED)):
                with suppress(OSError):
                    status = path.stat()
                    found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _up_to_second(detail: str) -> str:
    errors = [found.start() for found in AN_ERROR.finditer(detail)]
    first = detail[: errors[1]] if len(errors) > 1 else detail
    return "\n".join(first.splitlines()[:ERROR_LINES_MAX])
