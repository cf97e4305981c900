"""How to compile and link a submission: CMake's own table of targets, read by its file API.

cmake/labs.cmake defines a target for each program that a submission is linked into. CMake never
builds these targets; its reply says which given sources and which libraries they have.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.labs import Lab

API = Path(".cmake/api/v1")
CLIENT = "client-kit"
QUERIES = ("codemodel-v2", "toolchains-v1")

FLAGS = "submission"
"""The target whose compile options are a submission's."""

PROGRAM = "_submission"
"""How the names of the programs' targets end."""

HIDDEN = "_hidden"
"""How the name of a suite of hidden tests ends."""

EXPLORE = "_explore"
"""How the name of a lab's exploration ends."""


@dataclass(frozen=True)
class Target:
    """One program to link: a replica, sealed or real, or a suite in simulation."""

    name: str
    lab: Lab
    sources: tuple[str, ...]
    link: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """Given sources to compile with the submission, and the words of the linker's command."""

    sources: tuple[str, ...]
    link: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """How to compile against this kit. `programs`: by name, as in `Target`."""

    compiler: str
    flags: tuple[str, ...]
    programs: dict[str, Program]

    def replica(self, lab: Lab) -> Target:
        return self._target(f"{lab.id}_replica", lab)

    def real(self, lab: Lab) -> Target:
        return self._target(f"{lab.id}_real", lab)

    def sim(self, lab: Lab, suite: str) -> Target:
        return self._target(f"{suite}_sim", lab)

    def has_sim(self, suite: str, hidden: bool) -> bool:
        """Whether there is such a suite, and it is hidden, or public."""
        return f"{suite}_sim" in self.programs and suite.endswith(HIDDEN) == hidden

    def _target(self, name: str, lab: Lab) -> Target:
        if name not in self.programs:
            raise CannotDo(f"the kit's build does not say how to link '{name}'")
        program = self.programs[name]
        return Target(name, lab, program.sources, program.link)


def given(kit: Kit, targets: Sequence[Target]) -> list[str]:
    """The objects and libraries of the kit that these programs link, in the words of its build."""
    build = kit.preset("release")
    files = {Path(word) for target in targets for word in target.link}
    return sorted(str(file.relative_to(build)) for file in files if file.is_relative_to(build))


def ask(build: Path) -> None:
    """Makes the next run of CMake in the build directory leave its reply."""
    query = build / API / "query" / CLIENT
    query.mkdir(parents=True, exist_ok=True)
    for name in QUERIES:
        (query / name).touch()


def is_answered(build: Path) -> bool:
    return any((build / API / "reply").glob("index-*.json"))


def load_recipe(kit: Kit) -> Recipe:
    """CannotDo when CMake has left no reply, or one that lacks something."""
    build = kit.preset("release")
    try:
        return _Reply(build).recipe()
    except (OSError, ValueError, KeyError, IndexError, StopIteration) as error:
        raise CannotDo(
            f"cannot read CMake's reply in {build / API}: {error!r}; build the kit first"
        ) from error


class _Reply:
    def __init__(self, build: Path) -> None:
        self._directory = build / API / "reply"
        # CMake names them so that the latest is the last.
        index = self._load(max(path.name for path in self._directory.glob("index-*.json")))
        self._objects = {
            name: self._load(index["reply"][CLIENT][name]["jsonFile"]) for name in QUERIES
        }
        self._model = self._objects["codemodel-v2"]

    def recipe(self) -> Recipe:
        files = {
            target["name"]: target["jsonFile"]
            for target in self._model["configurations"][0]["targets"]
        }
        programs = {
            name.removesuffix(PROGRAM): self._program(self._load(file))
            for name, file in sorted(files.items())
            if name.endswith(PROGRAM)
        }
        return Recipe(self._compiler(), _flags(self._load(files[FLAGS])), programs)

    def _load(self, name: str) -> dict[str, Any]:
        return json.loads((self._directory / name).read_text(encoding="utf-8"))

    def _compiler(self) -> str:
        toolchains = self._objects["toolchains-v1"]["toolchains"]
        return next(each["compiler"]["path"] for each in toolchains if each["language"] == "CXX")

    def _program(self, target: dict[str, Any]) -> Program:
        """Objects are listed among the sources; they are linked before the libraries."""
        paths = self._model["paths"]
        files = [str(Path(paths["source"]) / source["path"]) for source in target["sources"]]
        sources = [file for file in files if file.endswith((".cc", ".cpp"))]
        link = [file for file in files if file.endswith(".o")]
        for fragment in target["link"]["commandFragments"]:
            for word in shlex.split(fragment["fragment"]):
                is_file = fragment["role"] == "libraries" and not word.startswith("-")
                link.append(str(Path(paths["build"]) / word) if is_file else word)
        return Program(tuple(sources), tuple(link))


def _flags(target: dict[str, Any]) -> tuple[str, ...]:
    group = target["compileGroups"][0]
    flags = [
        word
        for fragment in group["compileCommandFragments"]
        for word in shlex.split(fragment["fragment"])
    ]
    flags += [f"-D{each['define']}" for each in group.get("defines", [])]
    for include in group["includes"]:
        option = "-isystem" if include.get("isSystem") else "-I"
        flags.append(f"{option}{include['path']}")
    return tuple(flags)
