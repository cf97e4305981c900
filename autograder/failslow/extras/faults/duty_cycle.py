"""A share of the processor for a replica: it is stopped for the rest of each period.

SIGSTOP and SIGCONT need no privilege. The replica's share is kept over time: a period in which the
replica ran for too long, because this process was late itself, makes the next ones shorter.
"""

import select
import signal
import time
from collections.abc import Callable

LATE_S = 1.0
"""Periods that were missed for longer than this are forgotten: the machine slept, perhaps."""


def keep(
    send: Callable[[signal.Signals], None],
    ended: select.poll,
    percent: int,
    period_s: float,
    until_s: float,
    look: Callable[[], None] = lambda: None,
) -> bool:
    """Runs the cycle until the time on time.monotonic(). Returns whether the replica still lives.

    `send` sends it a signal, `ended` tells of its end. The replica may be stopped afterwards: the
    caller lets it go on. `look` is called at the end of each period, when it is stopped.
    """
    slice_s = period_s * percent / 100
    kept_s = 0.0
    begins = time.monotonic()
    send(signal.SIGSTOP)
    while begins < until_s:
        kept_s += slice_s
        if kept_s > 0:
            kept_s -= _runs(send, kept_s)
        begins = max(begins + period_s, time.monotonic() - LATE_S)
        time.sleep(max(0.0, min(begins, until_s) - time.monotonic()))
        look()
        if ended.poll(0):
            return False
    return True


def _runs(send: Callable[[signal.Signals], None], seconds: float) -> float:
    """Lets the replica run for about this time. Returns the time that it ran."""
    began = time.monotonic()
    send(signal.SIGCONT)
    time.sleep(seconds)
    send(signal.SIGSTOP)
    return time.monotonic() - began
