"""Building the kit: a failure's message, and that an interrupt ends the compilers."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build import cmake
from failslow.lab.labs import load_labs
from fakes import eventually, write_program

FAKE_CMAKE = """
import os, pathlib, sys
build = pathlib.Path("build/release")
build.mkdir(parents=True, exist_ok=True)
(build / "calls").open("a").write(sys.argv[1] + "\\n")
if sys.argv[1] == "--preset":
    (build / "build.ninja").write_text("")
    asked = build / ".cmake/api/v1/query/client-kit/codemodel-v2"
    reply = build / ".cmake/api/v1/reply"
    if asked.exists():
        reply.mkdir(exist_ok=True)
        (reply / "index-1.json").write_text("{}")
    (build / "CMakeCache.txt").write_text("\\n".join(sys.argv[3:]))
    if "-DPEER=ON" in sys.argv:
        print("apt-get install the-peer")
        sys.exit(1)
elif os.path.exists("broken"):
    print("[1/2] Building CXX object a.cc.o")
    print("a.cc:1:1: error: no")
    sys.exit(1)
"""

PARENT = """
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                         start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: (child.kill(), child.wait(), sys.exit(1)))
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    write_program(tmp_path / "bin" / "cmake", FAKE_CMAKE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "CMakePresets.json").write_text("{}")
    return Kit(tmp_path)


def calls(kit: Kit) -> list[str]:
    return (kit.preset("release") / "calls").read_text().split()


def test_configures_once_and_builds_every_time(checkout: Kit) -> None:
    cmake.build(checkout)
    cmake.build(checkout)
    assert calls(checkout) == ["--preset", "--build", "--build"]


def test_configures_again_when_cmake_has_left_no_reply(checkout: Kit) -> None:
    cmake.build(checkout)
    shutil.rmtree(checkout.preset("release") / ".cmake")
    cmake.configure(checkout)
    assert calls(checkout) == ["--preset", "--build", "--preset"]


def test_configures_again_when_the_presets_change(checkout: Kit) -> None:
    cmake.build(checkout)
    later = time.time() + 10
    os.utime(checkout.root / "CMakePresets.json", (later, later))
    cmake.build(checkout)
    assert calls(checkout).count("--preset") == 2


def test_a_lab_is_built_when_ninja_has_nothing_to_do(checkout: Kit) -> None:
    lab = load_labs(this_kit()).get("lab1")
    assert not cmake.is_built_for_grading(checkout, lab), "it is not configured"
    cmake.configure(checkout)
    for needs, is_built in (("", True), ("missing", False)):
        (checkout.preset("release") / "build.ninja").write_text(
            "rule make\n command = false\nbuild always: phony\nbuild build.ninja: make always\n"
            f"build missing: make\nbuild lab1_grading: phony {needs}\n"
        )
        assert cmake.is_built_for_grading(checkout, lab) == is_built


def test_a_failed_build_shows_the_compiler(checkout: Kit) -> None:
    (checkout.root / "broken").touch()
    with pytest.raises(CannotDo, match="the release build of the kit failed") as failed:
        cmake.build(checkout)
    assert failed.value.detail == "a.cc:1:1: error: no"


def test_an_option_that_cannot_be_followed_does_not_stay(checkout: Kit) -> None:
    with pytest.raises(CannotDo, match="could not configure") as failed:
        cmake.build(checkout, definitions=["PEER=ON"])
    assert failed.value.detail == "apt-get install the-peer"
    assert (checkout.preset("release") / "CMakeCache.txt").read_text() == "-DPEER=OFF"


def test_a_directory_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="not a checkout of the kit"):
        cmake.build(Kit(tmp_path))


def test_an_interrupted_build_ends_grandchildren_in_groups_of_their_own(tmp_path: Path) -> None:
    lines = process.lines([write_program(tmp_path / "parent", PARENT)], cwd=tmp_path)
    grandchild = int(next(lines))
    lines.close()
    try:
        eventually(lambda: not runs(grandchild))
    finally:
        with suppress(ProcessLookupError):
            os.kill(grandchild, 9)


def runs(pid: int) -> bool:
    """A process that has ended is still listed until its new parent has waited for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
