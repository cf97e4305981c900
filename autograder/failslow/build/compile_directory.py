"""The directory of a compiler in its sandbox: a directory with all that it may read, but for the
system's files.

    src/    the submitted files
    given/  of the kit: headers, given sources, libraries, with nothing beside them
    out/N/  one program's own: it writes nowhere else

As root each program has a user of its own, who can neither reach the kit's checkout nor write
what another program has made.
"""

import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.build.sandbox import CANNOT, CompilerSandbox

READABLE, SEARCHABLE = 0o644, 0o755
RESULT = "result"
SAME_TIME = {"SOURCE_DATE_EPOCH": "0"}
"""Fixes __DATE__ and __TIME__: a program must not know when it was compiled."""


class CompileDirectory:
    """Its methods may run side by side."""

    def __init__(self, root: Path, kit_root: Path, sandbox: CompilerSandbox) -> None:
        self._root = root
        self._kit_root = kit_root
        self._walls = sandbox
        self._kit_path = re.compile(re.escape(str(kit_root)) + r"/[^,=\s]+")
        self._numbers = count()
        self._copied: set[Path] = set()
        self._copying = threading.Lock()
        self.sources, self.given = root / "src", root / "given"
        for path in (self.sources, self.given, root / "out"):
            _make(path)

    def words(self, words: Sequence[str]) -> list[str]:
        """The words of a command, with each path of the kit at its place here. Copies it: of a
        directory the headers, and of a source the headers beside it, too."""
        with self._copying:
            return [self._kit_path.sub(lambda found: self._place(found[0]), word) for word in words]

    def copy(self, path: Path, name: str) -> str:
        """The place of a copy of a file that is not the kit's."""
        place = self.given / name
        _copy(path, place)
        return str(place)

    def run(self, argv: Sequence[str], output: Path, timeout_s: float) -> process.Completed:
        """Runs the program, which writes the file that `-o` names, and takes that to `output`.

        Raises CannotDo if there is no sandbox. Requires: the paths in `argv` are of the system or
        from `words`.
        """
        with self._own() as own:
            done = self._run([*argv, "-o", str(own / RESULT)], own, timeout_s)
            if done.exit_code == 0:
                _take(own / RESULT, output)
            return done

    def look(self, argv: Sequence[str], timeout_s: float) -> process.Completed:
        """Runs a program that writes only to its output."""
        with self._own() as own:
            return self._run(argv, own, timeout_s)

    @contextmanager
    def _own(self) -> Iterator[Path]:
        own = self._root / "out" / str(next(self._numbers))
        _make(own)
        try:
            yield own
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def _run(self, argv: Sequence[str], own: Path, timeout_s: float) -> process.Completed:
        done = process.run(
            self._walls.command(argv, [self.sources, self.given], own),
            cwd=self.sources,
            env={"TMPDIR": str(own), **SAME_TIME},
            timeout_s=timeout_s,
            merge_errors=True,
        )
        if done.exit_code == CANNOT:
            raise CannotDo("cannot build the sandbox around the compiler", done.output)
        return done

    def in_words(self, text: str) -> str:
        """A program's complaint, without the places of this directory."""
        for path in (self.given, self.sources, self._root):
            text = text.replace(f"{path}/", "")
        return text

    def _place(self, word: str) -> str:
        path = Path(word)
        place = self.given / path.relative_to(self._kit_root)
        if path in self._copied:
            return str(place)
        self._copied.add(path)
        if path.is_dir():
            _make(place)
            _copy_headers(path, path.rglob("*.h"), place)
        elif path.is_file():
            _copy(path, place)
            if path.suffix in (".cc", ".cpp"):
                _copy_headers(path.parent, path.parent.glob("*.h"), place.parent)
        return str(place)


@contextmanager
def opened(
    kit_root: Path, sandbox: CompilerSandbox, files: Mapping[str, bytes]
) -> Iterator[CompileDirectory]:
    """A directory with these submitted files, by their paths; it is removed at the end."""
    with tempfile.TemporaryDirectory(
        prefix="failslow-compile-", dir=_within_reach(), ignore_cleanup_errors=True
    ) as name:
        root = Path(name)
        root.chmod(SEARCHABLE)
        opened_directory = CompileDirectory(root, kit_root, sandbox)
        for path, content in files.items():
            write_source(opened_directory.sources / path, content)
        yield opened_directory


def _within_reach() -> str:
    """A directory of temporary files that the compiler's user can search down to. It often cannot
    reach the checkout."""
    usual = tempfile.gettempdir()
    for name in (usual, "/tmp", "/var/tmp"):
        path = Path(name).resolve()
        if all(each.is_dir() and each.stat().st_mode & 0o001 for each in (path, *path.parents)):
            return name
    return usual


def write_source(path: Path, content: bytes) -> None:
    """A file with the time of all sources: __TIMESTAMP__ shows it."""
    _make(path.parent)
    path.write_bytes(content)
    path.chmod(READABLE)
    os.utime(path, (0, 0))


def _make(path: Path) -> None:
    """Directories that everybody may search, whatever this process's mask is."""
    for each in [*reversed(path.parents), path]:
        if not each.exists():
            each.mkdir(exist_ok=True)
            each.chmod(SEARCHABLE)


def _copy_headers(directory: Path, headers: Iterator[Path], to: Path) -> None:
    for header in headers:
        _copy(header, to / header.relative_to(directory))


def _copy(path: Path, to: Path) -> None:
    if to.exists():
        return
    _make(to.parent)
    try:
        if path.stat().st_mode & READABLE == READABLE:
            os.link(path, to)
            return
    except OSError:
        pass  # another file system
    shutil.copyfile(path, to)
    to.chmod(READABLE)


def _take(result: Path, to: Path) -> None:
    """The result of a stranger's program: a file, and no link to one."""
    try:
        handle = os.open(result, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise CannotDo(f"the compiler left no result: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file, to.open("wb") as copy:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise CannotDo("the compiler left something else than a file")
        shutil.copyfileobj(file, copy)
