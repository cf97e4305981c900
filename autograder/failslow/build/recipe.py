"""The recipe to compile and link a submission: CMake's own table of targets, read by its file API.

cmake/labs.cmake defines a target for each program that a submission is linked into. CMake never
builds these targets; its reply says which given sources and which libraries they have.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Lab
from failslow.lab.submission import SOURCES

API = Path(".cmake/api/v1")
CLIENT = "client-kit"
QUERIES = ("codemodel-v2", "toolchains-v1")

QUOTING = re.compile(r"['\"\\]")

FLAGS = "submission"
"""The target whose compile options are a submission's."""

PROGRAM = "_submission"
"""Suffix of the names of the programs' targets."""

HIDDEN = "_hidden"
"""Suffix of a suite of hidden tests."""

EXPLORE = "_explore"
"""Suffix of a lab's exploration."""

MEASURED = "_measured"
"""Suffix of a measured run with a submission in its process."""

OWN = "_own"
"""Suffix of the suite that holds a student's own tests."""

PUBLIC_TESTS = "_public_tests"
"""Suffix of the library of a lab's public tests."""


@dataclass(frozen=True)
class Target:
    """One program to link: a replica, sealed or real, or a suite in simulation.

    `includes`: flags for the sources, besides those of the submission.
    """

    name: str
    lab: Lab
    sources: tuple[str, ...]
    link: tuple[str, ...]
    includes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """Given sources to compile with the submission, the words of the linker's command, and the
    flags that name the directories of the libraries' headers."""

    sources: tuple[str, ...]
    link: tuple[str, ...]
    includes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """Given sources, and the options that they are compiled with."""

    sources: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """Recipe to compile against this kit. `programs`: by name, as in `Target`. `public_tests`: the
    sources of all labs' public tests."""

    compiler: str
    flags: tuple[str, ...]
    programs: dict[str, Program]
    public_tests: frozenset[Path] = frozenset()

    def replica(self, lab: Lab) -> Target:
        return self._target(f"{lab.id}_replica", lab)

    def real(self, lab: Lab) -> Target:
        return self._target(f"{lab.id}_real", lab)

    def sim(self, lab: Lab, suite: str) -> Target:
        return self._target(f"{suite}_sim", lab)

    def own(self, kit: Kit, lab: Lab) -> Target | None:
        """The program of the tests that a student has added beside the public ones; None without
        any. Students' kits of before have no such program, either."""
        name, tests = f"{lab.id}{OWN}_sim", kit.labs / lab.directory / "tests"
        sources = sorted({*tests.glob("*_test.cc")} - self.public_tests)
        if not sources or name not in self.programs:
            return None
        program = self.programs[name]
        return Target(
            name,
            lab,
            (*program.sources, *map(str, sources)),
            program.link,
            (*program.includes, f"-I{tests}"),
        )

    def has_sim(self, suite: str, hidden: bool) -> bool:
        """Whether there is such a suite, and it is hidden, or public."""
        return f"{suite}_sim" in self.programs and suite.endswith(HIDDEN) == hidden

    def sims(self, kit: Kit, lab: Lab, hidden: bool) -> dict[str, Target]:
        """By suite: the hidden ones of the lab, or the public ones and a student's own."""
        suites = [suite for suite in lab.suites if self.has_sim(suite, hidden)]
        targets = {suite: self.sim(lab, suite) for suite in suites}
        own = None if hidden else self.own(kit, lab)
        return targets | ({f"{lab.id}{OWN}": own} if own else {})

    def _target(self, name: str, lab: Lab) -> Target:
        if name not in self.programs:
            raise CannotDo(f"the kit's build does not say how to link '{name}'")
        program = self.programs[name]
        return Target(name, lab, program.sources, program.link)


def given(kit: Kit, targets: Sequence[Target], preset: str = "release") -> list[str]:
    """The objects and libraries of the kit that these programs link, in the words of its build.

    `preset`: the one that the targets' recipe is of.
    """
    build = kit.preset(preset)
    files = {Path(word) for target in targets for word in target.link}
    return sorted(str(file.relative_to(build)) for file in files if file.is_relative_to(build))


def check_given(kit: Kit, targets: Sequence[Target]) -> None:
    """CannotDo when a library that the kit was given compiled is not there for this processor."""
    for word in sorted({word for target in targets for word in target.link}):
        file = Path(word)
        if not file.is_relative_to(kit.root) or file.is_relative_to(kit.build) or file.is_file():
            continue
        served = sorted(each.parent.name for each in file.parents[1].glob(f"*/{file.name}"))
        raise CannotDo(
            f"this kit has {file.name} for {' and '.join(served) or 'no processor'}, and not for"
            f" {file.parent.name}: ask your instructor"
        )


