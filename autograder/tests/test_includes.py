"""No include leads up: students get framework/ and labs/ without the rest."""

import re
from pathlib import Path, PurePath

import pytest

from failslow.base.kit import this_kit

LEVELS = ("framework", "labs", "reference-solutions", "tools", "autograder")
"""From the bottom up. A file includes from its own level and from those before it."""

PRIVATE = "framework/src/"
"""Included from by the framework only."""

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def wrong_includes(root: Path) -> list[str]:
    """A sentence for each include that only a file above, or a private one, can satisfy."""
    sources = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for level in LEVELS
        for path in sorted((root / level).rglob("*"))
        if path.suffix in (".h", ".cc")
    }
    by_name: dict[str, list[str]] = {}
    for file in sources:
        by_name.setdefault(PurePath(file).name, []).append(file)
    wrong = []
    for file, text in sources.items():
        for name in INCLUDE.findall(text):
            same = by_name.get(PurePath(name).name, [])
            found = [each for each in same if f"/{each}".endswith(f"/{name}")]
            if found and not any(_may_include(file, each) for each in found):
                wrong.append(f"{file} must not include {name}")
    return wrong


def _may_include(file: str, other: str) -> bool:
    level, below = (LEVELS.index(each.split("/")[0]) for each in (file, other))
    return below <= level and (level == 0 or not other.startswith(PRIVATE))


def test_no_file_of_the_kit_includes_from_above() -> None:
    assert wrong_includes(this_kit().root) == []


@pytest.mark.parametrize(
    ("file", "included", "is_wrong"),
    [
        ("framework/src/loop.cc", "common/log.h", True),
        ("framework/src/loop.cc", "core/loop.h", False),
        ("labs/lab/tests/raft_test.cc", "hidden/secret.h", True),
        ("labs/lab/tests/raft_test.cc", "core/loop.h", True),
        ("labs/lab/tests/raft_test.cc", "raft.h", False),
        ("autograder/hidden/raft_test.cc", "raft.h", False),
    ],
)
def test_an_include_that_leads_up_or_inside_is_noticed(
    tmp_path: Path, file: str, included: str, is_wrong: bool
) -> None:
    headers = ("labs/common/log.h", "autograder/hidden/secret.h", "framework/src/core/loop.h")
    starter_and_solution = ("labs/lab/raft.h", "reference-solutions/lab/raft.h")
    for each in (*headers, *starter_and_solution, file):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).touch()
    (tmp_path / file).write_text(f'#include "{included}"\n')
    assert wrong_includes(tmp_path) == ([f"{file} must not include {included}"] if is_wrong else [])
