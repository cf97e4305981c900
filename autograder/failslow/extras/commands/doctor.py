"""`kit doctor`: lists the installed packages with their versions, and the missing ones."""

import importlib.metadata
import platform
import re
import shutil
from pathlib import Path

from rich.table import Table

from failslow.base import console, machine, process
from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.lab.labs import load_labs

TOOLS_NEEDED = ("g++", "cmake", "ninja", "patch")
TOOLS_FOR_CHECK = ("clang++", "ctest", "setarch")
CMAKE_MIN = (3, 21)
FREE_GIB_MIN = 3.0


def run(kit: Kit) -> int:
    """0 when everything that students' commands and `grade` need is installed, 1 otherwise."""
    table = Table("item", "state", "remark", title="Failslow Labs", title_justify="left")
    problems = 0
    rows = [*_machine(kit), *_tools(kit), *_python(kit), *_builds(kit), *_walls(kit)]
    for item, state, remark in rows:
        bad = remark.startswith("!")
        problems += bad
        table.add_row(item, state, f"[red]{remark[1:]}[/red]" if bad else remark)
    console.stdout().print(table)
    console.stdout().print("nothing is left to install" if not problems else f"{problems} problems")
    return 1 if problems else 0


Row = tuple[str, str, str]
"""An item, its state, and a remark; a remark that starts with '!' is a problem."""


def _machine(kit: Kit) -> list[Row]:
    free = shutil.disk_usage(kit.root).free / (1 << 30)
    remark = f"!builds need about {FREE_GIB_MIN:g} GiB" if free < FREE_GIB_MIN else ""
    return [
        ("system", _distribution(), platform.machine()),
        ("cores, memory", _size(), ""),
        ("free disk", f"{free:.1f} GiB", remark),
    ]


def _size() -> str:
    return f"{machine.cores()}, {machine.memory_bytes() / (1 << 30):.1f} GiB"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _tools(kit: Kit) -> list[Row]:
    rows = []
    # A student's kit has no reference, and no `kit check`.
    for_check = TOOLS_FOR_CHECK if kit.reference.is_dir() else ()
    for tool in (*TOOLS_NEEDED, *for_check):
        version = _version(tool)
        missing = "!missing" if tool in TOOLS_NEEDED else "needed by ./kit check, installed then"
        rows.append((tool, version or "-", "" if version else missing))
    cmake = _version("cmake")
    if cmake and tuple(map(int, cmake.split(".")[:2])) < CMAKE_MIN:
        rows.append(("cmake", cmake, "!3.21 or later is needed"))
    return rows


def _version(tool: str) -> str | None:
    if shutil.which(tool) is None:
        return None
    done = process.run([tool, "--version"], timeout_s=20, merge_errors=True)
    found = re.search(r"\d+(\.\d+)+", done.output)
    return found[0] if found else "present"


def _python(kit: Kit) -> list[Row]:
    rows = [("python", platform.python_version(), "")]
    lines = (kit.root / "autograder" / "requirements.txt").read_text(encoding="utf-8")
    for name, pinned in re.findall(r"^([\w.-]+)==([^\s;]+)(?!.*python_version)", lines, re.M):
        try:
            have = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            rows.append((name, "-", "!missing; remove .venv and run ./kit again"))
            continue
        if have != pinned:
            rows.append((name, have, f"!pinned to {pinned}"))
    return rows


def _builds(kit: Kit) -> list[Row]:
    rows = [("labs", ", ".join(load_labs(kit).by_id), "")]
    for preset in ("release", "debug", "asan", "asan-gcc", "clang"):
        programs = _count(kit.preset(preset) / "bin")
        rows.append((f"build/{preset}", f"{programs} programs" if programs else "not built", ""))
    return rows


def _walls(kit: Kit) -> list[Row]:
    """One row, once the kit is built for grading."""
    if not kit.binary(sandbox.LAYERS).is_file():
        return []
    standing = sandbox.of_this_machine(kit)
    count = f"{sum(standing.values())} of {len(standing)}"
    return [("layers of the sandbox", count, sandbox.remark(standing))]


def _count(directory: Path) -> int:
    return sum(1 for _ in directory.iterdir()) if directory.is_dir() else 0
