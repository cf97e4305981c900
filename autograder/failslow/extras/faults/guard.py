"""A guard undoes a command's effects on a replica, however the command ends.

It is a process of its own, in a session of its own: neither Ctrl-C nor SIGKILL of the command
reaches it. It waits for the end of a pipe that only the command holds. So there is one way to heal,
and each end of a command takes it.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from failslow.base.errors import CannotDo

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def guarded(undo: Callable[[], None]) -> Iterator[None]:
    """Runs `undo` in the guard's process when the body ends, or when this process does.

    Files that are open here stay open until the guard has ended: a lock of this process is free
    when `undo` is done. CannotDo when `undo` says so. Requires: this process has one thread.
    """
    end, held = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.close(held)
        _guard(end, undo)
    os.close(end)
    try:
        yield
    finally:
        os.close(held)
        _, status = os.waitpid(guard, 0)
    if status != 0:
        raise CannotDo("the fault could not be healed (above)")


def _guard(end: int, undo: Callable[[], None]) -> None:
    """Never returns."""
    code = 1
    try:
        os.setsid()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        os.read(end, 1)  # returns at the end of the file
        undo()
        code = 0
    except CannotDo as error:
        print(f"kit: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
