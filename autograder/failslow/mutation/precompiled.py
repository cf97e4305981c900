"""The given headers of a lab's files, compiled once for all changes of these files."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from failslow import atomic, process
from failslow.compile import COMPILE_TIMEOUT_S, headers_digest, include_directories
from failslow.errors import CouldNotGrade
from failslow.kit import Kit
from failslow.labs import Lab
from failslow.mutants import reference_of
from failslow.recipe import Recipe

INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
HEADER = "given.h"


def with_given_headers(kit: Kit, lab: Lab, recipe: Recipe) -> Recipe:
    """The recipe that reads these headers before each source, in their compiled form."""
    names = given_headers(kit, lab, recipe)
    key = hashlib.sha256(headers_digest(kit, recipe) + "\n".join(names).encode()).hexdigest()[:20]
    final = kit.build / "mutation" / key
    if not final.is_dir():
        with atomic.directory(final) as scratch:
            text = "".join(f"#include <{name}>\n" for name in names)
            (scratch / HEADER).write_text("#pragma once\n" + text)
            _compile(recipe, lab, scratch / HEADER)
    return replace(recipe, flags=(*recipe.flags, "-include", str(final / HEADER)))


def _compile(recipe: Recipe, lab: Lab, header: Path) -> None:
    argv = [recipe.compiler, *recipe.flags, "-x", "c++-header", "-c", str(header)]
    argv += ["-o", str(header.with_suffix(".h.gch"))]
    done = process.run(argv, timeout_s=COMPILE_TIMEOUT_S, merge_errors=True)
    if done.exit_code != 0:
        raise CouldNotGrade(f"the headers of {lab.id} do not compile", done.output)


def given_headers(kit: Kit, lab: Lab, recipe: Recipe) -> list[str]:
    """What the lab's files include, but for the files of labs themselves."""
    directory = reference_of(kit, lab)
    text = "".join((directory / name).read_text(encoding="utf-8") for name in lab.files)
    ours = [path for path in include_directories(recipe.flags) if kit.root in path.parents]
    return sorted(
        name
        for name in set(INCLUDE.findall(text))
        if "." not in Path(name).name or any((path / name).is_file() for path in ours)
    )
