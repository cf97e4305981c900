"""Cores and memory of this machine for the kit. A container may use less than there is.

The limits of control groups are described in the kernel's admin guide: version 2 in
cgroup-v2.rst, version 1 in the scheduler's sched-bwc.rst and in cgroup-v1/memory.rst.
"""

import math
import os
import platform
from contextlib import suppress
from pathlib import Path

from failslow.base.errors import CannotDo

CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""A container sees its own limits here."""

PROCESSORS = Path("/proc/cpuinfo")

JOB_BYTES = 640 << 20
"""The most that a job needs: a compiler. The kit's batches need up to 620 MB with GCC 12."""


def is_linux() -> bool:
    return platform.system() == "Linux"


def check_linux(command: str) -> None:
    """CannotDo on a system that has the simulator alone."""
    if not is_linux():
        raise CannotDo(
            f"'kit {command}' runs on Linux alone: use the container (handbook's page Install)"
        )


def platform_name() -> str:
    """CMake's name for the directory of compiled given code: the processor, and elsewhere than on
    Linux the system, too."""
    processor = platform.machine()
    return processor if is_linux() else f"{platform.system()}-{processor}"


def jobs(groups: Path = CONTROL_GROUPS) -> int:
    """The number of jobs to do side by side: each is one busy child process. At least 1."""
    return max(1, min(cores(groups), memory_bytes(groups) // JOB_BYTES))


def cores(groups: Path = CONTROL_GROUPS) -> int:
    """Those that this process may use. A part of a core counts as one."""
    usable = len(os.sched_getaffinity(0)) if is_linux() else os.cpu_count() or 1
    return max(1, min([usable, *map(math.ceil, _quotas(groups))]))


def memory_bytes(groups: Path = CONTROL_GROUPS) -> int:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_number(groups / name) for name in ("memory.max", "memory/memory.limit_in_bytes")]
    return min([physical, *(limit for limit in limits if limit > 0)])


def processor(info: Path = PROCESSORS) -> str:
    """Its model; "" where the kernel tells none."""
    with suppress(OSError):
        for line in info.read_text().splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return model.strip()
    return ""


def _quotas(groups: Path) -> list[float]:
    """The limits of processor time, in cores."""
    with suppress(OSError, ValueError):
        quota, period = map(int, (groups / "cpu.max").read_text().split())
        return [quota / period]
    quota = _number(groups / "cpu" / "cpu.cfs_quota_us")
    period = _number(groups / "cpu" / "cpu.cfs_period_us")
    return [quota / period] if quota > 0 and period > 0 else []


def _number(file: Path) -> int:
    """0 if the file is missing, or says that there is no limit."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0
