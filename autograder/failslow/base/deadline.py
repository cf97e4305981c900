"""The end of a grading: nothing begins after it, and running work is ended.

A platform ends a grading that takes too long, and keeps none of its points.
"""

import math
import time

from failslow.base.errors import CouldNotGrade

NONE = math.inf
"""A deadline is a time of time.monotonic(). This one never comes."""

OUT_OF_TIME = "the grading ran out of time"
INTERRUPTED = "the grading was interrupted"


def after(seconds: float) -> float:
    return time.monotonic() + seconds


def left_s(deadline: float, most_s: float) -> float:
    """At most `most_s`. CouldNotGrade when the deadline is over."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise CouldNotGrade(OUT_OF_TIME)
    return min(left, most_s)
