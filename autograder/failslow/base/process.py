"""Child processes: each is in a process group of its own, and none outlives the kit.

Output goes to files, not pipes. A grandchild that keeps a pipe open must not hang the grader,
and the output of a runaway process must not fill the grader's memory.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

OUTPUT_BYTES_MAX = 1 << 20
ASKED_TO_END_S = 5.0

_groups: set[int] = set()
_groups_lock = threading.Lock()
_stopping = threading.Event()


@dataclass(frozen=True)
class Completed:
    """The end of a child. `exit_code` is negative for a signal, as in `subprocess`."""

    exit_code: int
    output: str
    errors: str
    timed_out: bool

    def how_it_ended(self) -> str:
        """For messages: 'exit code 3', 'killed by SIGSEGV', 'no result in time'."""
        if self.timed_out:
            return "no result in time"
        if self.exit_code < 0:
            return f"killed by {signal_name(-self.exit_code)}"
        return f"exit code {self.exit_code}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def interrupts() -> list[signal.Signals]:
    """The signals that interrupt a command. Those that its caller told it to ignore do not: `nohup`
    ignores SIGHUP, and a script's shell ignores SIGINT for a job in the background."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def ends_with_this() -> dict[str, str]:
    """The environment of a program of tests that ends with this process, even if that is killed.
    For a child alone: it may not have a program between. See framework/hosts/sealed/parent.h."""
    return {"FAILSLOW_PARENT": str(os.getpid())}


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    merge_errors: bool = False,
) -> Completed:
    """Runs a program to its end and returns the last OUTPUT_BYTES_MAX of its output.

    At the end, or after `timeout_s`, the child's whole process group is killed.
    Raises OSError when the program cannot be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = _start(argv, cwd, env, output, output if merge_errors else errors)
        timed_out = _wait(child, timeout_s)
        return Completed(child.returncode, _tail(output), _tail(errors), timed_out)


def attached(argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> int:
    """Runs a program that has this command's terminal, and Ctrl-C, to itself. Returns its exit
    code, negative for a signal. Raises OSError when it cannot be started."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # the program starts with the default
    try:
        words = [str(word) for word in argv]
        return subprocess.run(words, env={**os.environ, **(env or {})}, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def background(argv: Sequence[str | Path]) -> Iterator[int]:
    """Runs a program while the body runs, then kills it. Yields its process id."""
    child = _start(argv, None, None, subprocess.DEVNULL, subprocess.DEVNULL)
    try:
        yield child.pid
    finally:
        _kill_group(child.pid)
        _reap(child)


def lines(
    argv: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str] | None = None
) -> Generator[str | int, None, None]:
    """Yields output and error lines as they come, then the exit code as the last item.

    For build tools. If the generator is closed early, the child gets SIGTERM before SIGKILL.
    """
    child = _start(argv, cwd, env, subprocess.PIPE, subprocess.STDOUT)
    assert child.stdout is not None
    try:
        with child.stdout:
            for raw in child.stdout:
                yield raw.decode(errors="replace").rstrip("\n")
        _wait(child, None)
        yield child.returncode
    finally:
        if child.returncode is None:
            _ask_to_end(child.pid)
            _kill_group(child.pid)
            _reap(child)


def stop_all() -> None:
    """Kills every running child and refuses new ones; for Ctrl-C, from any thread."""
    _stopping.set()
    with _groups_lock:
        for group in _groups:
            _kill_group(group)


def _start(
    argv: Sequence[str | Path],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    output: IO[bytes] | int,
    errors: IO[bytes] | int,
) -> subprocess.Popen[bytes]:
    with _groups_lock:
        if _stopping.is_set():
            raise KeyboardInterrupt
        child = subprocess.Popen(
            [str(word) for word in argv],
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        _groups.add(child.pid)
        return child


def _wait(child: subprocess.Popen[bytes], timeout_s: float | None) -> bool:
    """Waits for the end; returns whether the time ran out.

    The child is not reaped before its group is killed. Until then its id cannot be reused, so the
    signal cannot hit another process.
    """
    timed_out = threading.Event()

    def time_is_over() -> None:
        timed_out.set()
        _kill_group(child.pid)

    timer = threading.Timer(timeout_s, time_is_over) if timeout_s is not None else None
    try:
        if timer:
            timer.daemon = True
            timer.start()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    finally:
        if timer:
            timer.cancel()
            timer.join()
        _kill_group(child.pid)
        _reap(child)
    return timed_out.is_set()


def _ask_to_end(group: int) -> None:
    """Gives a build tool time to end its own children, which are in other process groups."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
    deadline = time.monotonic() + ASKED_TO_END_S
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, group, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None:
            return
        time.sleep(0.05)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _reap(child: subprocess.Popen[bytes]) -> None:
    # Under the lock, so that stop_all never sees a group whose leader is gone.
    with _groups_lock:
        child.wait()
        _groups.discard(child.pid)


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - OUTPUT_BYTES_MAX))
    return file.read().decode(errors="replace")
