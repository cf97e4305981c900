"""No compiled object is stale: each kind of file is changed, and the next run knows. With the real
compiler and CMake, on a small kit."""

import subprocess
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.shared import sims
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect
from fakes import LAB1_YAML

LAB = "labs/lab1-quorum-event"
FILES = {
    f"{LAB}/src/quorum_event.cc": '#include "quorum_event.h"\n#include "contract.h"\n'
    "int Source() { return 1; }\nint Flag() { return FLAG; }\n"
    "int Seen() { return kHeader * 10 + kContract; }\n",
    f"{LAB}/src/quorum_event.h": "constexpr int kHeader = 1;\n",
    f"{LAB}/contract/contract.h": "constexpr int kContract = 1;\n",
    f"{LAB}/driver/main.cc": "#include <cstdio>\n"
    '#include "driver.h"\n#include "quorum_event.h"\n#include "contract.h"\n'
    "int Source(); int Flag(); int Seen(); int Testkit();\nconstexpr int kDriver = 1;\n"
    'int main() { std::printf("%d %d %d %d %d %d %d %d", Source(), Flag(), Seen(), kHeader,\n'
    "                         kContract, kDriver, kDriverHeader, Testkit()); }\n",
    f"{LAB}/driver/driver.h": "constexpr int kDriverHeader = 1;\n",
    f"{LAB}/testkit/testkit.h": "constexpr int kTestkit = 1;\n",
    f"{LAB}/testkit/testkit.cc": '#include "testkit.h"\n'
    "constexpr int kOwn = 1;\nint Testkit() { return kTestkit * 10 + kOwn; }\n",
    "flag.cmake": "set(flag -DFLAG=1)\n",
    "empty.cc": "",
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(small CXX)\n"
    "include(flag.cmake)\n"
    f"add_library(testkit STATIC {LAB}/testkit/testkit.cc)\n"
    "add_library(submission OBJECT EXCLUDE_FROM_ALL empty.cc)\n"
    "target_compile_options(submission PRIVATE ${flag})\n"
    f"target_include_directories(submission PRIVATE {LAB}/contract)\n"
    f"add_executable(lab1_public_sim_submission EXCLUDE_FROM_ALL {LAB}/driver/main.cc)\n"
    "target_link_libraries(lab1_public_sim_submission PRIVATE testkit)\n",
    "CMakePresets.json": '{"version": 3, "configurePresets": [{"name": "release",'
    ' "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}],'
    ' "buildPresets": [{"name": "release", "configurePreset": "release"}]}',
    f"{LAB}/lab.yaml": LAB1_YAML,
}
CHANGES = {
    "a student's source": (f"{LAB}/src/quorum_event.cc", "return 1", "return 2"),
    "a student's header": (f"{LAB}/src/quorum_event.h", "1", "2"),
    "a contract's header": (f"{LAB}/contract/contract.h", "1", "2"),
    "a given source": (f"{LAB}/driver/main.cc", "kDriver = 1", "kDriver = 2"),
    "a header beside it": (f"{LAB}/driver/driver.h", "1", "2"),
    "a source of the testkit": (f"{LAB}/testkit/testkit.cc", "kOwn = 1", "kOwn = 2"),
    "a header of the testkit": (f"{LAB}/testkit/testkit.h", "1", "2"),
    "a file of CMake": ("flag.cmake", "1", "2"),
}


@pytest.fixture
def small(tmp_path: Path) -> Kit:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Kit(tmp_path)


def said(kit: Kit) -> list[str]:
    labs = load_labs(kit)
    lab = labs.get("lab1")
    built = sims.sims_of(kit, labs, lab, collect(kit, labs, kit.labs, lab.id))
    program = built.binaries["lab1_public"]
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
def test_each_kind_of_file_that_changes_changes_the_program(small: Kit) -> None:
    wanted = "1 1 11 1 1 1 1 11"
    assert " ".join(said(small)) == wanted
    for name, (file, old, new) in CHANGES.items():
        text = (small.root / file).read_text()
        assert text.count(old) == 1
        (small.root / file).write_text(text.replace(old, new))
        before, wanted = wanted, " ".join(said(small))
        assert wanted != before, f"{name} was compiled before its change"
    assert wanted == "2 2 22 2 2 2 2 22"
    text = (small.root / "CMakeLists.txt").read_text()
    text = text.replace("include(flag.cmake)", "set(flag -DFLAG=3)")
    (small.root / "CMakeLists.txt").write_text(text)
    assert " ".join(said(small)) == "2 3 22 2 2 2 2 22"
