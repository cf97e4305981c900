"""A folder of submissions: a directory or a zip file for each student."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from failslow.errors import BadSubmission, CannotDo
from failslow.labs import Labs
from failslow.submission import FILE_BYTES_MAX, listed, prefixes

ZIP = ".zip"

DAMAGE = (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError)
"""What reading a damaged or encrypted file raises: it depends on where the damage is."""


@dataclass(frozen=True)
class Handed:
    """What one student handed in. `name`: of the entry in the folder, without ".zip"."""

    name: str
    path: Path


def find(directory: Path) -> list[Handed]:
    """By name. CannotDo if there is none, or two have the same name."""
    if not directory.is_dir():
        raise CannotDo(f"no such directory: {directory}")
    entries = [path for path in directory.iterdir() if not path.name.startswith(".")]
    found = [
        Handed(path.stem if path.suffix == ZIP else path.name, path)
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


@contextmanager
def tree_of(handed: Handed, labs: Labs) -> Iterator[Path]:
    """The submission as a tree. Of a zip file, only what the labs list is unpacked.

    BadSubmission if it is no zip file, or a listed file is too large.
    """
    if handed.path.is_dir():
        yield handed.path
        return
    with TemporaryDirectory(prefix="failslow-batch-") as name:
        _unpack(handed, labs, Path(name))
        yield Path(name)


def _unpack(handed: Handed, labs: Labs, tree: Path) -> None:
    try:
        with zipfile.ZipFile(handed.path) as archive:
            for prefix in prefixes(name.partition("/")[0] for name in archive.namelist()):
                found = [each for each in _places(labs) if prefix + each in archive.NameToInfo]
                for place in found:
                    _extract(archive, prefix + place, tree / place)
                if found:
                    return
    except DAMAGE as error:
        raise BadSubmission(
            f"{handed.path.name} is no zip file that can be read: {error}"
        ) from error


def _places(labs: Labs) -> Iterator[str]:
    for lab in labs.by_id.values():
        for file in listed(lab):
            yield from (f"{lab.directory}/{file}", f"{lab.directory}/src/{file}")


def _extract(archive: zipfile.ZipFile, name: str, to: Path) -> None:
    with archive.open(name) as packed:
        content = packed.read(FILE_BYTES_MAX + 1)  # whatever size the archive claims
    if len(content) > FILE_BYTES_MAX:
        raise BadSubmission(f"{name} is larger than {FILE_BYTES_MAX >> 20} MiB")
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(content)
