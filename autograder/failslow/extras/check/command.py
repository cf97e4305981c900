"""`kit check`: runs the steps in order and ends with a plain line of counts."""

import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.check import (
    assertion_loops,
    attacks,
    diagnosis,
    given,
    grades,
    matrix,
    mutants,
    mutants_report,
    real_processes,
    replays,
    seeds,
    site,
    style,
    suites,
    sweep,
    tidy,
    unneeded,
)
from failslow.extras.check.step import Context, Counts, Step

RELEASE = "release build"
ASAN = "sanitizer build"
CLANG = "clang build"

STYLE = (
    Step("Python format", style.python_format),
    Step("Python lint", style.python_lint),
    Step("Python types", style.python_types),
    Step("Python imports: rooms", style.python_imports),
    Step("mutants: none is unneeded", unneeded.run),
    Step("C++ format", style.cpp_format),
    Step("labs: no function of another lab's solution", given.answers),
    Step("labs: classes of 20 fields at most", given.fields),
    Step("tests: no assertions in a loop over nothing", assertion_loops.run),
)

# For each commit, once the kit is built.
QUICK_STEPS = (
    *STYLE,
    Step("Python tests without clusters, browsers and builds", suites.quick_python_tests),
    Step(RELEASE, suites.build("release", cmake.CHECKS)),
    Step("C++ tests of the runtime", suites.ctest("release", cmake.RUNTIME), needs=RELEASE),
    Step("reference: one seed of each test", seeds.quick, needs=RELEASE),
)

STEPS = (
    *STYLE,
    Step("Python tests", suites.python_tests),
    Step("handbook", site.handbook),
    Step(RELEASE, suites.build("release")),
    # The determinism matrix runs the graded suites.
    Step("C++ tests", suites.ctest("release", but=cmake.GRADED), needs=RELEASE),
    Step("reference: full marks, also when busy", grades.reference, needs=RELEASE),
    Step("reference: other seeds", seeds.run, needs=RELEASE),
    Step("starter: about zero, also when busy", grades.starter, needs=RELEASE),
    Step("alternatives: full marks", grades.alternatives, needs=RELEASE),
    Step("mutants: each caught", mutants.run, needs=RELEASE),
    Step("replays: each shows the faulty step", replays.run, needs=RELEASE),
    Step("diagnosis: each variant shows its own fault", diagnosis.run, needs=RELEASE),
    Step("attacks: none gains", attacks.run, needs=RELEASE),
    Step("system tests", suites.system_tests, needs=RELEASE),
    Step("the store under faults: linearizable", real_processes.store_rounds, needs=RELEASE),
    Step("determinism matrix", matrix.run, needs=RELEASE),
)

# Long steps whose results change rarely: only with --full.
FULL_STEPS = (
    Step("C++ lint", tidy.run, needs=RELEASE),
    Step(CLANG, suites.build("clang")),
    Step("C++ tests, by clang", suites.ctest("clang"), needs=CLANG),
    Step(ASAN, suites.build("asan", cmake.CHECKS)),
    Step("C++ tests, sanitized", suites.ctest("asan"), needs=ASAN),
    Step("alternatives: other seeds", seeds.alternatives, needs=RELEASE),
    Step("50 courses: full measured marks", grades.with_other_keys, needs=RELEASE),
    Step("system tests that take long", suites.long_system_tests, needs=RELEASE),
    Step("reference: linearizable with 2,000 seeds", seeds.many, needs=RELEASE),
    Step("reference: every slow fault", sweep.reference, needs=RELEASE),
    Step("handbook: the results of its commands", sweep.committed, needs=RELEASE),
    Step("handbook: cells of its sweep", sweep.simulated_cells, needs=RELEASE),
    Step("handbook: the documents' figures", sweep.reproduced_results, needs=RELEASE),
    Step("handbook: benchmarks of labs", sweep.benchmarks_of_labs, needs=RELEASE),
)


@dataclass(frozen=True)
class Options:
    """`mutants` and `only_attacks`: these alone."""

    full: bool = False
    quick: bool = False
    mutants: bool = False
    only_attacks: bool = False
    as_json: bool = False

    def check(self) -> None:
        """CannotDo for options that do not go together."""
        if self.full + self.quick + self.mutants + self.only_attacks > 1:
            raise CannotDo("--full, --quick, --mutants and --attacks exclude each other")
        if self.as_json and not self.mutants:
            raise CannotDo("--json goes with --mutants: ./kit check --mutants --json")

    @property
    def steps(self) -> Sequence[Step]:
        if self.quick:
            return QUICK_STEPS
        return STEPS + FULL_STEPS if self.full else STEPS


def run(kit: Kit, options: Options) -> int:
    """0 when every check of every step passed, 1 otherwise."""
    options.check()
    with tempfile.TemporaryDirectory(prefix="failslow-check-") as scratch:
        context = Context(kit, options.full, Path(scratch))
        if options.mutants:
            return mutants_report.run(context, options.as_json)
        if options.only_attacks:
            return attacks.report(context)
        total = run_steps(options.steps, context)
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0


def run_steps(steps: Sequence[Step], context: Context) -> Counts:
    """Runs all steps, even after a failure: one run should report all problems."""
    total = Counts()
    failed: set[str] = set()
    for number, step in enumerate(steps, start=1):
        started = time.monotonic()
        counts = _run_step(step, context, failed)
        if counts.failed:
            failed.add(step.title)
        heading = f"[{number:>2}/{len(steps)}] {step.title}"
        _print_step(heading, counts, time.monotonic() - started)
        total.add(counts)
    return total


def _run_step(step: Step, context: Context, failed: set[str]) -> Counts:
    if step.needs in failed:
        return Counts(problems=[f"not run: the {step.needs} failed"])
    try:
        counts = step.run(context)
    except CannotDo as error:
        return Counts(problems=[f"{error}\n{error.detail}".rstrip()])
    except Exception:
        # An error in one step must not hide the results of the others.
        return Counts(problems=[f"the step itself failed\n{traceback.format_exc()}"])
    if counts.passed + counts.failed == 0 and not counts.skipped:
        return Counts(problems=["the step checked nothing"])
    return counts


def _print_step(heading: str, counts: Counts, seconds: float) -> None:
    dots = "." * max(3, 60 - len(heading))
    failed = f", {counts.failed} FAILED" if counts.failed else ""
    print(f"{heading} {dots} {counts.passed} passed{failed} ({seconds:.0f} s)")
    if counts.skipped:
        print(f"        skipped: {counts.skipped}")
    for remark in counts.remarks:
        print(f"        {remark}")
    for problem in counts.problems:
        print("      - " + problem.replace("\n", "\n        "))
    sys.stdout.flush()
