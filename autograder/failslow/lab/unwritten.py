"""Functions of earlier labs that a student has not written, though a lab is built on them.

A comment with TODO marks the stubs below it in a starter. A function is unwritten while the
student's file has its stub's code, however that is spaced and commented.
"""

import json
import re

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Lab, Labs
from failslow.lab.submission import Submission, place

FUNCTION = re.compile(r"^\w(?:.*|[\s\S]*?\n)\}$", re.M)
MARKED = re.compile(rf"^//.*TODO.*\n((?://.*\n|(?:{FUNCTION.pattern})\n)+)", re.M)
"""Functions below a comment with TODO, up to an empty line."""
COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
NAMED = 6
"""Functions that a remark names; it counts the others."""

Stubs = dict[str, dict[str, str]]
"""The code without blanks by LAB_DIRECTORY/FILE and the function's name."""


def remarks(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> list[str]:
    """A sentence for each needed lab with unwritten functions, the earliest lab first. Labs that
    only clusters run have none, nor has the reference."""
    stubs = load_stubs(kit)
    found = []
    for needed in labs.closure(lab)[:-1]:
        if needed.id in lab.only_in_clusters:
            continue
        directory = place(lab, needed)
        names = [
            name
            for file in needed.files
            for name in _left(stubs, submission.files, f"{directory}/{file}")
        ]
        if names:
            found.append(
                f"{needed.id}: {_named(names)} not written: {lab.id} is built on {needed.id};"
                f" begin with ./kit test {needed.id}"
            )
    return found


def copies(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> list[str]:
    """A sentence for each of the lab's own files with unwritten functions that begins as a copy of
    an earlier lab's."""
    stubs = load_stubs(kit)
    return [
        f"{lab.id}: {_named(names)} not written in {file}, which begins as a copy of your"
        f" {copied.id}'s: labs/{copied.directory}/src/{file}"
        for file, copied in labs.copied(lab).items()
        if (names := _left(stubs, submission.files, f"{lab.directory}/{file}"))
    ]


def load_stubs(kit: Kit) -> Stubs:
    """Those of the starters. A students' kit has no starters left, and a file of their stubs.
    CannotDo when that file is damaged."""
    if not kit.stubs.is_file():
        return {
            f"{path.parents[1].name}/{path.name}": stubs_in(path.read_text("utf-8"))
            for path in sorted(kit.labs.glob("*/src/*.cc"))
        }
    try:
        stubs: Stubs = json.loads(kit.stubs.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CannotDo(f"cannot read {kit.stubs}: {error}") from error
    return stubs


def save_stubs(kit: Kit) -> None:
    """Requires: the labs' sources are the starters."""
    atomic.write_text(kit.stubs, json.dumps(load_stubs(kit), indent=1) + "\n")


def stubs_in(starter: str) -> dict[str, str]:
    """The code without blanks by the function's name. Requires: clang-format's layout."""
    functions = (code for part in MARKED.findall(starter) for code in FUNCTION.findall(part))
    return {code.partition("(")[0].split()[-1].lstrip("*&"): _packed(code) for code in functions}


def _left(stubs: Stubs, files: dict[str, bytes], path: str) -> list[str]:
    code = _packed(files[path].decode("utf-8", "replace")) if stubs.get(path) else ""
    return [name for name, stub in stubs.get(path, {}).items() if stub in code]


def _packed(code: str) -> str:
    return "".join(COMMENT.sub("", code).split())


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    more = len(names) - NAMED
    *first, last = names if more <= 0 else [*names[:NAMED], f"{more} more"]
    return f"{', '.join(first)} and {last} are"
