"""The students' kit on a laptop with an ARM64 processor: cross-compiled here, and run by QEMU.

The reference passes the public tests of labs 1 and 3 there. One test of each lab, at least, has the
trace hash that it has on this machine.
"""

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.build import cmake, gtest, macros, recipe
from failslow.build.compile import build_submission
from failslow.extras.check import matrix
from failslow.extras.check.suites import NO_ARM64
from failslow.extras.release import students
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect

pytestmark = pytest.mark.full

COMPILER, EMULATOR, EXTRACTOR = "aarch64-linux-gnu-g++", "qemu-aarch64-static", "mmdebstrap"
LIBRARIES = (
    "libboost-dev",
    "libboost-context-dev",
    "libgtest-dev",
    "libxxhash-dev",
    "libmsgpack-cxx-dev",
    "nlohmann-json3-dev",
    "libcli11-dev",
    "libjemalloc-dev",
    "robin-map-dev",
    "libstdc++6",
)
WHOLE = ("lab1", "lab3")
"""Their public tests run completely."""
EMULATED_S = 1800.0
"""The most that a suite takes: an emulated processor is some 20 times as slow."""

TOOLCHAIN = f"""
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER {COMPILER})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH @ROOT@)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""


@pytest.fixture(scope="module")
def root(kit: Kit) -> Path:
    """The libraries of this Debian for the other processor."""
    missing = [name for name in (COMPILER, EMULATOR, EXTRACTOR) if not shutil.which(name)]
    system = platform.freedesktop_os_release()
    if missing or system["ID"] != "debian" or os.getuid() != 0:
        pytest.skip(NO_ARM64)
    made = kit.build / "arm64-root"
    if not made.is_dir():
        words = ["--variant=extract", "--architectures=arm64", f"--include={','.join(LIBRARIES)}"]
        done = process.run([EXTRACTOR, *words, system["VERSION_CODENAME"], made])
        if done.exit_code != 0:
            shutil.rmtree(made, ignore_errors=True)
        assert done.exit_code == 0, done.errors
    return made


@pytest.fixture(scope="module")
def released(kit: Kit, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    """The students' kit, configured for the other processor."""
    scratch = tmp_path_factory.mktemp("arm64")
    made = Kit(scratch / "kit")
    students.write(kit, made.root, students.Options(with_handbook=False), lambda _: None)
    toolchain = scratch / "toolchain.cmake"
    toolchain.write_text(TOOLCHAIN.replace("@ROOT@", str(root)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CMAKE_TOOLCHAIN_FILE", str(toolchain))
        patch.setattr(macros, "SYSTEM", (*macros.SYSTEM, str(root)))
        cmake.configure(made)
        yield made


def public_tests(kit: Kit, released: Kit, lab_id: str) -> Path:
    """The program, with the reference."""
    labs = load_labs(kit)
    lab = labs.get(lab_id)
    described = recipe.load_recipe(released)
    target = described.sim(lab, f"{lab_id}_public")
    recipe.check_given(released, [target])
    cmake.build(released, targets=recipe.given(released, [target]))
    submission = collect(kit, labs, kit.reference, lab_id)
    return build_submission(released, labs, submission, described, [target]) / target.name


def hashes(program: list[str], tests: str, scratch: Path) -> dict[str, str]:
    """The trace hashes of tests that pass, by name."""
    result = scratch / "result.json"
    options = [f"--gtest_filter={tests}", f"--gtest_output=json:{result}"]
    done = process.run([*program, *options], timeout_s=EMULATED_S)
    assert done.exit_code == 0, done.output + done.errors
    return matrix.parse(result.read_text())


@pytest.mark.parametrize("lab_id", load_labs(Kit(Path(__file__).parents[2])).by_id)
def test_the_reference_passes_with_the_same_hashes(
    kit: Kit, root: Path, released: Kit, lab_id: str, tmp_path: Path
) -> None:
    there = public_tests(kit, released, lab_id)
    suite = f"{lab_id}_public_sim"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CMAKE_TOOLCHAIN_FILE")
        cmake.build(kit, targets=[suite])
    here = kit.binary(suite)
    first = gtest.list_graded(here, suite)[0].name
    tests = "*" if lab_id in WHOLE else first
    emulated = hashes([EMULATOR, "-L", str(root), str(there)], tests, tmp_path)
    assert emulated == hashes([str(here)], tests, tmp_path)
