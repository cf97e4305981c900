"""Writes the students' kit: given files, answers as libraries, the handbook, one commit."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.release import catch_up, leaks, processors, repository, tree
from failslow.extras.site import build as site

ANSWERS = re.compile(r"^failslow_answers\((\w+)", re.M)
"""Names a library that a lab gives compiled alone, in the CMakeLists.txt of its sources."""

README = Path(__file__).resolve().parent / "README.md"
COMMANDS = "site/docs/commands.md"
"""A page of the handbook whose rows `kit --help` prints."""
DEV_CONTAINER = ".devcontainer/devcontainer.json"
BUILT_IMAGE = re.compile(r'^  "build": .*$', re.M)
"""The line of DEV_CONTAINER that says how its image is made."""
HANDBOOK = "handbook"
REFERENCE = "reference-solutions"
LEAKS_SHOWN = 20

Stage = Callable[[str], None]
"""Told what begins."""


def write(kit: Kit, out: Path, with_handbook: bool, begins: Stage, image: str | None = None) -> int:
    """Writes the kit into `out` in one step, and returns the number of its files.

    `image`: of the dev container; None: it is built from the kit.

    CannotDo when `out` exists and is not empty, outside of a git checkout, when something cannot be
    built or written, and when a leak is found: then `out` stays as it was.
    """
    check_is_free(out)
    tree.tracked(kit)
    processors.check_compilers()
    begins("building the libraries of answers")
    libraries = build_answers(kit)
    earlier = catch_up.files(kit)
    handbook = None
    if with_handbook:
        begins("building the handbook")
        handbook = build_handbook(kit)
    begins("copying, and looking for leaks")
    try:
        with atomic.directory(out.absolute()) as scratch:
            scratch.chmod(0o755)
            _fill(kit, scratch, libraries)
            if image:
                use_image(scratch / DEV_CONTAINER, image)
            for name, content in earlier.items():
                atomic.write_bytes(scratch / name, content)
            if handbook:
                shutil.copytree(handbook, scratch / HANDBOOK)
            repository.commit(scratch, repository.date_of(kit.root))
            _check(kit, scratch)
            return len(_files(scratch))
    except OSError as error:
        raise CannotDo(f"cannot write {out}: {error.strerror or error}") from error


def check_is_free(out: Path) -> None:
    """CannotDo when a directory cannot become `out`."""
    above = next(each for each in out.absolute().parents if os.path.lexists(each))
    if not above.is_dir():
        raise CannotDo(f"{above} is not a directory")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise CannotDo(f"{out} exists and is not a directory")
    if out.is_dir() and any(out.iterdir()):
        raise CannotDo(f"{out} is not empty")


def build_answers(kit: Kit) -> dict[str, Path]:
    """The libraries of answers, by their paths in the students' kit. CannotDo when one does not
    compile."""
    return {
        f"{directory}/{processor}/{library.name}": library
        for name, directory in answers(kit).items()
        for processor, library in processors.build_library(kit, name).items()
    }


def answers(kit: Kit) -> dict[str, str]:
    """The libraries that labs give compiled alone: the directories of their sources by name."""
    return {
        name: lists.parent.relative_to(kit.root).as_posix()
        for lists in sorted(kit.labs.glob("*/answers/CMakeLists.txt"))
        for name in ANSWERS.findall(lists.read_text(encoding="utf-8"))
    }


def _fill(kit: Kit, to: Path, libraries: Mapping[str, Path]) -> None:
    for name in tree.given(kit):
        source = kit.root / name
        if not source.is_file():
            raise CannotDo(f"{name} is missing from the checkout")
        _copy(source, to / name, 0o755 if tree.executable(source) else 0o644)
    _use_students_labs(to / "docker-compose.yml")
    _copy(README, to / "README.md", 0o644)
    _write_commands(kit.root / COMMANDS, to / COMMANDS)
    for name, library in libraries.items():
        _copy(library, to / name, 0o644)


def _write_commands(page: Path, to: Path) -> None:
    to.parent.mkdir(parents=True)
    to.write_text(site.to_students(page.read_text(encoding="utf-8")), encoding="utf-8")


def _copy(source: Path, to: Path, mode: int) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)


def _use_students_labs(compose: Path) -> None:
    """The default solution of the containers: students have no reference."""
    text = compose.read_text(encoding="utf-8")
    compose.write_text(text.replace(REFERENCE, "labs"), encoding="utf-8")


def use_image(dev_container: Path, image: str) -> None:
    text, count = BUILT_IMAGE.subn(f'  "image": "{image}",', dev_container.read_text("utf-8"))
    if count != 1:
        raise CannotDo(f'{DEV_CONTAINER} has {count} lines that begin with "build"')
    dev_container.write_text(text, "utf-8")


def build_handbook(kit: Kit) -> Path:
    """The handbook without the pages of others. CannotDo when its sources have errors."""
    built = kit.build / "site-for-students"
    problems = site.build_for_students(kit, built)
    if problems:
        raise CannotDo(f"the handbook has {len(problems)} errors", "\n".join(problems))
    return built


def _check(kit: Kit, released: Path) -> None:
    """CannotDo with the leaks."""
    secrets = leaks.secret_lines(kit, allowed=catch_up.headers(kit))
    exposed = leaks.exposed_sources(kit, secrets)
    if exposed:
        raise CannotDo(f"files that are given hold most of {', '.join(exposed)}")
    found = leaks.find(secrets, released)
    if found:
        shown = "\n".join(str(each) for each in found[:LEAKS_SHOWN])
        raise CannotDo(f"the release would show {len(found)} secret lines", shown)


def _files(released: Path) -> list[Path]:
    return [
        path
        for path in released.rglob("*")
        if path.is_file() and path.relative_to(released).parts[0] != ".git"
    ]
