"""Writes the students' kit: given files, answers as libraries, the handbook, a commit.

`left_out`: what students do not get: ids of labs, and of tree.TOPICS.
"""

import os
import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.release import (
    ai_rules,
    catch_up,
    copies,
    leaks,
    processors,
    repository,
    tree,
)
from failslow.extras.site import build as site
from failslow.extras.site import readers
from failslow.lab import unwritten
from failslow.lab.labs import id_in, load_labs

ANSWERS = re.compile(r"^failslow_answers\((\w+)", re.M)
"""Names a library that a lab gives compiled alone, in the CMakeLists.txt of its sources."""

README = Path(__file__).resolve().parent / "README.md"
COMMANDS = "site/docs/commands.md"
"""A page of the handbook whose rows `kit --help` prints."""
DEV_CONTAINER = ".devcontainer/devcontainer.json"
BUILT_IMAGE = re.compile(r'^  "build": .*$', re.M)
"""The line of DEV_CONTAINER that says how its image is made."""
HANDBOOK = "handbook"
LEAKS_SHOWN = 20

Stage = Callable[[str], None]
"""Told what begins."""


@dataclass(frozen=True)
class Options:
    """`labs`: ids of those that students get; None: all. `with_clusters`: of processes, if a
    handout names them. `image`: of the dev container; None: it is built from the kit. `ai`: the
    rule for AI helpers, one of ai_rules.TEXTS; None: no word about them."""

    labs: Sequence[str] | None = None
    with_handbook: bool = True
    with_clusters: bool = True
    image: str | None = None
    ai: str | None = None


@dataclass(frozen=True)
class Written:
    """A release: the ids of its labs, the number of its files, and whether its commit is new."""

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
    labs = choose(kit, options.labs)
    left_out = {*load_labs(kit).by_id}.difference(labs)
    left_out |= tree.unnamed(kit, labs) if options.with_clusters else {*tree.TOPICS}
    is_later = check_place(out, labs)
    tree.tracked(kit)
    processors.check_compilers()
    files = _files(kit, options, left_out, begins)
    begins("copying, and looking for leaks")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="failslow-release-") as aside,
            atomic.directory(Path(aside, "kit") if is_later else out.absolute()) as scratch,
        ):
            _write(files, scratch)
            if is_later:
                repository.begin_with(scratch, out)
            is_new = repository.commit(scratch, repository.date_of(kit.root), labs)
            _check(kit, scratch, left_out, earlier=out)
            if is_later and is_new:
                repository.pull(out, scratch)
            return Written(labs, len(files) + 1, is_new)
    except OSError as error:
        raise CannotDo(f"cannot write {out}: {error.strerror or error}") from error


def choose(kit: Kit, wanted: Sequence[str] | None) -> list[str]:
    """The ids in their order; None: all. CannotDo for an unknown lab, and for one without a lab
    that it needs."""
    labs = load_labs(kit)
    if wanted is None:
        return [*labs.by_id]
    for lab in map(labs.get, wanted):
        for needed in lab.needs:
            if needed not in wanted:
                raise CannotDo(f"{lab.id} needs {needed}, which --labs leaves out")
    return [each for each in labs.by_id if each in wanted]


def check_place(out: Path, labs: Collection[str]) -> bool:
    """Whether `out` has an earlier release. CannotDo when no release of these labs can go there."""
    above = next(each for each in out.absolute().parents if os.path.lexists(each))
    if not above.is_dir():
        raise CannotDo(f"{above} is not a directory")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise CannotDo(f"{out} exists and is not a directory")
    if not out.exists() or not any(out.iterdir()):
        return False
    taken_back = [each for each in repository.labs_in(out) if each not in labs]
    if taken_back:
        raise CannotDo(f"{out} has {', '.join(taken_back)}: name all of its labs in --labs, too")
    return True


