"""Mistakes in given code: `reference-solutions/LAB/given/NAME.patch`, graded with the reference.

The diff changes files of `labs/`. The directories of these files are copied, and the copies are
patched. The reference's programs are built with the copies: sources, headers, and the libraries
that are made of such sources. Tests and checkers stay as they are.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import atomic, cache
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.recipe import Program, Recipe, load_libraries
from failslow.lab.mutants import GIVEN, Mutant, apply, load_mutant, patches, split

KEPT = 16
CHANGED = re.compile(r"^--- a/(labs/\S+)/[^/\s]+", re.M)
ANY = re.compile(r"^--- ", re.M)


@dataclass(frozen=True)
class GivenMutant(Mutant):
    """The reference is right, and what it is given has the mistake. The header is a mutant's."""

    @property
    def name(self) -> str:
        return f"given/{super().name}"


def is_given_mutant(path: Path) -> bool:
    return path.suffix == ".patch" and path.resolve().parent.name == GIVEN


def load(path: Path) -> GivenMutant:
    """CannotDo as of `load_mutant`."""
    return GivenMutant(**vars(load_mutant(path)))


def load_all(kit: Kit) -> list[GivenMutant]:
    """By lab, then by name."""
    return [load(path) for path in patches(kit, GIVEN)]


def recipe_with(kit: Kit, mutant: GivenMutant, recipe: Recipe) -> Recipe:
    """The recipe of a build with the mistake. CannotDo for a patch that does not fit.

    Requires: no library of the kit includes a changed header, but those made of the changed
    directories."""
    directories = _changed_directories(mutant)
    copy = _patched_copy(kit, mutant, directories)
    moved = {kit.root / name: copy / name for name in directories}
    made_of = load_libraries(kit) if recipe.programs else {}
    programs = {name: _with(each, made_of, moved) for name, each in recipe.programs.items()}
    flags = tuple(_moved_flag(flag, moved) for flag in recipe.flags)
    return replace(recipe, flags=flags, programs=programs)


def _changed_directories(mutant: GivenMutant) -> list[str]:
    diff = split(mutant.path)[1]
    found = CHANGED.findall(diff)
    if len(found) != len(ANY.findall(diff)):
        raise CannotDo(f"{mutant.path}: a mistake in given code changes files of labs/ alone")
    return sorted(set(found))


def _patched_copy(kit: Kit, mutant: GivenMutant, directories: list[str]) -> Path:
    digest = hashlib.sha256(mutant.path.read_bytes())
    for name in directories:
        for path in sorted((kit.root / name).iterdir()):
            digest.update(f"{name}/{path.name}\0".encode() + path.read_bytes())
    final = kit.given_copies / digest.hexdigest()[:20]
    while not cache.hold(final):
        cache.keep_latest(kit.given_copies, KEPT)
        with atomic.directory(final) as scratch:
            for name in directories:
                shutil.copytree(kit.root / name, scratch / name)
            apply(mutant, scratch)
    return final


def _with(
    program: Program, made_of: Mapping[str, tuple[str, ...]], moved: Mapping[Path, Path]
) -> Program:
    """A library that is made of changed sources is replaced by them."""
    sources, link = [*program.sources], []
    for word in program.link:
        theirs = made_of.get(word, ())
        if any(Path(source).parent in moved for source in theirs):
            sources += theirs
        else:
            link.append(word)
    return Program(
        tuple(_moved(source, moved) for source in sources),
        tuple(link),
        tuple(_moved_flag(flag, moved) for flag in program.includes),
    )


def _moved(source: str, moved: Mapping[Path, Path]) -> str:
    path = Path(source)
    return str(moved[path.parent] / path.name) if path.parent in moved else source


def _moved_flag(flag: str, moved: Mapping[Path, Path]) -> str:
    if not flag.startswith("-I"):
        return flag
    path = Path(flag.removeprefix("-I"))
    return f"-I{moved.get(path, path)}"
