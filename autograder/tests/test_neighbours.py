"""The processor time of others, beside the experiment's own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from failslow.extras.cluster import replica_processes
from failslow.extras.faults import neighbours
from failslow.extras.faults.neighbours import Neighbours
from fakes import eventually

BUSY = "while True: pass"
ENOUGH_MS = 200


@contextmanager
def busy() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", BUSY]) as child:
        try:
            yield child.pid
        finally:
            child.kill()


def await_use(pid: int) -> None:
    before = replica_processes.cpu_ms(pid) or 0
    eventually(lambda: (replica_processes.cpu_ms(pid) or 0) >= before + ENOUGH_MS)


class Machine:
    """A kernel and a clock with given answers."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = path
        self.clock_s = 100.0
        self.own_ms = {7: 0, 8: 0}
        monkeypatch.setattr(neighbours, "STAT", path)
        monkeypatch.setattr(neighbours.time, "monotonic", lambda: self.clock_s)
        monkeypatch.setattr(neighbours.time, "process_time", lambda: 0.0)
        monkeypatch.setattr(replica_processes, "cpu_ms", lambda pid: self.own_ms.get(pid))
        monkeypatch.setattr(neighbours.os, "sysconf", lambda _: 100)
        self.says(user=0)

    def says(self, user: int, idle: int = 0, guest: int = 0) -> None:
        self._path.write_text(f"cpu  {user} 10 20 {idle} {idle} 3 4 5 {guest} 0\ncpu0 1 1\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "stat", monkeypatch)


def test_what_the_experiment_did_not_use_was_others(machine: Machine) -> None:
    counted = Neighbours([7, 8])
    machine.clock_s += 2
    machine.own_ms = {7: 500, 8: 300}
    machine.says(user=120, idle=5000, guest=5000)
    assert counted.cores() == pytest.approx((1.2 - 0.8) / 2)


def test_a_process_that_has_ended_takes_nothing_back(machine: Machine) -> None:
    machine.own_ms = {7: 9000, 8: 0}
    counted = Neighbours([7, 8])
    machine.clock_s += 1
    machine.own_ms = {8: 0}
    machine.says(user=50)
    assert counted.cores() == pytest.approx(0.5)
    machine.says(user=0)
    assert counted.cores() == 0


def test_the_kernel_says_that_somebody_is_busy() -> None:
    with busy() as ours, busy() as theirs:
        counted = Neighbours([ours])
        await_use(theirs)
        assert counted.cores() > 0
        assert {ours, theirs} <= set(replica_processes.children())
