"""The solution that a command is given, and the directory that it may write."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Labs
from failslow.lab.submission import Submission, collect

if TYPE_CHECKING:
    from failslow.lab.mutants import Patched


def check_out(out: Path) -> None:
    """CannotDo when --out names something else than a directory."""
    if out.exists() and not out.is_dir():
        raise CannotDo(f"--out: {out} is not a directory")


def patch_at(path: Path) -> "Patched | None":
    """The mutant, alternative or variant in the file `path`. A students' kit has none of these, and
    no module that reads them."""
    if not find_spec("failslow.lab.mutants"):
        return None
    from failslow.lab.mutants import patched_in

    return patched_in(path)


@contextmanager
def tree_in(
    kit: Kit, labs: Labs, directory: Path, only: str | None
) -> Iterator[tuple[Path, str | None]]:
    """The tree of a solution, and the only lab to grade. For a mutant or an alternative: the
    patched reference, and its lab, because a broken lab 1 would also fail lab 2. For the tuned
    solutions: these laid over the reference.
    """
    patched = patch_at(directory)
    if patched is None and directory.resolve() == kit.fast.resolve():
        from failslow.lab.reference import fast_tree

        with fast_tree(kit, labs) as tree:
            yield tree, only
        return
    if patched is None:
        yield directory, only
        return
    from failslow.lab.mutants import materialised

    console.note(f"{type(patched).__name__} {patched.name}: {patched.description}")
    with materialised(kit, labs, patched) as tree:
        yield tree, only or patched.lab


@contextmanager
def submission_in(kit: Kit, labs: Labs, directory: Path, only: str | None) -> Iterator[Submission]:
    """The submission in a `tree_in` the directory."""
    with tree_in(kit, labs, directory, only) as (tree, graded):
        yield collect(kit, labs, tree, graded)
