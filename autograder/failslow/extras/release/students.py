"""Writes the students' kit: given files, answers as libraries, the handbook, a commit."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.release import catch_up, copies, leaks, processors, repository, tree
from failslow.extras.site import build as site
from failslow.extras.site import readers
from failslow.lab import unwritten
from failslow.lab.labs import Lab, load_labs

ANSWERS = re.compile(r"^failslow_answers\((\w+)", re.M)
"""Names a library that a lab gives compiled alone, in the CMakeLists.txt of its sources."""

README = Path(__file__).resolve().parent / "README.md"
COMMANDS = "site/docs/commands.md"
"""A page of the handbook whose rows `kit --help` prints."""
COMPOSE = "docker-compose.yml"
DEV_CONTAINER = ".devcontainer/devcontainer.json"
BUILT_IMAGE = re.compile(r'^  "build": .*$', re.M)
"""The line of DEV_CONTAINER that says how its image is made."""
HANDBOOK = "handbook"
REFERENCE = "reference-solutions"
LEAKS_SHOWN = 20

COMPOSED_LAB = re.compile(r"FAILSLOW_LAB:-(lab\d+)\}")
"""In docker-compose.yml: the lab of its containers."""

Stage = Callable[[str], None]
"""Told what begins."""


@dataclass(frozen=True)
class Options:
    """`labs`: ids of those that students get; None: all. `with_clusters`: of processes. `image`: of
    the dev container; None: it is built from the kit."""

    labs: Sequence[str] | None = None
    with_handbook: bool = True
    with_clusters: bool = True
    image: str | None = None


@dataclass(frozen=True)
class Chosen:
    """The labs of a release, in their order, and the others."""

    given: Sequence[Lab]
    left_out: Sequence[Lab]
    with_clusters: bool

    @property
    def ids(self) -> list[str]:
        return [lab.id for lab in self.given]

    @property
    def topics_left_out(self) -> list[str]:
        """As pages mark them."""
        clusters = [] if self.with_clusters else [readers.CLUSTERS]
        return [*(lab.id for lab in self.left_out), *clusters]


@dataclass(frozen=True)
class Written:
    """A release: its labs, the number of its files, and whether it has a commit that is new."""

    labs: Sequence[str]
    files: int
    is_new: bool


def write(kit: Kit, out: Path, options: Options, begins: Stage) -> Written:
    """Writes the kit into `out` in one step. If `out` has an earlier release, that gets one more
    commit, with what has changed; none if nothing has.

    CannotDo for labs without those that they need. Likewise when `out` is neither free nor an
    earlier release, has changes of others or a lab more; outside of a git checkout; when something
    cannot be built or written; and when a leak is found. Then `out` stays as it was.
    """
    labs = choose(kit, options)
    is_later = check_place(out, labs)
    tree.tracked(kit)
    processors.check_compilers()
    begins("building the libraries of answers")
    libraries = build_answers(kit, labs.left_out)
    earlier = catch_up.files(kit, labs.left_out)
    starts = catch_up.starts(kit, labs.left_out)
    handbook = None
    if options.with_handbook:
        begins("building the handbook")
        handbook = build_handbook(kit, labs)
    for name in starts:
        begins(f"giving an earlier lab's answer as {name}")
    begins("copying, and looking for leaks")
    try:
        with _scratch(out, is_later) as scratch:
            _fill(kit, scratch, labs, libraries)
            if options.image:
                use_image(scratch / DEV_CONTAINER, options.image)
            for name, content in (earlier | starts).items():
                atomic.write_bytes(scratch / name, content)
            if handbook:
                shutil.copytree(handbook, scratch / HANDBOOK)
            if is_later:
                repository.begin_with(scratch, out)
            is_new = repository.commit(scratch, repository.date_of(kit.root), labs.ids)
            _check(kit, scratch, labs, out, allowed=starts.values())
            if is_later and is_new:
                repository.pull(out, scratch)
            return Written(labs.ids, len(_files(scratch)), is_new)
    except OSError as error:
        raise CannotDo(f"cannot write {out}: {error.strerror or error}") from error


def choose(kit: Kit, options: Options) -> Chosen:
    """CannotDo for an unknown lab, and for one without a lab that it needs."""
    labs = load_labs(kit)
    given = [*labs.by_id.values()]
    if options.labs is not None:
        wanted = [labs.get(each) for each in options.labs]
        given = [lab for lab in given if lab in wanted]
    for lab in given:
        for needed in lab.needs:
            if labs.get(needed) not in given:
                raise CannotDo(f"{lab.id} needs {needed}, which --labs leaves out")
    left_out = [lab for lab in labs.by_id.values() if lab not in given]
    return Chosen(given, left_out, options.with_clusters)


def check_place(out: Path, labs: Chosen) -> bool:
    """Whether `out` has an earlier release. CannotDo when no release of these labs can go there."""
    if not (out.is_dir() and not out.is_symlink() and any(out.iterdir())):
        check_is_free(out)
        return False
    taken_back = [each for each in repository.labs_in(out) if each not in labs.ids]
    if taken_back:
        raise CannotDo(f"{out} has {', '.join(taken_back)}: name all of its labs in --labs, too")
    return True


@contextmanager
def _scratch(out: Path, is_later: bool) -> Iterator[Path]:
    """A directory that becomes `out`; beside an earlier release, one that is removed."""
    if is_later:
        with tempfile.TemporaryDirectory(prefix="failslow-release-") as scratch:
            yield Path(scratch)
        return
    with atomic.directory(out.absolute()) as scratch:
        scratch.chmod(0o755)
        yield scratch


def check_is_free(out: Path) -> None:
    """CannotDo when a directory cannot become `out`, which has no files."""
    above = next(each for each in out.absolute().parents if os.path.lexists(each))
    if not above.is_dir():
        raise CannotDo(f"{above} is not a directory")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise CannotDo(f"{out} exists and is not a directory")


def build_answers(kit: Kit, left_out: Collection[Lab]) -> dict[str, Path]:
    """The libraries of answers, by their paths in the students' kit. CannotDo when one does not
    compile. `left_out`: labs that students do not get."""
    return {
        f"{directory}/{processor}/{library.name}": library
        for name, directory in answers(kit, left_out).items()
        for processor, library in processors.build_library(kit, name).items()
    }


def answers(kit: Kit, left_out: Collection[Lab] = ()) -> dict[str, str]:
    """The libraries that labs give compiled alone: the directories of their sources by name."""
    others = {lab.directory for lab in left_out}
    return {
        name: lists.parent.relative_to(kit.root).as_posix()
        for lists in sorted(kit.labs.glob("*/answers/CMakeLists.txt"))
        if lists.parent.parent.name not in others
        for name in ANSWERS.findall(lists.read_text(encoding="utf-8"))
    }


def _fill(kit: Kit, to: Path, labs: Chosen, libraries: Mapping[str, Path]) -> None:
    for name in tree.given(kit, labs.left_out, labs.with_clusters):
        source = kit.root / name
        if not source.is_file():
            raise CannotDo(f"{name} is missing from the checkout")
        _copy(source, to / name, 0o755 if tree.executable(source) else 0o644)
    if labs.with_clusters:
        _use_students_labs(to / COMPOSE, labs)
    for page, place in ((README, "README.md"), (kit.root / COMMANDS, COMMANDS)):
        text = readers.to_students(page.read_text(encoding="utf-8"), labs.topics_left_out)
        atomic.write_text(to / place, text)
    unwritten.save_stubs(Kit(to))
    for name, library in libraries.items():
        _copy(library, to / name, 0o644)


def _copy(source: Path, to: Path, mode: int) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    to.chmod(mode)


def _use_students_labs(compose: Path, labs: Chosen) -> None:
    """The default solution of the containers: students have no reference. Without the containers'
    lab there are none."""
    text = compose.read_text(encoding="utf-8")
    if {*COMPOSED_LAB.findall(text)} & {*labs.topics_left_out}:
        compose.unlink()
    else:
        compose.write_text(text.replace(REFERENCE, "labs"), encoding="utf-8")


def use_image(dev_container: Path, image: str) -> None:
    text, count = BUILT_IMAGE.subn(f'  "image": "{image}",', dev_container.read_text("utf-8"))
    if count != 1:
        raise CannotDo(f'{DEV_CONTAINER} has {count} lines that begin with "build"')
    dev_container.write_text(text, "utf-8")


def build_handbook(kit: Kit, labs: Chosen) -> Path:
    """The handbook without the pages of others. CannotDo when its sources have errors."""
    built = kit.build / "site-for-students"
    problems = site.build_for_students(kit, built, left_out=labs.topics_left_out)
    if problems:
        raise CannotDo(f"the handbook has {len(problems)} errors", "\n".join(problems))
    return built


def _check(
    kit: Kit, released: Path, labs: Chosen, earlier: Path, allowed: Collection[bytes]
) -> None:
    """CannotDo with the leaks. Students have the history of the `earlier` release, if there is
    one."""
    secrets = leaks.secret_lines(kit, allowed=catch_up.headers(kit, labs.left_out))
    exposed = leaks.exposed_sources(kit, secrets)
    if exposed:
        raise CannotDo(f"files that are given hold most of {', '.join(exposed)}")
    copied = copies.find(kit)
    if copied:
        shown = "\n".join(map(str, copied[:LEAKS_SHOWN]))
        raise CannotDo(f"{len(copied)} given functions are those of another lab's solution", shown)
    found = leaks.find(secrets, released, allowed, known={*leaks.git_objects(earlier)})
    if found:
        shown = "\n".join(str(each) for each in found[:LEAKS_SHOWN])
        raise CannotDo(f"the release would show {len(found)} secret lines", shown)


def _files(released: Path) -> list[Path]:
    return [
        path
        for path in released.rglob("*")
        if path.is_file() and path.relative_to(released).parts[0] != ".git"
    ]
