"""Builds, the C++ tests under ctest, and the tests under pytest."""

import re
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from failslow.base import console, machine, process
from failslow.build import cmake
from failslow.extras.check import junit
from failslow.extras.check.step import Context, Counts
from failslow.extras.site import browser

NO_CONTAINERS = "no Docker engine with compose, or not root"
"""The reason for which tests of containers are not run."""

NO_DEV_CONTAINER = "no Docker engine, no npm, or not root"
"""The reason for which no image of students' containers is made and opened."""

NO_ARM64 = (
    "not root, not Debian, or one of these is missing:"
    " g++-aarch64-linux-gnu, qemu-user-static, mmdebstrap"
)
"""The reason for which no program for ARM64 is built and emulated."""

CTEST_LINE = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S+)")


def build(preset: str, *targets: str) -> Callable[[Context], Counts]:
    """A step that builds these targets of a preset, or all; warnings are errors there."""

    def run(context: Context) -> Counts:
        cmake.build(context.kit, preset, targets)
        return Counts(passed=1)

    return run


def ctest(
    preset: str, label: str | None = None, but: str | None = None
) -> Callable[[Context], Counts]:
    """A step that runs the C++ tests of a preset: all, or those with a label; `but` those with
    another one."""

    def run(context: Context) -> Counts:
        report = context.scratch / f"ctest-{preset}.xml"
        argv = ["ctest", "--test-dir", str(context.kit.preset(preset)), "--output-on-failure"]
        argv += ["--no-tests=error", f"-j{machine.jobs()}", "--output-junit", str(report)]
        argv += ["--label-regex", f"^{re.escape(label)}$"] if label else []
        argv += ["--label-exclude", f"^{re.escape(but)}$"] if but else []
        lines = process.lines(argv, cwd=context.kit.root)
        with console.progress(f"Testing ({preset})") as advance, closing(lines):
            for item in lines:
                if isinstance(item, str) and (line := CTEST_LINE.match(item)):
                    advance(int(line[1]), int(line[2]), line[3])
        return junit.read(report)

    return run


def quick_python_tests(context: Context) -> Counts:
    """Without those that start clusters, browsers or builds: see conftest.py."""
    return python_tests(context, "-m", "not slow")


def python_tests(context: Context, *options: str) -> Counts:
    # A process that has done its tests steals some of another's.
    side_by_side = (f"--numprocesses={machine.jobs()}", "--dist=worksteal")
    of_labs = sorted(context.kit.labs.glob("*/kit/tests"))
    return _pytest(context, "tests", *of_labs, *side_by_side, *options)


def system_tests(context: Context) -> Counts:
    """Tests of the built kit, one after the other: they measure time, and use ports."""
    return _pytest(context, "system_tests", "-m", "not full")


def long_system_tests(context: Context) -> Counts:
    return _pytest(context, "system_tests", "-m", "full")


def _pytest(context: Context, directory: str, *options: str | Path) -> Counts:
    report = context.scratch / "pytest.xml"
    argv: list[str | Path] = [sys.executable, "-I", "-m", "pytest", "-c", "pyproject.toml"]
    argv += [directory, *options, f"--junitxml={report}"]
    with console.progress(f"Testing ({directory})"):
        done = process.run(argv, cwd=context.kit.root / "autograder", merge_errors=True)
    counts = junit.read(report, excuses=[browser.NONE, NO_CONTAINERS, NO_DEV_CONTAINER, NO_ARM64])
    if done.exit_code != 0 and not counts.failed:
        counts.problems.append(f"pytest ended with exit code {done.exit_code}\n{done.output}")
    return counts
