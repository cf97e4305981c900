"""The file of a journal: a line of JSON for each step, added while its student agrees.

The student's word is a line, too: BEGIN or END. Without the file nothing is kept. It shows how work
went on, and proves nothing: its student may edit it.
"""

import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from pathlib import Path

from failslow.base import console
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import load_labs
from failslow.lab.submission import collect

FILE = "journal.jsonl"
BEGIN, END = "begin", "end"

ASKED = """\
A journal shows how your work went on. If you agree, each `./kit test`, `./kit replay` and
`./kit submit` adds a line to journal.jsonl: the time, the lab, the test, a hash of your listed
files, the seed and the result. Nothing else is kept, and nothing leaves this machine until
`./kit submit` puts the file beside your sources. You may read the file, and delete it.
`./kit journal --stop` ends it."""


@dataclass(frozen=True)
class Entry:
    """`at`: ISO 8601 in UTC. `do`: the command, BEGIN or END. `what`: the test, or the filter; ""
    for all. `sources`: a hash of the listed files, or "". `seed`: "" for the test's own."""

    at: str
    do: str
    lab: str = ""
    what: str = ""
    seed: str = ""
    result: str = ""
    sources: str = ""

    @property
    def time(self) -> datetime:
        return datetime.fromisoformat(self.at).astimezone(timezone.utc)


NAMES = [each.name for each in fields(Entry)]


def path_of(kit: Kit) -> Path:
    return kit.root / FILE


def is_kept(kit: Kit) -> bool:
    """Whether the student's last word is a yes."""
    path = path_of(kit)
    found = read(path.read_bytes()) if path.is_file() else []
    return [each.do for each in found if each.do in (BEGIN, END)][-1:] == [BEGIN]


def read(content: bytes) -> list[Entry]:
    """The lines that are entries. Others are left out: a command may have died in its line, and a
    student may have edited the file."""
    found = []
    for line in content.splitlines():
        try:
            pairs = json.loads(line).items()
            entry = Entry(**{name: str(value) for name, value in pairs if name in NAMES})
            found += [entry] if datetime.fromisoformat(entry.at).tzinfo else []
        except (AttributeError, TypeError, ValueError):
            continue
    return found


def add(kit: Kit, do: str, **rest: str) -> None:
    """`rest`: the other fields of an Entry. CannotDo when the file cannot be written."""
    entry = Entry(datetime.now(timezone.utc).isoformat(timespec="seconds"), do, **rest)
    try:
        with path_of(kit).open("a", encoding="utf-8") as file:
            told = {name: text for name, text in asdict(entry).items() if text}
            file.write(json.dumps(told) + "\n")
    except OSError as error:
        raise CannotDo(f"cannot write {path_of(kit)}: {error.strerror}") from error


def add_step(kit: Kit, do: str, lab: str | None, directory: Path | None, **rest: str) -> None:
    """Does nothing without the student's word. A file that cannot be written is told, and stops no
    command. `lab`: None for all. `directory`: of the files; None for the kit's own."""
    if is_kept(kit):
        try:
            sources = _digest(kit, directory or kit.labs, lab)
            add(kit, do, lab=lab or "", sources=sources, **rest)
        except CannotDo as error:
            console.note(f"The journal lacks this step: {error}")


def _digest(kit: Kit, directory: Path, lab: str | None) -> str:
    """Equal for equal listed files; "" if one cannot be read."""
    try:
        return collect(kit, load_labs(kit), directory, lab).digest[:12]
    except (BadSubmission, CannotDo):
        return ""
