"""`kit debug`: one test in simulation with the student's code, in gdb or under the sanitizers."""

import platform
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.gtest import GradedTest
from failslow.extras.shared import sims as simulations
from failslow.extras.shared.sims import Sims
from failslow.extras.shared.solution import tree_in
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.submission import collect, place, source_directory

DEBUGGER = "gdb"
DEBUG = "debug"
SANITIZED = "asan"
SANITIZED_BY_GCC = "asan-gcc"
"""Presets of CMake."""

PLACE_FOUND = "Breakpoint 1 at "
PLACE_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Options:
    """`breaks`: places where gdb stops; none: where the test begins."""

    lab: str
    test: str
    directory: Path | None
    asan: bool
    breaks: Sequence[str]
    seed: int | None


def run(kit: Kit, options: Options) -> int:
    """With gdb 0, whatever happened in it. With `asan` 0 when the test passes, 1 when it fails.

    CannotDo for an unknown test, before anything is compiled, and for an unknown place.
    """
    if options.asan and options.breaks:
        raise CannotDo("--break is for gdb, and --asan runs the test without it")
    labs = load_labs(kit)
    graded = labs.get(options.lab)
    simulations.check_name(kit, graded, options.test)
    with tree_in(kit, labs, options.directory or kit.labs, options.lab) as (tree, _):
        submission = collect(kit, labs, tree, options.lab)
        preset = sanitized_preset() if options.asan else DEBUG
        sims, found = simulations.find(kit, labs, graded, submission, options.test, preset)
        program = _program(sims, found, options.seed)
        if options.asan:
            return _sanitized(options.test, program)
        return _in_gdb(
            program, options.breaks or [_body(options.test)], _sources(labs, graded, tree)
        )


def sanitized_preset() -> str:
    """clang's, as the kit itself is checked; gcc's where clang or its runtime is missing."""
    clang = shutil.which("clang++")
    if clang is None:
        return SANITIZED_BY_GCC
    name = f"libclang_rt.asan-{platform.machine()}.a"
    found = process.run([clang, f"--print-file-name={name}"]).output.strip()
    return SANITIZED if Path(found).is_file() else SANITIZED_BY_GCC


def _program(sims: Sims, test: GradedTest, seed: int | None) -> list[str]:
    seeds = [] if seed is None else [f"--seed={seed}"]
    return [str(sims.binaries[test.suite]), f"--gtest_filter={test.name}", *seeds]


def _sanitized(test: str, program: list[str]) -> int:
    # clang's reports have no lines without llvm-symbolizer, or this.
    lines = {"ASAN_OPTIONS": "allow_addr2line=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    exit_code = process.attached(program, lines)
    console.note(f"{test} {'passed' if exit_code == 0 else 'failed'} under the sanitizers")
    return 0 if exit_code == 0 else 1


def _in_gdb(program: list[str], breaks: Sequence[str], sources: Iterator[str]) -> int:
    gdb = shutil.which(DEBUGGER)
    if gdb is None:
        raise CannotDo("gdb is not installed (./kit debug installs it)")
    for where in breaks:
        _check_place(gdb, program[0], where)
    commands = [*sources, *(f"break {where}" for where in breaks), "run"]
    argv = [gdb, "--quiet", *(word for each in commands for word in ("-ex", each))]
    console.note(f"In gdb: stops at {', '.join(breaks)}, at a failed expectation and at a crash.")
    exit_code = process.attached([*argv, "--args", *program, "--gtest_break_on_failure"])
    if exit_code != 0:
        raise CannotDo(f"gdb ended with exit code {exit_code}")
    return 0


def _check_place(gdb: str, binary: str, where: str) -> None:
    """CannotDo unless gdb knows the place: a breakpoint that waits for a library is never hit."""
    argv = [gdb, "--nx", "--batch", "-ex", f"break {where}", binary]
    done = process.run(argv, timeout_s=PLACE_TIMEOUT_S, merge_errors=True)
    if PLACE_FOUND not in done.output:
        lines = [line for line in done.output.splitlines() if line and "pending" not in line]
        raise CannotDo(f"--break {where}: {lines[-1] if lines else done.how_it_ended()}")


def _body(test: str) -> str:
    """The function of a test's body, as GoogleTest names it."""
    return f"{test.replace('.', '_')}_Test::TestBody"


def _sources(labs: Labs, lab: Lab, tree: Path) -> Iterator[str]:
    """gdb's commands that lead from the compiled copies to the student's own files."""
    for part_of in labs.closure(lab):
        here = source_directory(tree, part_of)
        if here is not None:
            yield f"set substitute-path {place(lab, part_of)} {here.resolve()}"
