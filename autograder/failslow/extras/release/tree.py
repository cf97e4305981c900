"""The files of a checkout that are given to students, and those that hold answers.

The two lists are independent: leaks.py checks the files of the one against the lines of the other.
Only files that git tracks count, as they are in the working tree.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.release import imports
from failslow.extras.site import readers
from failslow.lab.labs import load_labs

GIVEN = (
    ".clang-format",
    ".devcontainer/*",
    ".dockerignore",
    ".gitignore",
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "autograder/measure/*",
    "autograder/requirements.txt",
    "cmake/*",
    "fault-scripts/*",
    "framework/*",
    "handouts/*",
    "kit",
    "labs/*/CMakeLists.txt",
    "labs/*/*.yaml",
    "labs/*/client/*",
    "labs/*/contract/*",
    "labs/*/driver/*",
    "labs/*/explore/*",
    "labs/*/linearizability/*",
    "labs/*/redis/*",
    "labs/*/src/*",
    "labs/*/testkit/*",
    "labs/*/tests/*",
    "tools/CMakeLists.txt",
    "tools/containers/dev.Dockerfile",
    "tools/containers/make-base",
    "tools/submit/*",
)
"""Patterns of paths; a star stands for any characters."""

LEFT_OUT = (
    "autograder/attacks/*",
    "autograder/measure/tests/*",
    "autograder/tests/*",
    "fault-scripts/check",
    "framework/*/tests/*",
    "framework/bench/*",
    "framework/tests/*",
    "labs/*/*/tests/*",
    "labs/*/kit.py",
    "labs/*/kit/*",
    "labs/*/load/*",
    "labs/conftest.py",
    "labs/common/tests/*",
    "reference-solutions/mutation/*",
    "reference-solutions/*/tests/*",
    "reference-solutions/tests/*",
)
"""Neither a student nor a grade needs them: tests and benchmarks of the kit's own code, the kits of
labs, loads of clusters, and the check of the faults."""

OF_A_GRADE = (
    "cmake/changes.cmake",
    "cmake/variants.cmake",
    "framework/hosts/sealed/sandbox/*_main.cc",
)
"""Students need neither the reference's build nor the programs of a grade's sandbox."""

PACKAGE_DATA = (
    "autograder/failslow/base/data/cluster.schema.json",
    "autograder/failslow/extras/replay/vendor*",
    "autograder/failslow/extras/replay/viewer/*",
)
"""Data that the students' part of the Python package reads."""

SHARED = ("labs/common/testkit/*",)
INCLUDE = re.compile(r'^#include "(?:[^"]*/)?(\w+)\.h"', re.M)

SECRET = (
    "autograder/hidden/*",
    "labs/*/answers/*.cc",
    "labs/*/answers/*.h",
    "reference-solutions/*",
)

DIAGNOSE = "failslow.extras.commands.diagnose"
EXPLORE_RULES = "failslow.extras.commands.explore_rules"
"""These are left out with the labs that they are for."""

PROGRAMS = (
    "failslow.__main__",
    "failslow.cli",
    "failslow.extras.commands.for_students",
    "failslow.extras.commands.slow",
)
"""The parts of the package that something else starts, or imports once it needs them."""


@dataclass(frozen=True)
class Topic:
    """A part of the kit that comes with the first lab whose handout has `word`: the program of that
    command, all that it imports, and the files that nothing else needs."""

    word: str
    program: str
    files: tuple[str, ...]


TOPICS = {
    readers.CLUSTERS: Topic(
        "./kit cluster ",
        "failslow.extras.commands.cluster",
        (
            "autograder/failslow/base/data/cluster.schema.json",
            "framework/hosts/real/*",
            "framework/tool/*",
            "labs/*/client/*",
            "labs/*/redis/*",
            "tools/CMakeLists.txt",
            "tools/submit/*",
        ),
    ),
    readers.FAULTS: Topic(
        "fault-scripts/",
        "failslow.extras.commands.faults",
        ("fault-scripts/*", "framework/faults/catalogue_*"),
    ),
}

OF_A_LAB = (
    "autograder/hidden/{id}-*",
    "handouts/{id}-*",
    "labs/{id}-*",
    "reference-solutions/{id}-*",
)
"""Patterns of the paths that belong to one lab."""


def tracked(kit: Kit) -> list[str]:
    """The paths that git tracks, in order. CannotDo outside of a git checkout."""
    try:
        done = process.run(["git", "-C", kit.root, "ls-files", "-z"])
    except OSError as error:
        raise CannotDo(f"cannot start git: {error.strerror}") from error
    if done.exit_code != 0:
        raise CannotDo(f"{kit.root} is no git checkout: git tells which files are the kit's")
    return sorted(name for name in done.output.split("\0") if name)


def unnamed(kit: Kit, labs: Iterable[str]) -> set[str]:
    """The topics that no handout of these labs names. `labs`: ids."""
    pages = [page for each in labs for page in (kit.root / "handouts").glob(f"{each}-*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    return {name for name, topic in TOPICS.items() if topic.word not in text}


def given(kit: Kit, left_out: Collection[str] = ()) -> list[str]:
    """The paths of the files that students get, in order. `left_out`: ids of labs, and TOPICS."""
    labs = [lab for lab in load_labs(kit).by_id.values() if lab.id not in left_out]
    programs = [*PROGRAMS]
    others = [*LEFT_OUT, *OF_A_GRADE, *of_labs(left_out)]
    if any(lab.diagnosis for lab in labs):
        programs.append(DIAGNOSE)
    if any(lab.exploration == "rules" for lab in labs):
        programs.append(EXPLORE_RULES)
    for name, topic in TOPICS.items():
        if name in left_out:
            others += topic.files
        else:
            programs.append(topic.program)
    modules = imports.closure(kit.root / "autograder", programs)
    package = {path.relative_to(kit.root).as_posix() for path in modules}
    found = [
        name
        for name in tracked(kit)
        if name in package or (matches(name, (*GIVEN, *PACKAGE_DATA)) and not matches(name, others))
    ]
    unused = _unused(kit, found) if left_out else set()
    return [name for name in found if name not in unused]


def _unused(kit: Kit, names: Sequence[str]) -> set[str]:
    """Shared sources of the testkit that serve other labs: of their headers, no source of another
    name includes any."""
    sources = {name: kit.root / name for name in names if name.endswith((".h", ".cc"))}
    included = {
        name: {*INCLUDE.findall(path.read_text(encoding="utf-8"))} - {path.stem}
        for name, path in sources.items()
    }
    shared = [name for name in sources if matches(name, SHARED)]
    unused: set[str] = set()
    while True:
        used = {each for name in included.keys() - unused for each in included[name]}
        more = {name for name in shared if sources[name].stem not in used}
        if more == unused:
            return unused
        unused = more


def of_labs(ids: Iterable[str]) -> list[str]:
    """Patterns of the paths that belong to these labs."""
    return [pattern.format(id=each) for each in ids for pattern in OF_A_LAB]


def is_secret(name: str) -> bool:
    """Whether the file holds answers or hidden tests."""
    return matches(name, SECRET)


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def entry(path: Path) -> Entry:
    """CannotDo for a missing file. What its owner may run, others may."""
    if not path.is_file():
        raise CannotDo(f"{path} is missing from the checkout")
    return Entry(path.read_bytes(), bool(path.stat().st_mode & 0o100))