def ask(build: Path) -> None:
    """Makes the next run of CMake in the build directory leave its reply."""
    query = build / API / "query" / CLIENT
    query.mkdir(parents=True, exist_ok=True)
    for name in QUERIES:
        (query / name).touch()


def is_answered(build: Path) -> bool:
    return any((build / API / "reply").glob("index-*.json"))


def load_recipe(kit: Kit, preset: str = "release") -> Recipe:
    """CannotDo when CMake has left no reply, or one that lacks something."""
    with _read(kit, preset) as reply:
        return reply.recipe()


def load_library(kit: Kit, target: str, preset: str = "release") -> Library:
    """A library of the kit's own. CannotDo as `load_recipe`."""
    with _read(kit, preset) as reply:
        return reply.library(target)


def load_libraries(kit: Kit) -> dict[str, tuple[str, ...]]:
    """The sources of the kit's own libraries, by the words that link them. CannotDo as
    `load_recipe`."""
    with _read(kit, "release") as reply:
        return reply.libraries()


@contextmanager
def _read(kit: Kit, preset: str) -> Iterator["_Reply"]:
    build = kit.preset(preset)
    try:
        yield _Reply(build)
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

    def library(self, name: str) -> Library:
        """Without precompiled headers: they are one compiler's."""
        target = self._load(self._files()[name])
        sources = [file for file in self._sources(target) if file.endswith(SOURCES)]
        return Library(tuple(sources), without_precompiled(_flags(target)))

    def recipe(self) -> Recipe:
        files = self._files()
        programs = {
            name.removesuffix(PROGRAM): self._program(self._load(file))
            for name, file in sorted(files.items())
            if name.endswith(PROGRAM)
        }
        tests = [self._load(file) for name, file in files.items() if name.endswith(PUBLIC_TESTS)]
        public = frozenset(Path(source) for each in tests for source in self._sources(each))
        flags = _flags(self._load(files[FLAGS]))
        return Recipe(self._compiler(), flags, programs, public)

    def _files(self) -> dict[str, str]:
        """The names of the targets' files."""
        return {
            target["name"]: target["jsonFile"]
            for target in self._model["configurations"][0]["targets"]
        }

    def _load(self, name: str) -> dict[str, Any]:
        text = (self._directory / name).read_text(encoding="utf-8")
        content: dict[str, Any] = json.loads(text)
        return content

    def _compiler(self) -> str:
        toolchains = self._objects["toolchains-v1"]["toolchains"]
        paths = (each["compiler"]["path"] for each in toolchains if each["language"] == "CXX")
        return str(next(paths))

    def _program(self, target: dict[str, Any]) -> Program:
        """Objects are listed among the sources; they are linked before the libraries."""
        paths = self._model["paths"]
        files = self._sources(target)
        sources = [file for file in files if file.endswith(SOURCES)]
        link = [file for file in files if file.endswith(".o")]
        for fragment in target["link"]["commandFragments"]:
            for word in _words(fragment["fragment"]):
                is_file = fragment["role"] == "libraries" and not word.startswith("-")
                link.append(str(Path(paths["build"]) / word) if is_file else word)
        groups = target.get("compileGroups", [])
        return Program(tuple(sources), tuple(link), _includes(groups[0]) if groups else ())

    def libraries(self) -> dict[str, tuple[str, ...]]:
        build = Path(self._model["paths"]["build"])
        targets = map(self._load, self._files().values())
        return {
            str(build / target["artifacts"][0]["path"]): tuple(
                file for file in self._sources(target) if file.endswith(SOURCES)
            )
            for target in targets
            if target["type"] == "STATIC_LIBRARY"
        }

    def _sources(self, target: dict[str, Any]) -> list[str]:
        root = Path(self._model["paths"]["source"])
        return [str(root / source["path"]) for source in target["sources"]]


def _words(text: str) -> list[str]:
    """The words of a command. `shlex` takes a tenth of a second for those of all programs."""
    return shlex.split(text) if QUOTING.search(text) else text.split()


def _flags(target: dict[str, Any]) -> tuple[str, ...]:
    group = target["compileGroups"][0]
    flags = [
        word
        for fragment in group["compileCommandFragments"]
        for word in _words(fragment["fragment"])
    ]
    flags += [f"-D{each['define']}" for each in group.get("defines", [])]
    return (*flags, *_includes(group))


def without_precompiled(flags: tuple[str, ...]) -> tuple[str, ...]:
    """The options, without the header that this compiler has precompiled."""
    header = {i for i, word in enumerate(flags) if Path(word).name.startswith("cmake_pch.")}
    left_out = header | {i - 1 for i in header}
    return tuple(word for i, word in enumerate(flags) if i not in left_out)


def _includes(group: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{'-isystem' if include.get('isSystem') else '-I'}{include['path']}"
        for include in group.get("includes", [])
    )
