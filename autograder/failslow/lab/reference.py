"""The reference solutions' files.

A lab that replaces an earlier one may keep files as a change of the earlier lab's: `*.patch` beside
its other files, with the lines `--- a/EARLIER/FILE` and `+++ b/LAB/FILE`. cmake/changes.cmake makes
the same files for the kit's own build. `start/*.patch`, of that form, makes the files that such a
lab begins with.

`fast/` holds other versions of some labs' files, tuned for benchmarks.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Lab, Labs

ORIGIN = re.compile(r"^--- a/(\S+)", re.M)


def changed_files(directory: Path) -> dict[str, bytes]:
    """The files that the patches in a lab's reference directory make, by name. Earlier labs'
    directories are beside it. CannotDo if a patch does not fit."""
    files: dict[str, bytes] = {}
    for patch in sorted(directory.glob("*.patch")):
        files |= _changed(patch, directory.parent)
    return files


def starting_files(kit: Kit, labs: Labs, lab: Lab) -> dict[str, bytes]:
    """The lab's files that begin as a copy of an earlier lab's, from the reference, by name. They
    compile with the lab's other starters."""
    files = {
        name: (kit.reference / copied.directory / name).read_bytes()
        for name, copied in labs.copied(lab).items()
    }
    for patch in sorted((kit.reference / lab.directory / "start").glob("*.patch")):
        files |= _changed(patch, kit.reference)
    return files


def _changed(patch: Path, solutions: Path) -> dict[str, bytes]:
    origins = [solutions / name for name in ORIGIN.findall(patch.read_text())]
    with tempfile.TemporaryDirectory(prefix="failslow-change-") as name:
        tree = Path(name)
        for origin in origins:
            (tree / origin.name).write_bytes(origin.read_bytes())
        # No fuzz: a patch that only nearly fits may change something else than it says.
        argv = ["patch", "-p2", "--fuzz=0", "--batch", "--forward", "-i", str(patch.resolve())]
        done = process.run(argv, cwd=tree, merge_errors=True)
        if done.exit_code != 0:
            raise CannotDo(f"{patch} does not fit the files that it changes", done.output)
        return {origin.name: (tree / origin.name).read_bytes() for origin in origins}


def whole_files(directory: Path) -> dict[str, bytes]:
    """The files in a lab's reference directory, by name, and those that its patches make."""
    own = {each.name: each.read_bytes() for each in directory.iterdir() if each.is_file()}
    return own | changed_files(directory)


def write_tree(solutions: Path, labs: list[Lab], tree: Path) -> None:
    """Writes the files of these labs, with their answers of a diagnosis. `solutions`: the reference
    solutions, or a copy. CannotDo for a missing one."""
    for lab in labs:
        (tree / lab.directory).mkdir(parents=True, exist_ok=True)
        directory = solutions / lab.directory
        files = whole_files(directory) if directory.is_dir() else {}
        for name in [*lab.files, lab.diagnosis.file] if lab.diagnosis else lab.files:
            if name not in files:
                raise CannotDo(f"the reference of {lab.id} lacks {name}")
            (tree / lab.directory / name).write_bytes(files[name])


def built_on_tuned(kit: Kit, labs: Labs) -> list[Lab]:
    """The labs that have tuned files, and those built on them."""
    tuned = set(_tuned(kit, labs))
    return [lab for lab in labs.by_id.values() if tuned & set(labs.closure(lab))]


def _tuned(kit: Kit, labs: Labs) -> list[Lab]:
    return [lab for lab in labs.by_id.values() if (kit.fast / lab.directory).is_dir()]


@contextmanager
def fast_tree(kit: Kit, labs: Labs) -> Iterator[Path]:
    """A temporary tree: the tuned files, laid over the reference of the labs `built_on_tuned`."""
    needed = {each.id: each for lab in built_on_tuned(kit, labs) for each in labs.closure(lab)}
    with tempfile.TemporaryDirectory(prefix="failslow-fast-") as name:
        tree = Path(name)
        write_tree(kit.reference, list(needed.values()), tree)
        write_tree(kit.fast, _tuned(kit, labs), tree)
        yield tree
