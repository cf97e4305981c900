"""`kit journal`: asks a student once whether to keep a journal, and draws it."""

import sys
import zipfile
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.journal import entries, page
from failslow.lab.submission import FILE_BYTES_MAX

PAGE = Path("out/journal.html")


def run(kit: Kit, file: Path | None, agrees: bool, stops: bool, out: Path) -> int:
    """`file`: a journal, or what `kit submit` made, to look at; None for the student's own."""
    if file:
        return _draw(_read(file), file, out)
    mine, kept = entries.path_of(kit), entries.is_kept(kit)
    if kept and stops:
        entries.add(kit, entries.END)
    elif not kept and not stops and (agrees or (not mine.exists() and _is_agreed())):
        entries.add(kit, entries.BEGIN)
    now = "The journal is kept" if entries.is_kept(kit) else "No journal is kept now"
    console.note(f"{now}: {mine}")
    return _draw(entries.read(mine.read_bytes()), mine, out) if mine.exists() else 0


def _is_agreed() -> bool:
    print(entries.ASKED)
    if not sys.stdin.isatty():
        raise CannotDo("a journal needs your word: ./kit journal --yes")
    return input("Keep a journal? [y/N] ").strip().lower() in ("y", "yes")


def _read(file: Path) -> list[entries.Entry]:
    try:
        if not zipfile.is_zipfile(file):
            return entries.read(file.read_bytes())
        with zipfile.ZipFile(file) as archive:
            if archive.getinfo(entries.FILE).file_size > FILE_BYTES_MAX:
                raise CannotDo(f"the journal in {file} is larger than {FILE_BYTES_MAX >> 20} MiB")
            return entries.read(archive.read(entries.FILE))
    except KeyError as error:
        raise CannotDo(f"{file} has no {entries.FILE}: its student keeps none") from error
    except (OSError, zipfile.BadZipFile) as error:
        raise CannotDo(f"cannot read {file}: {error}") from error


def _draw(found: list[entries.Entry], source: Path, out: Path) -> int:
    if not found:
        raise CannotDo(f"{source} has no line of a journal")
    atomic.write_text(out, page.document(found))
    console.note(f"Wrote {out} ({len(found)} lines of {source}): open it in a browser")
    return 0
