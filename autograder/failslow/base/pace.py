"""The pace of a command's steps: the seconds that one of a step's things takes on this machine.

That of the last run is kept in a file of the build. It is shown, and decides nothing.
"""

import json
from contextlib import suppress
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo

LEAST_S = 1.0
"""A shorter run found its work done: it says nothing about the pace."""
MINUTES_FROM_S = 100.0


class Pace:
    """`file`: the paces of all steps; None: only that of this run counts."""

    def __init__(self, file: Path | None, step: str) -> None:
        self._file = file
        self._step = step
        self._last_s = _load(file).get(step)

    def left_s(self, done: int, total: int, elapsed_s: float) -> float | None:
        """The time for the rest: by the last run at first, by this one as its things are done.
        None if neither says anything."""
        if done == 0:
            return None if self._last_s is None else self._last_s * total
        own_s = elapsed_s / done
        last_s = own_s if self._last_s is None else self._last_s
        share = done / total
        return (share * own_s + (1 - share) * last_s) * (total - done)

    def keep(self, total: int, elapsed_s: float) -> None:
        """At the end of a run. A file that cannot be written is no reason to fail."""
        if self._file is None or total == 0 or elapsed_s < LEAST_S:
            return
        paces = _load(self._file) | {self._step: round(elapsed_s / total, 3)}
        with suppress(CannotDo):
            atomic.write_text(self._file, json.dumps(paces, indent=1, sort_keys=True) + "\n")


def in_words(seconds: float | None) -> str:
    """'about 40 s left'; "" for None, and for an end that is near."""
    if seconds is None or seconds < LEAST_S:
        return ""
    if seconds < MINUTES_FROM_S:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left"


def _load(file: Path | None) -> dict[str, float]:
    """{} for a file that is missing, or that makes no sense."""
    with suppress(OSError, ValueError, AttributeError):
        if file is not None:
            found = json.loads(file.read_text(encoding="utf-8"))
            return {str(step): float(seconds) for step, seconds in found.items()}
    return {}
