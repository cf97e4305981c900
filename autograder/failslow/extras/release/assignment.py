"""A Gradescope assignment, as its instructor made it: the file beside Gradescope's scripts."""

import json
from dataclasses import dataclass

from failslow.base import yaml_file
from failslow.base.kit import Kit

MINUTES = 10
"""Gradescope's own time limit, unless an instructor sets another one for the assignment."""

MINUTES_MIN = 2
MINUTES_MAX = 40
"""The longest that Gradescope allows."""

RESERVE_MINUTES = 1
"""For the start of the container, the last row, and the result."""


@dataclass(frozen=True)
class Assignment:
    """`lab`: the id of the only lab that is graded; None for all. `minutes`: of the platform for
    the whole grading, from MINUTES_MIN to MINUTES_MAX. `runs_a_day`: the budget of graded
    submissions (run_budget.py); None without one."""

    lab: str | None = None
    minutes: int = MINUTES
    runs_a_day: int | None = None

    @property
    def grading_minutes(self) -> int:
        """The platform keeps no points of a grading that it ends: this one ends earlier."""
        return self.minutes - RESERVE_MINUTES

    @property
    def file_text(self) -> str:
        content = {"lab": self.lab, "minutes": self.minutes}
        if self.runs_a_day is not None:
            content["runs_a_day"] = self.runs_a_day
        return json.dumps(content) + "\n"


def load(kit: Kit) -> Assignment:
    """The kit's own, or one of all labs if there is no file. CannotDo if the file is not valid."""
    if not kit.assignment.is_file():
        return Assignment()
    return Assignment(**yaml_file.load(kit.assignment, "assignment"))