def _files(kit: Kit, options: Options, left_out: Set[str], begins: Stage) -> dict[str, Entry]:
    """All that students get, by name, but for the stubs of their starters."""
    begins("building the libraries of answers")
    built = build_answers(kit, left_out)
    if options.with_handbook:
        begins("building the handbook")
        handbook = build_handbook(kit, left_out)
        pages = (path for path in handbook.rglob("*") if path.is_file())
        built |= {f"{HANDBOOK}/{path.relative_to(handbook).as_posix()}": path for path in pages}
    starts = catch_up.starts(kit, left_out)
    for name in starts:
        begins(f"giving an earlier lab's answer as {name}")
    given = {name: kit.root / name for name in tree.given(kit, left_out)}
    files = {name: tree.entry(path) for name, path in (given | built).items()}
    made = catch_up.files(kit, left_out) | starts
    for page, place in ((README, "README.md"), (kit.root / COMMANDS, COMMANDS)):
        made[place] = readers.to_students(page.read_text("utf-8"), left_out).encode()
    made |= {name: text.encode() for name, text in ai_rules.files(options.ai).items()}
    if options.image:
        made[DEV_CONTAINER] = use_image(
            files[DEV_CONTAINER].content.decode(), options.image
        ).encode()
    return files | {name: Entry(content) for name, content in made.items()}


def build_answers(kit: Kit, left_out: Collection[str]) -> dict[str, Path]:
    """The packed libraries of answers, by their paths in the students' kit. CannotDo when one does
    not compile."""
    return {
        f"{directory}/{processor}/{library.name}": library
        for name, directory in answers(kit, left_out).items()
        for processor, library in processors.build_library(kit, name).items()
    }


def answers(kit: Kit, left_out: Collection[str] = ()) -> dict[str, str]:
    """The libraries that labs give compiled alone: the directories of their sources by name."""
    return {
        name: lists.parent.relative_to(kit.root).as_posix()
        for lists in sorted(kit.labs.glob("*/answers/CMakeLists.txt"))
        if id_in(lists.parents[1].name) not in left_out
        for name in ANSWERS.findall(lists.read_text(encoding="utf-8"))
    }


def use_image(dev_container: str, image: str) -> str:
    """The text of a dev container of this image."""
    text, count = BUILT_IMAGE.subn(f'  "image": "{image}",', dev_container)
    if count != 1:
        raise CannotDo(f'{DEV_CONTAINER} has {count} lines that begin with "build"')
    return text


def build_handbook(kit: Kit, left_out: Collection[str]) -> Path:
    """The handbook without the pages of others. CannotDo when its sources have errors."""
    built = kit.build / "site-for-students"
    problems = site.build_for_students(kit, built, left_out=left_out)
    if problems:
        raise CannotDo(f"the handbook has {len(problems)} errors", "\n".join(problems))
    return built


def _write(files: Mapping[str, Entry], to: Path) -> None:
    to.chmod(0o755)
    for name, entry in files.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.content)
        path.chmod(0o755 if entry.executable else 0o644)
    unwritten.save_stubs(Kit(to))


def _check(kit: Kit, released: Path, left_out: Collection[str], earlier: Path) -> None:
    """CannotDo with the leaks. Students have the history of the `earlier` release, if there is
    one."""
    allowed = catch_up.starts(kit, left_out).values()
    secrets = leaks.secret_lines(kit, allowed=catch_up.headers(kit, left_out))
    exposed = leaks.exposed_sources(kit, secrets)
    if exposed:
        raise CannotDo(f"files that are given hold most of {', '.join(exposed)}")
    for told, found in (
        ("{} given functions are those of another lab's solution", copies.find(kit)),
        (
            "the release would show {} secret lines",
            leaks.find(secrets, released, allowed, known=leaks.git_objects(earlier)),
        ),
    ):
        if found:
            raise CannotDo(told.format(len(found)), "\n".join(map(str, found[:LEAKS_SHOWN])))
