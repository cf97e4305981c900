"""A folder of submissions: a directory or a zip file for each student."""

import hashlib
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from failslow.base import printable
from failslow.base.errors import BadSubmission, CannotDo
from failslow.lab.labs import Labs
from failslow.lab.submission import FILE_BYTES_MAX, listed, prefixes

ZIP = ".zip"


@dataclass(frozen=True)
class Handed:
    """One student's submission. `name`: of the entry in the folder, without ".zip", printable."""

    name: str
    path: Path


def find(directory: Path) -> list[Handed]:
    """By name. CannotDo if there is none, or two have the same name."""
    if not directory.is_dir():
        raise CannotDo(f"no such directory: {directory}")
    entries = [path for path in directory.iterdir() if not path.name.startswith(".")]
    found = [
        Handed(_name(path.stem if path.suffix == ZIP else path.name), path)
        for path in sorted(entries)
        if path.is_dir() or path.suffix == ZIP
    ]
    if not found:
        raise CannotDo(f"{directory} holds no submission: a directory or a zip file for each")
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise CannotDo(f"{directory} holds both {name}/ and {name}{ZIP}")
    return found


def _name(name: str) -> str:
    """A name that can be printed, and that no other entry has."""
    shown = printable.text(name.replace("\n", "?").replace("\t", "?"))
    mark = hashlib.sha256(os.fsencode(name)).hexdigest()[:6]
    return name if shown == name else f"{shown}-{mark}"


@contextmanager
def tree_of(handed: Handed, labs: Labs) -> Iterator[Path]:
    """The submission as a tree. Of a zip file, only what the labs list is unpacked.

    BadSubmission if it is no zip file, or a listed file is too large, or the entry is a link: it
    could lead to another student's.
    """
    if handed.path.is_symlink():
        raise BadSubmission(f"{handed.path.name} is a symbolic link; hand in the files themselves")
    if handed.path.is_dir():
        yield handed.path
        return
    with TemporaryDirectory(prefix="failslow-batch-") as name:
        _unpack(handed, labs, Path(name))
        yield Path(name)


def _unpack(handed: Handed, labs: Labs, tree: Path) -> None:
    try:
        contents = _listed_in(handed.path, labs)
    except BadSubmission:
        raise
    except Exception as error:  # each kind of damage is another one, of several libraries
        name = handed.path.name
        raise BadSubmission(f"{name} is no zip file that can be read: {error}") from error
    for place, content in contents.items():
        path = tree / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _listed_in(path: Path, labs: Labs) -> dict[str, bytes]:
    """The listed files of an archive, by their places below the root of a submission."""
    with _regular_file(path) as file, zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        for prefix in prefixes(name.partition("/")[0] for name in names):
            found = [each for each in _places(labs) if prefix + each in archive.NameToInfo]
            if found:
                return {each: _read(archive, prefix + each) for each in found}
    return {}


@contextmanager
def _regular_file(path: Path) -> Iterator[BinaryIO]:
    """BadSubmission for a FIFO, which would be waited for, and the like."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadSubmission(f"{path.name} is no regular file")
        yield file


def _places(labs: Labs) -> Iterator[str]:
    for lab in labs.by_id.values():
        for file in listed(lab):
            yield from (f"{lab.directory}/{file}", f"{lab.directory}/src/{file}")


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as packed:
        content = packed.read(FILE_BYTES_MAX + 1)  # whatever size the archive claims
    if len(content) > FILE_BYTES_MAX:
        raise BadSubmission(f"{name} is larger than {FILE_BYTES_MAX >> 20} MiB")
    return content
