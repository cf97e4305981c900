"""The number of jobs that fit a machine, or a container that may use a part of it."""

import os
import platform
from pathlib import Path

import pytest

from failslow.base import machine
from running import Expect

GIB = 1 << 30


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 8 cores and 16 GiB."""
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 * GIB // 4096}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(os, "sysconf", lambda name: sizes[name])


def write(groups: Path, **files: str) -> Path:
    for name, content in files.items():
        path = groups / name.replace("__", "/").replace("_MAX", ".max")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return groups


@pytest.mark.parametrize(
    ("files", "jobs"),
    [
        ({}, 8),
        ({"cpu_MAX": "max 100000\n", "memory_MAX": "max\n"}, 8),
        ({"memory_MAX": str(3 * GIB // 4)}, 1),
        ({"memory_MAX": str(2 * GIB)}, 3),
        ({"cpu_MAX": "1000 100000", "memory_MAX": "1000000"}, 1),
        ({"cpu_MAX": "much\n", "memory_MAX": "more\n"}, 8),
    ],
)
def test_cores_and_memory_limit_the_jobs(tmp_path: Path, files: dict[str, str], jobs: int) -> None:
    assert machine.jobs(write(tmp_path, **files)) == jobs


@pytest.mark.parametrize(
    ("quota", "cores"), [("50000 100000", 1), ("100000 100000", 1), ("250000 100000", 3)]
)
def test_a_quota_of_version_2(tmp_path: Path, quota: str, cores: int) -> None:
    assert machine.cores(write(tmp_path, cpu_MAX=f"{quota}\n")) == cores


@pytest.mark.parametrize(("quota", "cores"), [("50000", 1), ("200000", 2), ("-1", 8)])
def test_a_quota_of_version_1(tmp_path: Path, quota: str, cores: int) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert machine.cores(tmp_path) == cores


def test_a_memory_limit_of_version_1(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    limit = tmp_path / "memory" / "memory.limit_in_bytes"
    limit.write_text(f"{GIB}\n")
    assert machine.memory_bytes(tmp_path) == GIB
    limit.write_text("9223372036854771712\n")
    assert machine.memory_bytes(tmp_path) == 16 * GIB


def test_the_processors_model_if_the_kernel_tells_it(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    assert machine.processor(info) == ""
    info.write_text("processor\t: 0\nmodel\t\t: 17\nmodel name\t: A 7: fast\n\nmodel name\t: B\n")
    assert machine.processor(info) == "A 7: fast"
    info.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert machine.processor(info) == ""


@pytest.fixture
def macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """That system's names, without the calls that it lacks."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)


def test_a_system_that_does_not_tell_the_usable_cores(macos: None, tmp_path: Path) -> None:
    assert machine.jobs(tmp_path) == 6
    assert machine.platform_name() == "Darwin-arm64"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("grade", "mine"), "grade"),
        (("cluster", "status"), "cluster"),
        (("test", "lab1", "--slow"), "test --slow"),
    ],
)
def test_what_needs_linux_says_so(
    macos: None, expect: Expect, words: tuple[str, ...], command: str
) -> None:
    assert expect(2, *words).reason == (
        f"kit: 'kit {command}' runs on Linux alone: use the container (handbook's page Install)"
    )


@pytest.mark.parametrize("command", ["test", "replay", "explore"])
def test_the_simulator_runs_elsewhere(macos: None, expect: Expect, command: str) -> None:
    test = ["Suite.Test"] if command == "replay" else []
    assert "lab9" in expect(2, command, "lab9", *test).reason
