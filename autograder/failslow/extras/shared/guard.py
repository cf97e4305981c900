"""A process beside a command, which undoes the command's effects however that ends.

It is in a session of its own: neither Ctrl-C nor SIGKILL of the command reaches it. It learns of
the end by a pipe that only the command holds. So there is one way to heal, and each end of a
command takes it.
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

    def guard(end: int) -> None:
        os.read(end, 1)  # returns at the end of the file
        undo()

    with beside(guard, "the fault could not be healed (above)"):
        yield


@contextmanager
def beside(run: Callable[[int], None], failure: str) -> Iterator[int]:
    """A process that runs `run` with the end of a pipe to read from. Gives the end to write to. It
    is closed when the body ends, or when this process does; then `run` returns soon, and is waited
    for. CannotDo with `failure` when it fails. Requires: this process has one thread."""
    end, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        _child(run, end)
    os.close(end)
    try:
        yield held
    finally:
        os.close(held)
        _, status = os.waitpid(child, 0)
    if status != 0:
        raise CannotDo(failure)


def _child(run: Callable[[int], None], end: int) -> None:
    """Never returns."""
    code = 1
    try:
        os.setsid()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        run(end)
        code = 0
    except CannotDo as error:
        print(f"kit: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
