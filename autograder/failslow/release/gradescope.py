"""`kit release gradescope`: the zip file of an assignment's autograder.

It has the files of the kit that git tracks, the scripts that Gradescope wants at the top, the
course key, and what the assignment is about.
"""

import zipfile
from pathlib import Path

from failslow import atomic, zip_file
from failslow.assignment import Assignment
from failslow.course_key import CourseKey
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.release import tree
from failslow.zip_file import Entry

SCRIPTS = ("setup.sh", "run_autograder", "Dockerfile")
SCRIPTS_DIRECTORY = "autograder/gradescope"


def write(kit: Kit, out: Path, assignment: Assignment, key: CourseKey) -> int:
    """Writes the file whole, for its owner alone: it holds the key. Returns the number of its
    entries.

    CannotDo when `out` cannot be written or a file of the kit is missing.
    """
    entries = program(kit) | settings(kit, assignment, key)
    atomic.write_bytes(out, zip_file.packed(entries, zipfile.ZIP_DEFLATED), 0o600)
    return len(entries)


def program(kit: Kit) -> dict[str, Entry]:
    """What is the same for all assignments, by name. CannotDo when a file is missing."""
    # Of docker-compose.yml's images. An image of the assignment needs everything, the key, too.
    files = {name: kit.root / name for name in tree.tracked(kit) if name != ".dockerignore"}
    files |= {name: kit.root / SCRIPTS_DIRECTORY / name for name in SCRIPTS}
    return {name: _entry(path) for name, path in files.items()}


def settings(kit: Kit, assignment: Assignment, key: CourseKey) -> dict[str, Entry]:
    """The key and the assignment, by name."""
    return {
        _name(kit, kit.course_key): Entry(key.file_text.encode()),
        _name(kit, kit.assignment): Entry(assignment.file_text.encode()),
    }


def _entry(path: Path) -> Entry:
    if not path.is_file():
        raise CannotDo(f"{path} is missing from the checkout")
    return Entry(path.read_bytes(), tree.executable(path))


def _name(kit: Kit, path: Path) -> str:
    return path.relative_to(kit.root).as_posix()
