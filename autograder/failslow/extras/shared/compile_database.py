"""compile_commands.json at the root of the checkout: the compilation of each file, for editors.

CMake's own database (build/release/) lacks what `kit` compiles by itself: the files that students
write, and the given sources around them.
"""

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from failslow.base import atomic
from failslow.base.kit import Kit
from failslow.build.recipe import Recipe, without_precompiled
from failslow.lab.labs import Lab, Labs

NAME = "compile_commands.json"
SIM = "_sim"
INCLUDED = re.compile(r'^#include "(/.+)"$', re.M)
"""A source in the file that CMake makes of a batch of sources, for one compilation."""

Entry = dict[str, Any]


def write(kit: Kit, labs: Labs, recipe: Recipe, preset: str) -> None:
    """Writes the file unless it is of the release build and this is another one, or newer than
    CMake's own: each run of CMake writes that.

    Requires: the recipe is the preset's.
    """
    path = kit.root / NAME
    if path.is_file() and (preset != "release" or _is_newer(path, kit.preset(preset) / NAME)):
        return
    entries: dict[str, Entry] = {}
    for entry in [*_of_labs(kit, labs, recipe), *of_cmake(kit.preset(preset))]:
        entries.setdefault(entry["file"], entry)
    atomic.write_text(path, json.dumps([*entries.values()], indent=1) + "\n")
    if preset != "release":
        os.utime(path, (0, 0))  # the release build's replaces it


def _is_newer(path: Path, other: Path) -> bool:
    return other.is_file() and path.stat().st_mtime > other.stat().st_mtime


def _of_labs(kit: Kit, labs: Labs, recipe: Recipe) -> Iterator[Entry]:
    for lab in labs.by_id.values():
        command = [recipe.compiler, *recipe.flags, *_includes(kit, labs, lab)]
        sources = [kit.labs / lab.directory / "src" / name for name in lab.files]
        for name in recipe.programs:
            if name.startswith(f"{lab.id}_") and name.endswith(SIM):
                sources += map(Path, recipe.programs[name].sources)
        for source in sources:
            if source.suffix in (".cc", ".cpp"):
                yield _entry(kit.root, command, source)


def _includes(kit: Kit, labs: Labs, lab: Lab) -> list[str]:
    """Include paths in a submission's order: the lab's own, then those of the labs it needs."""
    return [f"-I{kit.labs / each.directory / 'src'}" for each in reversed(labs.closure(lab))]


def _entry(directory: Path, command: list[str], source: Path) -> Entry:
    return {
        "directory": str(directory),
        "file": str(source),
        "arguments": [*command, "-c", str(source)],
    }


def of_cmake(build: Path) -> Iterator[Entry]:
    """Each source alone, without precompiled headers: clangd cannot read those of gcc. Nothing in a
    directory without a database."""
    path = build / NAME
    if not path.is_file():
        return
    for entry in json.loads(path.read_text(encoding="utf-8")):
        words = without_precompiled(tuple(shlex.split(entry["command"])))
        for source in _sources(entry["file"]):
            yield {
                "directory": entry["directory"],
                "file": source,
                "arguments": [source if word == entry["file"] else word for word in words],
            }


def _sources(file: str) -> list[str]:
    """The sources of a batch; a source is its own."""
    path = Path(file)
    is_batch = path.parent.name == "Unity" and path.is_file()
    return INCLUDED.findall(path.read_text(encoding="utf-8")) if is_batch else [file]
