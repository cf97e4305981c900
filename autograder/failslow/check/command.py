"""`kit check`: runs the steps in order and ends with a plain line of counts."""

import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from failslow import cmake
from failslow.check import (
    attacks,
    containers,
    debugger,
    diagnosis,
    grades,
    killed_batch,
    matrix,
    mutants,
    mutants_report,
    real_processes,
    redis_clients,
    repeated,
    replays,
    seeds,
    site,
    style,
    suites,
    sweep,
    wrong_input,
)
from failslow.check.step import Context, Counts, Step
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.mutation import command as mutation

FIRST_SEED = 1

RELEASE = "release build"
ASAN = "sanitizer build"
ALL_ASAN = "sanitizer build of all"
CLANG = "clang build"

# --8<-- [start:steps]
STEPS = (
    Step("Python format", style.python_format),
    Step("Python lint", style.python_lint),
    Step("C++ format", style.cpp_format),
    Step("Python tests", suites.python_tests),
    Step("handbook", site.handbook),
    Step(RELEASE, suites.build("release")),
    Step("C++ tests", suites.ctest("release"), needs=RELEASE),
    Step("reference: full marks, twice the same", grades.reference, needs=RELEASE),
    Step("reference: other seeds", seeds.run, needs=RELEASE),
    Step("the same grade again, also when busy", repeated.short, needs=RELEASE),
    Step("starter: about zero", grades.starter, needs=RELEASE),
    Step("alternatives: full marks", grades.alternatives, needs=RELEASE),
    Step("mutants: each caught", mutants.run, needs=RELEASE),
    Step("replays: each shows the guilty step", replays.run, needs=RELEASE),
    Step("diagnosis: each variant shows its own fault", diagnosis.run, needs=RELEASE),
    Step("mutation: equivalents exist", mutation.recorded_equivalents, needs=RELEASE),
    Step("attacks: none gains", attacks.run, needs=RELEASE),
    Step("wrong input", wrong_input.run, needs=RELEASE),
    Step("a cluster of processes", real_processes.cluster, needs=RELEASE),
    Step("an experiment with a slow follower", real_processes.experiment, needs=RELEASE),
    Step("the store under faults: linearizable", real_processes.store_rounds, needs=RELEASE),
    Step("the Redis port beside Redis", redis_clients.beside_redis, needs=RELEASE),
    Step("Redis clients: redis-py, redis-cli", redis_clients.common, needs=RELEASE),
    Step("determinism matrix", matrix.run, needs=RELEASE),
    # The matrix has run the suites of a lab, sanitized.
    Step(ASAN, suites.build("asan", cmake.RUNTIME)),
    Step("C++ tests of the runtime, sanitized", suites.ctest("asan", cmake.RUNTIME), needs=ASAN),
)
# --8<-- [end:steps]

# Long steps whose results change rarely: only with --full.
# --8<-- [start:full]
FULL_STEPS = (
    Step(CLANG, suites.build("clang")),
    Step("C++ tests, by clang", suites.ctest("clang"), needs=CLANG),
    Step(ALL_ASAN, suites.build("asan", cmake.CHECKS)),
    Step("C++ tests, sanitized", suites.ctest("asan"), needs=ALL_ASAN),
    Step("a test in gdb, and sanitized", debugger.run),
    Step("alternatives: other seeds", seeds.alternatives, needs=RELEASE),
    Step("50 courses: full measured marks", grades.with_other_keys, needs=RELEASE),
    Step("the same whole grade again, also when busy", repeated.whole, needs=RELEASE),
    Step("a batch of 100, killed half-way", killed_batch.run, needs=RELEASE),
    Step("reference: linearizable with 2,000 seeds", seeds.linearizable, needs=RELEASE),
    Step("Copilot: linearizable with 2,000 seeds", seeds.copilot_linearizable, needs=RELEASE),
    Step("kill rounds: 50, nothing lost", real_processes.kill_rounds, needs=RELEASE),
    Step("containers", containers.run),
    Step("Redis clients of Node", redis_clients.of_node, needs=RELEASE),
    Step("Redis clients of Go", redis_clients.of_go, needs=RELEASE),
    Step("Redis clients of Java", redis_clients.of_java, needs=RELEASE),
    Step("reference: every slow fault", sweep.reference, needs=RELEASE),
    Step("handbook: the results of its commands", sweep.committed, needs=RELEASE),
    Step("handbook: the documents' figures", sweep.reproduced_results, needs=RELEASE),
)
# --8<-- [end:full]


def run(
    kit: Kit,
    full: bool,
    mutants: bool,
    as_json: bool,
    mutate: str | None = None,
    sample: int | None = None,
    seed: int | None = None,
    only_attacks: bool = False,
) -> int:
    """0 when every check of every step passed, 1 otherwise. `mutants`: these alone; `mutate`:
    changes of this lab's reference alone; `only_attacks`: the attacks alone."""
    if only_attacks and (full or mutants or mutate is not None or as_json):
        raise CannotDo("--attacks goes with no other option")
    if mutate is not None:
        if full or mutants:
            raise CannotDo("--mutate goes with neither --full nor --mutants")
        return mutation.run(kit, mutate, sample, FIRST_SEED if seed is None else seed, as_json)
    if sample is not None or seed is not None:
        raise CannotDo(
            "--sample and --seed go with --mutate: ./kit check --mutate lab2 --sample 50"
        )
    if as_json and not mutants:
        raise CannotDo("--json goes with --mutants: ./kit check --mutants --json")
    with tempfile.TemporaryDirectory(prefix="failslow-check-") as scratch:
        context = Context(kit, full, Path(scratch))
        if mutants:
            return mutants_report.run(context, as_json)
        if only_attacks:
            return attacks.report(context)
        total = run_steps(STEPS + FULL_STEPS if full else STEPS, context)
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
