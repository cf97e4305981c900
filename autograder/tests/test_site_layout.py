"""Which directory includes from which, read from the sources."""

from pathlib import Path

import pytest

from failslow.kit import this_kit
from failslow.site import layout

SOURCES = {
    "framework/include/depfast/event.h": "",
    "framework/src/core/loop.h": '#include "depfast/event.h"\n',
    "framework/hosts/sim/agenda.cc": '#include "core/loop.h"\n#include <vector>\n',
    "framework/hosts/sim/tests/agenda_test.cc": '#include "depfast/event.h"\n',
    "framework/testkit/world.h": '#include "hosts/sim/agenda.cc"\n#include "gone.h"\n',
    "labs/common/log.h": '#include "depfast/event.h"\n',
    "labs/lab2/src/raft.h": '#include "common/log.h"\n',
    "labs/lab2/driver/main.cc": '#include "raft.h"\n#include "testkit/world.h"\n',
    "reference-solutions/lab2/raft.h": "",
    "reference-solutions/lab2/raft.cc": '#include "raft.h"\n#include "common/log.h"\n',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        write(tmp_path / name, text)
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_rooms_and_what_they_use_are_read_from_includes(checkout: Path) -> None:
    found = layout.read(checkout)
    assert found.problems == []
    assert found.sizes["framework/hosts/sim"] == (1, 2)
    assert found.uses == {
        "framework/src": {"framework/include"},
        "framework/hosts/sim": {"framework/src"},
        "framework/tests": {"framework/include"},
        "framework/testkit": {"framework/hosts/sim"},
        "labs/common": {"framework/include"},
        "labs": {"labs/common", "framework/testkit"},
        "reference-solutions": {"labs/common"},
    }


@pytest.mark.parametrize(
    ("file", "included"),
    [
        ("framework/src/core/loop.cc", "common/log.h"),
        ("labs/lab2/tests/raft_test.cc", "lab2/raft.h"),
        ("labs/lab2/tests/raft_test.cc", "core/loop.h"),
        ("labs/common/log.cc", "hidden/secret.h"),
    ],
)
def test_an_include_that_leads_up_or_inside_is_a_problem(
    checkout: Path, file: str, included: str
) -> None:
    write(checkout / "autograder" / "hidden" / "secret.h", "")
    write(checkout / file, f'#include "{included}"\n')
    (problem,) = layout.read(checkout).problems
    assert problem.startswith(f"{file} must not include ")
    assert problem.endswith(included)


def test_directories_that_include_from_each_other_are_a_problem(checkout: Path) -> None:
    write(checkout / "framework/include/depfast/bad.h", '#include "core/loop.h"\n')
    found = layout.read(checkout).problems
    words = "includes from a directory that includes from it"
    assert found == [f"framework/include {words}", f"framework/src {words}"]


def test_the_drawing_leaves_out_arrows_that_follow_from_others(checkout: Path) -> None:
    write(checkout / "labs/lab2/tests/raft_test.cc", '#include "depfast/event.h"\n')
    found = layout.read(checkout)
    assert "framework/include" in found.uses["labs"]
    drawn = layout.diagram(found)
    assert "  labs --> framework_testkit" in drawn
    assert "labs --> framework_include" not in drawn.replace("labs_common", "")
    assert "labs includes from framework/include, framework/testkit, labs/common." in drawn
    assert "| `labs/common` | 1 | 1 | `framework/include` |" in layout.table(found)


def test_this_kit_keeps_to_its_layout() -> None:
    assert layout.read(this_kit().root).problems == []
