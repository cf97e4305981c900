"""No compiled object is stale: each kind of file is changed, and the next run knows. With the real
compiler and CMake, on a small kit."""

import subprocess
from pathlib import Path

import pytest

from demands import some
from failslow.base.kit import Kit
from failslow.extras.shared import sims
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect
from fakes import LAB1_YAML

LAB = "labs/lab1-quorum-event"
CHANGED = {  # each has one 1, which becomes a 2
    f"{LAB}/src/quorum_event.cc": '#include "contract.h"\n#include "quorum_event.h"\n'
    "int Flag() { return FLAG; }\nint Seen() { return kHeader + kContract; }\n"
    "int Source() { return 1; }\n",
    f"{LAB}/src/quorum_event.h": "constexpr int kHeader = 1;\n",
    f"{LAB}/contract/contract.h": "#pragma once\nconstexpr int kContract = 1;\n",
    f"{LAB}/driver/main.cc": '#include <cstdio>\n#include "contract.h"\n#include "driver.h"\n'
    '#include "quorum_event.h"\nint Flag(); int Seen(); int Source(); int Testkit();\n'
    'int main() { std::printf("%d %d %d %d %d %d %d %d", Source(), Flag(), Seen(), kHeader,\n'
    "                         kContract, kDriver, 1, Testkit()); }\n",
    f"{LAB}/driver/driver.h": "constexpr int kDriver = 1;\n",
    f"{LAB}/testkit/testkit.cc": '#include "testkit.h"\nint Testkit() { return kTestkit + 1; }\n',
    f"{LAB}/testkit/testkit.h": "constexpr int kTestkit = 1;\n",
    "flag.cmake": "set(flag -DFLAG=1)\n",
}
STAYS = {
    "empty.cc": "",
    "CMakeLists.txt": f"""
cmake_minimum_required(VERSION 3.21)
project(small CXX)
include(flag.cmake)
add_library(testkit STATIC {LAB}/testkit/testkit.cc)
add_library(submission OBJECT EXCLUDE_FROM_ALL empty.cc)
target_compile_options(submission PRIVATE ${{flag}})
target_include_directories(submission PRIVATE {LAB}/contract)
add_executable(lab1_public_sim_submission EXCLUDE_FROM_ALL {LAB}/driver/main.cc)
target_link_libraries(lab1_public_sim_submission PRIVATE testkit)
""",
    "CMakePresets.json": '{"version": 3, "configurePresets": [{"name": "release",'
    ' "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}],'
    ' "buildPresets": [{"name": "release", "configurePreset": "release"}]}',
    f"{LAB}/lab.yaml": LAB1_YAML,
}


def said(kit: Kit) -> str:
    labs = load_labs(kit)
    built = sims.sims_of(kit, labs, labs.get("lab1"), collect(kit, labs, kit.labs, "lab1"))
    program = built.binaries["lab1_public"]
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_each_kind_of_file_that_changes_changes_the_program(tmp_path: Path) -> None:
    for name, text in (CHANGED | STAYS).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    kit = Kit(tmp_path)
    now = said(kit)
    assert now == "1 1 2 1 1 1 1 2"
    for name, text in some(CHANGED.items()):
        (tmp_path / name).write_text(text.replace("1", "2"))
        before, now = now, said(kit)
        assert now != before, f"{name} was compiled before its change"
    assert now == "2 2 4 2 2 2 2 4"
    (tmp_path / "CMakeLists.txt").write_text(STAYS["CMakeLists.txt"].replace("${flag}", "-DFLAG=3"))
    assert said(kit) == "2 3 4 2 2 2 2 4"
