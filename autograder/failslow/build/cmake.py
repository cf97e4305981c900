"""Configures and builds the kit's own C++ with CMake, with progress."""

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from failslow.base import console, machine, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import recipe
from failslow.lab.labs import Lab

NINJA_STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)")
NOTHING_TO_DO = "ninja: no work to do."
LOOKS_ROUND = "Re-checking globbed directories..."
"""A step of every build, also if there is nothing to do."""
TABLE = "build.ninja"
"""CMake's table of targets: building it runs CMake if a file that CMake reads has changed."""
TAIL_LINES = 40

GRADING = "grading"
OF_ONE_LAB = "_grading"
"""Suffix of a lab's part of it."""
CHECKS = "checks"
DIAGNOSIS = "diagnosis_programs"
RUNTIME = "runtime"
"""Groups of targets: cmake/groups.cmake."""
GRADED = "graded"
"""A label of tests: of the suites that a grade runs."""


def build(
    kit: Kit,
    preset: str = "release",
    targets: Sequence[str] = (),
    definitions: Sequence[str] = (),
    what: str = "",
) -> None:
    """Brings build/<preset> up to date; CannotDo with the compiler's output if it fails.

    `definitions`: CMake options to switch on that are off otherwise (`NAME=ON`); they stay.
    `what`: a name for the targets, for the progress.
    """
    with _locked(kit, preset):
        _bring_up_to_date(kit, preset, definitions)
        _build(kit, preset, targets, f"Building ({what or preset})")


def build_for_grading(kit: Kit, lab: Lab) -> None:
    """The targets that a grade of the lab needs, and nothing else. Raises as `build`."""
    build(kit, targets=[f"{lab.id}{OF_ONE_LAB}"], what=lab.id)


def is_built_for_grading(kit: Kit, lab: Lab) -> bool:
    """Whether `build_for_grading` has nothing to do. Builds nothing."""
    if _needs_configure(kit, "release"):
        return False
    # A dry run ends with the step that renews the table: a table that includes it has no such step.
    build = kit.preset("release")
    (build / "dry.ninja").write_text(f"include {TABLE}\n", encoding="utf-8")
    done = process.run(["ninja", "-C", build, "-f", "dry.ninja", "-n", f"{lab.id}{OF_ONE_LAB}"])
    return done.exit_code == 0 and NOTHING_TO_DO in done.output


def configure(kit: Kit, preset: str = "release") -> None:
    """Builds nothing, but lets recipe.py read CMake's description of the targets as they are now.
    CannotDo as `build`."""
    with _locked(kit, preset):
        if not _bring_up_to_date(kit, preset, ()):
            _build(kit, preset, [TABLE], f"Configuring ({preset})")


@contextmanager
def _locked(kit: Kit, preset: str) -> Iterator[None]:
    # Ninja does not guard a build directory against a second ninja.
    kit.build.mkdir(exist_ok=True)
    with (kit.build / f".lock-{preset}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _bring_up_to_date(kit: Kit, preset: str, definitions: Sequence[str]) -> bool:
    """Whether CMake has run. Ninja runs it for the files that CMake reads."""
    if not _needs_configure(kit, preset) and _has(kit, preset, definitions):
        return False
    _configure(kit, preset, definitions)
    return True


def _needs_configure(kit: Kit, preset: str) -> bool:
    """Ninja re-runs CMake for CMakeLists.txt, but does not know of the presets file."""
    ninja, presets = kit.preset(preset) / TABLE, kit.root / "CMakePresets.json"
    if not presets.is_file():
        raise CannotDo(f"{kit.root} has no CMakePresets.json: not a checkout of the kit")
    if not ninja.is_file() or not recipe.is_answered(kit.preset(preset)):
        return True
    return ninja.stat().st_mtime < presets.stat().st_mtime


def _has(kit: Kit, preset: str, definitions: Sequence[str]) -> bool:
    if not definitions:
        return True
    cache = (kit.preset(preset) / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return all(definition.replace("=", ":BOOL=") in cache for definition in definitions)


def _configure(kit: Kit, preset: str, definitions: Sequence[str]) -> None:
    recipe.ask(kit.preset(preset))
    argv = ["cmake", "--preset", preset, *(f"-D{definition}" for definition in definitions)]
    with console.progress(f"Configuring ({preset})"):
        done = process.run(argv, cwd=kit.root, merge_errors=True)
    if done.exit_code != 0:
        # CMake keeps an option that it could not follow: each later build would fail, too.
        off = [f"-D{definition.partition('=')[0]}=OFF" for definition in definitions]
        process.run(["cmake", "--preset", preset, *off], cwd=kit.root)
        raise CannotDo(f"cmake could not configure the {preset} build", _tail(done.output))
    ninja = kit.preset(preset) / TABLE
    if ninja.is_file():
        ninja.touch()


def _build(kit: Kit, preset: str, targets: Sequence[str], title: str) -> None:
    argv = ["cmake", "--build", "--preset", preset]
    if "CMAKE_BUILD_PARALLEL_LEVEL" not in os.environ:  # somebody may know better
        argv += ["--parallel", str(machine.jobs())]
    argv += ["--target", *targets] if targets else []
    output: list[str] = []
    lines = process.lines(argv, cwd=kit.root, env={"NINJA_STATUS": "[%f/%t] "})
    with console.progress(title, kit.paces, even_if_empty=False) as advance, closing(lines):
        for item in lines:
            if isinstance(item, int):
                exit_code = item
                continue
            output.append(item)
            step = NINJA_STEP.match(item)
            if step and step[3] != LOOKS_ROUND:
                advance(int(step[1]), int(step[2]), step[3].rsplit("/", 1)[-1])
        if exit_code != 0:
            text = "\n".join(_without_steps(output))
            raise CannotDo(f"the {preset} build of the kit failed", _tail(text))


def _without_steps(output: list[str]) -> list[str]:
    return [line for line in output if not NINJA_STEP.match(line)]


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-TAIL_LINES:])
