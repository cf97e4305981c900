"""The headers that a student's source includes before any code, parsed once for many edits.

A precompiled header that holds more would hide a forgotten #include, which the grader would find.
So each source has its own: the headers that it, and its own header first, name before anything
else. It is made when the source is compiled for the second time: most sources never are.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from failslow.base import atomic, cache

ENTRIES_MAX = 4
"""Some 100 MB each."""
HEADER = "before.h"
BINARY = "before.h.gch"
"""GCC takes it in place of HEADER, and so does clang. It reads HEADER if the flags differ."""

_INCLUDE = re.compile(r'\s*#\s*include\s*(<[\w./+-]+>|"[\w./+-]+")\s*(?://.*)?')
_ONCE = re.compile(r"^\s*#\s*pragma\s+once\b", re.M)
_NO_CODE = re.compile(r"\s*(?://.*|#\s*pragma\s+once\s*)?")


def before_code(source: Path, directories: Iterable[Path]) -> list[str]:
    """The words of the #include lines that the compiler sees before any code of the student's.

    A header in the directory of `source` is the student's: its own lines count, and end the list.
    One without `#pragma once` ends it, too: the source includes it a second time. `directories`: of
    the other headers.
    """
    found: list[str] = []
    seen: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        seen.add(file)
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if (include := _INCLUDE.fullmatch(line)) is None:
                if _NO_CODE.fullmatch(line):
                    continue
                break
            own = source.parent / include[1].strip('"<>')
            if include[1].startswith('"') and own.is_file():
                left += [own] if own not in seen else []
                break
            if include[1].startswith('"') and not _is_guarded(include[1].strip('"'), directories):
                break
            found.append(include[1])
    return found


def _is_guarded(name: str, directories: Iterable[Path]) -> bool:
    file = next((each / name for each in directories if (each / name).is_file()), None)
    return file is not None and bool(_ONCE.search(file.read_text("utf-8", "replace")))


def words(entry: Path, includes: list[str], make: Callable[[Path, Path], bool]) -> list[str]:
    """The compiler's words that name the precompiled header; none at the first call for `entry`.

    `entry`: a directory that stands for `includes` and all that they depend on.
    `make`: compiles a header, its first argument, into its second; False if that fails.
    """
    if not cache.hold(entry):
        entry.mkdir(parents=True, exist_ok=True)
        cache.keep_latest(entry.parent, ENTRIES_MAX)
        return []
    header = entry / HEADER
    if not (entry / BINARY).is_file():
        # Another source, or another command, may make it at the same time.
        atomic.write_text(header, "".join(f"#include {word}\n" for word in includes))
        with TemporaryDirectory(dir=entry) as unfinished:
            binary = Path(unfinished) / BINARY
            if not make(header, binary):
                return []
            binary.replace(entry / BINARY)
    return ["-include", str(header)]
