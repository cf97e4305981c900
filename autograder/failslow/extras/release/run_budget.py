"""A budget of graded runs a day, kept by the platform's own times of submissions.

The budget is a bucket of N tokens, which gains one in each N-th part of a day. A submission takes
one and is graded; without one its student keeps the result of the last graded submission. The times
of all submissions are played again for each decision, so nothing is stored.

Source of the file's form: Gradescope's page "Submission Metadata", as of 2026-12-01.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from failslow.base import console
from failslow.grade import result_text, results

METADATA = "submission_metadata.json"
"""Beside the directory of the submission."""

DAY = timedelta(days=1)
ROUNDING = 1e-9
"""Tokens that a sum of fractions may lack."""

BLANK = {"score": 0.0, "output_format": "text", "tests": []}
KEPT = ("score", "output_format", "visibility", "stdout_visibility", "tests")
"""Fields of an earlier result that its student keeps. The platform may have added others."""


@dataclass(frozen=True)
class Budget:
    """The decision on one submission. `graded`: whether it is. `left`: tokens after it. `next_at`:
    when there is one more. `kept`: the result of the last graded submission, or {}."""

    runs_a_day: int
    graded: bool
    left: int
    next_at: datetime
    kept: Mapping[str, Any]

    def kept_result(self) -> dict[str, Any]:
        """The result of a submission that is not graded."""
        words = (
            "Not graded. Below is your last graded result. Your own runs have no limit: ./kit test."
        )
        kept = {name: self.kept[name] for name in KEPT if name in self.kept}
        return BLANK | kept | {"output": f"{self._line()} {words}"}

    def add_to(self, out: Path) -> None:
        """Begins the output of the result in the directory `out` with the line of the budget."""
        content = json.loads((out / results.FILE_NAME).read_text(encoding="utf-8"))
        content["output"] = f"{self._line()}\n{content['output']}"
        results.write(out, results.validated(result_text.fitting(content)))

    def _line(self) -> str:
        then = f"There is one more at {self.next_at:%Y-%m-%d %H:%M %z}."
        return f"Of {self.runs_a_day} graded runs a day, {self.left} are left. {then}"


def of(runs_a_day: int | None, submission: Path) -> Budget | None:
    """None without a budget, and where there is no platform. A file of another form than the
    platform's is told to staff, and costs no student a grade."""
    path = submission.absolute().parent / METADATA
    if runs_a_day is None or not path.is_file():
        return None
    try:
        return decide(runs_a_day, json.loads(path.read_text(encoding="utf-8")))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        console.note(f"The budget of graded runs is not kept: {path}: {error!r}")
        return None


def decide(runs_a_day: int, metadata: Mapping[str, Any]) -> Budget:
    """An earlier submission without a result costs nothing: the grader had an error. Later ones are
    there in a regrade, and do not count. KeyError, TypeError or ValueError for metadata of another
    form."""
    now = _time(metadata["created_at"])
    found = [(_time(e["submission_time"]), e["results"]) for e in metadata["previous_submissions"]]
    earlier = [each for each in found if each[1] and each[0] < now]
    times = [*sorted(earlier, key=lambda each: each[0]), (now, {})]
    level, at, graded = float(runs_a_day), times[0][0], False
    last: Mapping[str, Any] = {}
    for when, result in times:
        level = min(runs_a_day, level + (when - at) / DAY * runs_a_day)
        at, graded = when, level >= 1 - ROUNDING
        level -= graded
        last = result if graded else last
    left = int(level + ROUNDING)
    return Budget(runs_a_day, graded, left, at + DAY / runs_a_day * (left + 1 - level), last)


def _time(text: str) -> datetime:
    """ISO 8601 with an offset. Python 3.10 does not know Z."""
    when = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if when.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return when
