"""The determinism matrix: one trace hash per test, on every build and machine.

Every graded test of a lab runs with the reference solution, in each variant. The trace hashes, of
everything that crossed a Host, must agree. Half of the labs are drawn, others after each change. A
variant that needs a busy machine has one of them. All labs have all variants under --full.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import console, machine, parallel, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.check import sample
from failslow.extras.check.step import Context, Counts
from failslow.lab.labs import load_labs

TIMEOUT_S = 600.0
BUSY_S = 600
BUSY_LOOP = f"import time\nend = time.monotonic() + {BUSY_S}\nwhile time.monotonic() < end: pass"


@dataclass(frozen=True)
class Variant:
    """One way to run the same tests. `busy` keeps every core busy during the tests."""

    name: str
    preset: str = "release"
    sealed: bool = False
    malloc_perturb: int | None = None
    fixed_addresses: bool = False
    busy: bool = False


VARIANTS = (
    Variant("fixed addresses, malloc fill", malloc_perturb=85, fixed_addresses=True),
    Variant("sealed, malloc fill 170", sealed=True, malloc_perturb=170),
    Variant("sealed, busy machine", sealed=True, busy=True),
)
"""Each cause of a difference tells one of them from the first."""

SINGLE_CAUSES = (
    Variant("sanitized, by clang", preset="asan"),
    Variant("clang", preset="clang"),
    Variant("release"),
    Variant("sealed", sealed=True),
    Variant("malloc fill", malloc_perturb=85),
    Variant("fixed addresses", fixed_addresses=True),
    Variant("sealed, fixed addresses", sealed=True, malloc_perturb=1),
    Variant("busy machine", busy=True),
)
"""Under --full: they tell the causes apart, and some are compiled for this alone."""


@dataclass(frozen=True)
class _Job:
    """One suite in one variant: a process of its own."""

    variant: Variant
    lab: str
    suite: str


def run(context: Context) -> Counts:
    labs = load_labs(context.kit)
    variants = [*VARIANTS, *(SINGLE_CAUSES if context.full else ())]
    counts = Counts()
    drawn = busy_ones = [*labs.by_id]
    if not context.full:
        drawn = sample.drawn_labs(context.kit, drawn, (len(drawn) + 1) // 2)
        busy_ones = drawn[:1]
        counts.remarks.append(f"{', '.join(drawn)}; the first beside others; --full has all labs")
    suites = [(id, suite) for id in drawn for suite in labs.get(id).suites]
    for preset in sorted({each.preset for each in variants} - {"release"}):
        cmake.build(context.kit, preset, [f"{suite}_sim" for _, suite in suites])
    if not _can_fix_addresses():
        counts.remarks.append("setarch -R is not permitted here: addresses were not fixed")
        variants = [replace(each, fixed_addresses=False) for each in variants]
    hashes: dict[str, dict[tuple[str, str], dict[str, str]]] = {each.name: {} for each in variants}
    for busy in (False, True):
        jobs = [
            _Job(variant, lab, suite)
            for variant in variants
            for lab, suite in suites
            if variant.busy == busy and (lab in busy_ones or not busy)
        ]
        for job, found in zip(jobs, _run_all(context.kit, jobs, busy), strict=True):
            hashes[job.variant.name][job.lab, job.suite] = found
    expected = hashes[VARIANTS[0].name]
    for name, by_suite in hashes.items():
        for suite, of_suite in by_suite.items():
            counts.add(compare(name, expected[suite], of_suite))
    return counts


def compare(variant: str, expected: dict[str, str], found: dict[str, str]) -> Counts:
    """One check for each test of either side."""
    counts = Counts()
    for test in sorted(expected.keys() | found.keys()):
        ours, theirs = expected.get(test, "none"), found.get(test, "none")
        said = f"{test}: trace hash {theirs} ({variant}), {ours} ({VARIANTS[0].name})"
        counts.expect(ours == theirs, said)
    return counts


def parse(text: str) -> dict[str, str]:
    """Suite.Name to trace hash, from GoogleTest's JSON; CannotDo unless every test has one."""
    try:
        hashes = {
            f"{suite['name']}.{case['name']}": str(case["trace_hash"])
            for suite in json.loads(text)["testsuites"]
            for case in suite["testsuite"]
        }
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"a test recorded no trace hash ({error!r})") from error
    if not hashes:
        raise CannotDo("no test ran")
    return hashes


def _run_all(kit: Kit, jobs: Sequence[_Job], busy: bool) -> list[dict[str, str]]:
    """Each job's hashes by test."""
    with (
        busy_machine() if busy else nullcontext(),
        console.progress("Comparing trace hashes") as advance,
    ):
        return parallel.run_all(
            jobs,
            lambda job: _hashes(kit, job),
            advance,
            lambda job: f"{job.suite}, {job.variant.name}",
        )


@contextmanager
def busy_machine() -> Iterator[None]:
    """Other work has every core while the body runs, for BUSY_S at most."""
    with ExitStack() as loops:
        for _ in range(machine.jobs()):
            loops.enter_context(process.background([sys.executable, "-c", BUSY_LOOP]))
        yield


def _hashes(kit: Kit, job: _Job) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="failslow-matrix-") as scratch:
        result = Path(scratch) / "result.json"
        argv = [*_argv(kit, job.variant, job.lab, job.suite), f"--gtest_output=json:{result}"]
        _run(argv, job.variant)
        return parse(result.read_text(encoding="utf-8"))


def _argv(kit: Kit, variant: Variant, lab: str, suite: str) -> list[str]:
    argv = ["setarch", "-R"] if variant.fixed_addresses else []
    kind = "sealed" if variant.sealed else "sim"
    argv.append(str(kit.binary(f"{suite}_{kind}", variant.preset)))
    if variant.sealed:
        argv.append(f"--replica={kit.binary(f'{lab}_replica', variant.preset)}")
        if variant.malloc_perturb is not None:
            argv.append(f"--perturb={variant.malloc_perturb}")
    return argv


def _run(argv: Sequence[str], variant: Variant) -> None:
    # The test makes the environment of a sealed replica: see --perturb. jemalloc has one value.
    fills = variant.malloc_perturb is not None and not variant.sealed
    env = {"MALLOC_CONF": "junk:true"} if fills else {}
    try:
        done = process.run(argv, env=env, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise CannotDo(f"cannot start {argv[0]}: {error.strerror}") from error
    if done.timed_out or done.exit_code != 0:
        how = done.how_it_ended()
        raise CannotDo(f"{argv[0]} ({variant.name}): {how}", (done.output + done.errors)[-2000:])


def _can_fix_addresses() -> bool:
    try:
        return process.run(["setarch", "-R", sys.executable, "-c", ""]).exit_code == 0
    except OSError:
        return False
