"""Writes the skeleton of a lab: the files of `template/`, with the names of the new lab.

The template is a lab of its own, `lab0-new-lab`, with the paths that its files have in a checkout.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import id_in, load_labs

TEMPLATE = Path(__file__).parent / "template"
NAME = re.compile(r"lab[1-9][0-9]*(-[a-z][a-z0-9]*)+")
PAGE = "site/docs/instructors/extending.md"


@dataclass(frozen=True)
class _Names:
    """The names of a lab with this directory: `lab10-read-leases`, for example."""

    directory: str

    @property
    def id(self) -> str:
        return id_in(self.directory)

    @property
    def words(self) -> list[str]:
        return self.directory.split("-")[1:]

    @property
    def replacements(self) -> dict[str, str]:
        """By the template's names; a longer one comes before its part."""
        return {
            "lab0-new-lab": self.directory,
            "lab0": self.id,
            "Lab 0": self.id.replace("lab", "Lab "),
            "new_lab": "_".join(self.words),
            "NewLab": "".join(map(str.capitalize, self.words)),
            "New lab": " ".join(self.words).capitalize(),
        }

    def put_into(self, text: str) -> str:
        for old, new in self.replacements.items():
            text = text.replace(old, new)
        return text


def run(kit: Kit, name: str) -> int:
    """0. CannotDo, before anything is written, for a bad name and for a lab that exists."""
    names = _named(kit, name)
    files = {kit.root / names.put_into(place): text for place, text in _template().items()}
    for path in files:
        if path.exists():
            raise CannotDo(f"{path.relative_to(kit.root)} exists")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(names.put_into(text), encoding="utf-8")
    for path in files:
        console.note(f"Wrote {path.relative_to(kit.root)}")
    print(_next_steps(names))
    return 0


def _named(kit: Kit, name: str) -> _Names:
    if not NAME.fullmatch(name):
        raise CannotDo(f"'{name}' is no name of a lab: write labNUMBER-WORDS, as in lab9-gossip")
    names = _Names(name)
    if found := load_labs(kit).by_id.get(names.id):
        raise CannotDo(f"{names.id} exists: labs/{found.directory}")
    return names


def _template() -> dict[str, str]:
    """The texts, by place."""
    return {
        path.relative_to(TEMPLATE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(TEMPLATE.rglob("*"))
        if path.is_file()
    }


def _next_steps(names: _Names) -> str:
    lab, reference = names.id, f"reference-solutions/{names.directory}"
    return f"""
The lab is complete, and does little. See that it works, then change it:
  ./kit grade reference-solutions --lab {lab}      full marks
  ./kit grade labs --lab {lab}                     the starter: no points
  ./kit grade {reference}/mutants/counts-the-dead.patch
  ./kit site build                                 its page: handouts/{names.directory}.md
  git add labs reference-solutions autograder/hidden handouts

Read first: {PAGE} lists the files, 2,500 lines at most."""
