"""Waiting for processes that run by themselves, and tell nobody when they are ready."""

import time
from collections.abc import Callable
from typing import TypeVar

POLL_S = 0.05

Answer = TypeVar("Answer")


def first(ask: Callable[[], Answer | None], seconds: float) -> Answer | None:
    """Asks again and again. The first answer that is not None; None if there is none in time."""
    deadline = time.monotonic() + seconds
    while (answer := ask()) is None and time.monotonic() <= deadline:
        time.sleep(POLL_S)
    return answer


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition holds in time."""
    return first(lambda: condition() or None, seconds) is not None
