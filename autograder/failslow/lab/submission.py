"""Takes exactly the files that the labs list from a submitted tree."""

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Lab, Labs

FILE_BYTES_MAX = 1 << 20

MACOS = "__MACOSX"
"""Entries that macOS adds to the top of an archive."""

SOURCES = (".cc", ".cpp")

BASE = "base/"
"""Begins the places of the reference's files."""

AnswerFile = bytes | str
"""The contents of a file of answers, or why there are none."""


@dataclass(frozen=True)
class Submission:
    """The labs to grade, and the listed files' contents by path in the tree to compile.

    `answers`: of the labs with a diagnosis, by id. They are not in that tree.
    """

    labs: tuple[Lab, ...]
    files: dict[str, bytes]
    answers: dict[str, AnswerFile] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Equal for equal files of equal names."""
        digest = hashlib.sha256()
        for name in sorted(self.files):
            digest.update(name.encode() + hashlib.sha256(self.files[name]).digest())
        return digest.hexdigest()


def listed(lab: Lab) -> tuple[str, ...]:
    """The files of a lab that count, with the answers of a diagnosis."""
    return (*lab.files, *((lab.diagnosis.file,) if lab.diagnosis else ()))


def place(graded: Lab, part_of: Lab) -> str:
    """The directory of a lab's files in the tree to compile, when `graded` is built on them.

    The reference's files are in a separate directory: a submitted lab 1 may be graded together
    with a lab 2 that is built on the reference's lab 1.
    """
    return part_of.directory if _is_submitted(graded, part_of) else f"{BASE}{part_of.directory}"


def _is_submitted(graded: Lab, part_of: Lab) -> bool:
    return part_of is graded or graded.base == "submission"


def collect(kit: Kit, labs: Labs, tree: Path, only: str | None = None) -> Submission:
    """Reads a submission.

    The root of `tree` (see `root_of`) holds `<lab directory>/<file>`, or
    `<lab directory>/src/<file>` as in `labs/`. Labs absent from the tree are not graded. `only`
    grades one lab, and reads the labs it needs.

    Raises CannotDo for a missing directory or unknown lab. Raises BadSubmission for a tree without
    any lab, for a missing listed file, and for a missing needed lab.
    """
    wanted = [labs.get(only)] if only else list(labs.by_id.values())
    if not tree.is_dir():
        raise CannotDo(f"no such directory: {tree}")
    tree = root_of(tree, labs)
    graded = [lab for lab in wanted if source_directory(tree, lab) is not None]
    if not graded:
        names = ", ".join(f"{lab.directory}/" for lab in wanted)
        # No path: an archive's own tree has another one each time.
        raise BadSubmission(
            f"the tree holds no submission of {names}, neither at its top nor in labs/"
        )
    files: dict[str, bytes] = {}
    for lab in graded:
        for part_of in labs.closure(lab):
            submitted = _is_submitted(lab, part_of)
            taken = (
                _read_lab(kit, tree, part_of, lab) if submitted else _read_base(kit, part_of, lab)
            )
            for name, content in taken.items():
                files[f"{place(lab, part_of)}/{name}"] = content
    answers = {lab.id: _answers(tree, lab) for lab in graded if lab.diagnosis}
    return Submission(tuple(graded), files, answers)


def root_of(tree: Path, labs: Labs) -> Path:
    """The root of the labs' directories: the top; `labs/`, as in a clone; or either of these
    below a single directory. `tree` if they are nowhere. Follows no links."""
    for root in (tree / prefix for prefix in prefixes(each.name for each in tree.iterdir())):
        below = [root, *root.parents][: len(root.relative_to(tree).parts)]
        if any(each.is_symlink() for each in below):
            continue
        if any(source_directory(root, lab) for lab in labs.by_id.values()):
            return root
    return tree


def prefixes(names: Iterable[str]) -> list[str]:
    """The possible roots of the labs' directories, by the names at the top of a tree or archive."""
    tops = {name for name in names if not name.startswith(".") and name != MACOS}
    below = tops if len(tops) == 1 else ()
    return ["", "labs/", *(f"{top}/{more}" for top in below for more in ("", "labs/"))]


def _answers(tree: Path, lab: Lab) -> AnswerFile:
    """Bad answers cost their own points: they are no reason to refuse a submission."""
    directory = source_directory(tree, lab)
    assert directory is not None and lab.diagnosis is not None
    try:
        return read_file(tree, directory / lab.diagnosis.file)
    except BadSubmission as error:
        return str(error)


def source_directory(tree: Path, lab: Lab) -> Path | None:
    """The directory of a lab's files in a tree, or None when the lab is absent."""
    for directory in (tree / lab.directory, tree / lab.directory / "src"):
        if any((directory / name).exists() for name in lab.files):
            return directory
    return None


def _read_lab(kit: Kit, tree: Path, lab: Lab, for_lab: Lab) -> dict[str, bytes]:
    directory = source_directory(tree, lab)
    if directory is None:
        raise BadSubmission(
            f"{for_lab.id} needs {lab.id}, but {lab.directory}/ is missing from the submission"
        )
    changed: dict[str, bytes] = {}
    if tree.resolve() == kit.reference.resolve():
        # In no other tree a file is a change of another. A students' kit has no such module.
        from failslow.lab.reference import changed_files

        changed = changed_files(directory)
    return {name: changed.get(name) or read_file(tree, directory / name) for name in lab.files}


def _read_base(kit: Kit, lab: Lab, for_lab: Lab) -> dict[str, bytes]:
    """The reference's files. A students' kit has its headers, and objects in place of sources."""
    if kit.reference.is_dir():
        return _read_lab(kit, kit.reference, lab, for_lab)
    directory = kit.catch_up(lab.directory)
    try:
        return {name: (directory / name).read_bytes() for name in map(object_for, lab.files)}
    except OSError as error:
        raise CannotDo(
            f"{for_lab.id} is built on the course's {lab.id}, which this kit lacks"
            f" ({directory.relative_to(kit.root)}): ask your instructor"
        ) from error


def object_for(name: str) -> str:
    """The name of the object that replaces a source, and of a header its own."""
    return str(PurePosixPath(name).with_suffix(".o")) if name.endswith(SOURCES) else name


def read_file(tree: Path, path: Path) -> bytes:
    """A submitted file. BadSubmission when it is missing, a link, not a regular file, or too large.
    Requires: `path` is below `tree`."""
    shown = path.relative_to(tree)
    # A link could name a hidden test, whose lines the compiler's complaint would show; a FIFO would
    # hang the grader.
    below = [path, *path.parents][: len(shown.parts)]
    if link := next((each for each in below if each.is_symlink()), None):
        raise BadSubmission(f"{link.relative_to(tree)} is a symbolic link; hand in the file itself")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise BadSubmission(f"{shown} is missing or unreadable: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise BadSubmission(f"{shown} is not a regular file")
        if status.st_nlink > 1:
            raise BadSubmission(f"{shown} is a hard link; hand in a copy")
        if status.st_size > FILE_BYTES_MAX:
            raise BadSubmission(f"{shown} is larger than {FILE_BYTES_MAX >> 20} MiB")
        return file.read()
