"""Runs something again after each save of a file.

It looks at the files' times. Some editors replace a file, and some containers' file systems tell no
changes of the machine around them: looking works with all.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import sleep

from failslow.base import console, process
from failslow.base.errors import CannotDo

LOOK_EVERY_S = 0.05
SAVED = (".cc", ".cpp", ".h", ".txt", ".yaml")
"""Editors' own files beside a source end otherwise."""
WAITS = "waits for a save; Ctrl-C ends"
AN_ERROR = re.compile(r"\n(?=.*error:)")


def watch(directories: Sequence[Path], run: Callable[[], None]) -> None:
    """Runs it at once, and after each save below the directories; returns at an interrupt. One
    more run follows a save during a run. What cannot be done is printed, with the first
    error alone."""
    try:
        while True:
            before = now = _times(directories)
            console.stdout().clear()
            try:
                run()
            except CannotDo as error:
                up_to_each = AN_ERROR.split(error.detail.rstrip())
                first = up_to_each[: 1 if "error:" in up_to_each[0] else 2]
                console.error(str(error), "\n".join(filter(None, [*first, f"({WAITS})"])))
            last = now
            while now == before or now != last:  # until there is a save, and it has ended
                sleep(LOOK_EVERY_S)
                last, now = now, _times(directories)
    except KeyboardInterrupt:
        process.stop_all()
        if sys.stdout.isatty():
            print()  # behind the terminal's ^C


def _times(directories: Sequence[Path]) -> dict[Path, tuple[int, int, int]]:
    """What a save changes, by the files' paths."""
    found = {}
    for place, _, names in chain.from_iterable(map(os.walk, directories)):
        for path in (Path(place, name) for name in names if name.endswith(SAVED)):
            with suppress(OSError):
                status = path.stat()
                found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found
