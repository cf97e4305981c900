"""Writes files and directories atomically: readers see all of one or nothing."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from failslow.base.errors import CannotDo


def write_text(path: Path, text: str) -> None:
    """Replaces `path` with `text` in one step; readers see the old file or the new one.

    Creates its directory if it is missing. CannotDo when the file cannot be written.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes bytes as `write_text` writes text."""
    try:
        with _replacing(path) as temporary:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
    except OSError as error:
        raise CannotDo(f"cannot write {path}: {error.strerror}") from error


def copy(source: Path, final: Path) -> None:
    """Makes `final` a copy of `source` in one step. Creates its directory if it is missing."""
    with _replacing(final) as temporary:
        shutil.copyfile(source, temporary)


@contextmanager
def _replacing(final: Path) -> Iterator[Path]:
    """An empty file that replaces `final` when the body succeeds, and is removed otherwise."""
    final.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{final.name}.", dir=final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def directory(final: Path) -> Iterator[Path]:
    """A scratch directory that becomes `final` when the body succeeds, and is removed otherwise.

    If another process made `final` meanwhile, that one stays: both were made from the same key.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
    try:
        yield scratch
        try:
            scratch.rename(final)
        except OSError:
            if not final.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
