"""Builds, the C++ tests under ctest, and the Python tests."""

import re
import sys
from collections.abc import Callable
from contextlib import closing

from failslow import cmake, console, machine, process
from failslow.check import junit
from failslow.check.step import Context, Counts
from failslow.site import browser

CTEST_LINE = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S+)")


def build(preset: str, *targets: str) -> Callable[[Context], Counts]:
    """A step that builds these targets of a preset, or all; warnings are errors there."""

    def run(context: Context) -> Counts:
        cmake.build(context.kit, preset, targets)
        return Counts(passed=1)

    return run


def ctest(preset: str, label: str | None = None) -> Callable[[Context], Counts]:
    """A step that runs the C++ tests of a preset: all, or those with a label."""

    def run(context: Context) -> Counts:
        report = context.scratch / f"ctest-{preset}.xml"
        argv = ["ctest", "--test-dir", str(context.kit.preset(preset)), "--output-on-failure"]
        argv += ["--no-tests=error", f"-j{machine.jobs()}", "--output-junit", str(report)]
        argv += ["--label-regex", f"^{re.escape(label)}$"] if label else []
        lines = process.lines(argv, cwd=context.kit.root)
        with console.progress(f"Testing ({preset})") as advance, closing(lines):
            for item in lines:
                if isinstance(item, str) and (line := CTEST_LINE.match(item)):
                    advance(int(line[1]), int(line[2]), line[3])
        return junit.read(report)

    return run


def python_tests(context: Context) -> Counts:
    report = context.scratch / "pytest.xml"
    # A process that has done its tests steals some of another's.
    side_by_side = [f"--numprocesses={machine.jobs()}", "--dist=worksteal"]
    argv = [sys.executable, "-I", "-m", "pytest", *side_by_side, f"--junitxml={report}"]
    with console.progress("Testing (Python)"):
        done = process.run(argv, cwd=context.kit.root / "autograder", merge_errors=True)
    counts = junit.read(report, excuses=[browser.NONE])
    if done.exit_code != 0 and not counts.failed:
        counts.problems.append(f"pytest ended with exit code {done.exit_code}\n{done.output}")
    return counts
