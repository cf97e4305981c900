"""Waiting for processes that do not report when they are ready: polling with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_S = 0.05

Answer = TypeVar("Answer")


def first(ask: Callable[[], Answer | None], seconds: float) -> Answer | None:
    """Calls `ask` repeatedly. Its first answer that is not None, or None after `seconds`."""
    deadline = time.monotonic() + seconds
    while (answer := ask()) is None and time.monotonic() <= deadline:
        time.sleep(POLL_S)
    return answer


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Returns whether the condition holds within `seconds`."""
    return first(lambda: condition() or None, seconds) is not None
