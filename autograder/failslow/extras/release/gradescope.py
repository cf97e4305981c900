"""`kit release gradescope`: the zip file of an assignment's autograder.

It has the files of the kit that git tracks, the scripts that Gradescope wants at the top, the
course key, and what the assignment is about. Of the labs it has the assignment's and those that it
needs. Of the Python package it has what grading imports. It has nothing that tests the kit itself:
no attacks, mutants or alternatives.
"""

import zipfile
from pathlib import Path

from failslow.base import atomic, zip_file
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.release import imports, tree
from failslow.extras.release.assignment import Assignment
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs, load_labs

PROGRAM = "failslow.extras.commands.gradescope"
"""The part of the package that the scripts start."""

SCRIPTS = ("setup.sh", "run_autograder", "Dockerfile")
SCRIPTS_DIRECTORY = "autograder/gradescope"

NOT_FOR_A_GRADE = (
    *tree.LEFT_OUT,
    "*.md",
    ".*",  # also .dockerignore: an image of the assignment needs the key
    "autograder/failslow/extras/*",
    "autograder/hidden/*/systems/*",
    "autograder/hidden/*/tests/*",
    "docker-compose.yml",
    "fault-scripts/*",
    "reference-solutions/*/alternatives/*",
    "reference-solutions/*/given/*",
    "reference-solutions/*/mutants/*",
    "reference-solutions/fast/*",
    "site/*",
    "tools/*",
)


def write(kit: Kit, out: Path, assignment: Assignment, key: CourseKey) -> int:
    """Writes the file whole, for its owner alone: it holds the key. Returns the number of its
    entries.

    CannotDo when `out` cannot be written or a file of the kit is missing.
    """
    entries = program(kit, assignment.lab) | settings(kit, assignment, key)
    atomic.write_bytes(out, zip_file.archive(entries, zipfile.ZIP_DEFLATED), 0o600)
    return len(entries)


def program(kit: Kit, lab: str | None = None, started: str = PROGRAM) -> dict[str, Entry]:
    """The kit's files in an assignment of `lab`, or of all labs, by name. `started`: the module
    that grades. CannotDo when a file is missing."""
    left_out = (*NOT_FOR_A_GRADE, *_other_labs(load_labs(kit), lab))
    imported = imports.closure(kit.root / "autograder", [started])
    needed = {path.relative_to(kit.root).as_posix() for path in imported}
    names = [
        name
        for name in tree.tracked(kit)
        if name in needed or not tree.matches(name, (*left_out, "autograder/failslow/*.py"))
    ]
    files = {name: kit.root / name for name in names}
    files |= {name: kit.root / SCRIPTS_DIRECTORY / name for name in SCRIPTS}
    return {name: tree.entry(path) for name, path in files.items()}


def _other_labs(labs: Labs, lab: str | None) -> list[str]:
    """Patterns of what belongs to labs that `lab` does not need. A lab's given code may use that of
    a lab whose files it replaces, so such a lab is needed, too."""
    if lab is None:
        return []
    needed = {lab}
    for each in reversed(labs.by_id.values()):
        if each.id in needed:
            needed |= {*each.needs}
    return tree.of_labs(labs.by_id.keys() - needed)


def settings(kit: Kit, assignment: Assignment, key: CourseKey) -> dict[str, Entry]:
    """The key and the assignment, by name."""
    return {
        _name(kit, kit.course_key): Entry(key.file_text.encode()),
        _name(kit, kit.assignment): Entry(assignment.file_text.encode()),
    }


def _name(kit: Kit, path: Path) -> str:
    return path.relative_to(kit.root).as_posix()
