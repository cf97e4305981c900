"""Solutions kept as patches of the reference.

Mutants have one known mistake each, and name what must catch it. Alternatives are correct, of
another shape than the reference, and must get full marks.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow import process, yaml_file
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.labs import Labs
from failslow.submission import source_directory

MEASUREMENT = "measurement"
DETERMINISM = "determinism"


@dataclass(frozen=True)
class Patched:
    """The reference with `directory`/change.patch applied."""

    name: str
    directory: Path
    description: str
    lab: str


@dataclass(frozen=True)
class Alternative(Patched):
    """Correct, and different: what a test or a bound must not hold against a student."""


@dataclass(frozen=True)
class Mutant(Patched):
    """`caught_by` and `passes` hold test ids, MEASUREMENT, one row of it, or DETERMINISM.

    `trips`: the invariant, as the checker prints it, that a failure of `caught_by` must name.
    """

    caught_by: tuple[str, ...]
    passes: tuple[str, ...]
    trips: str | None = None


def patched_in(directory: Path) -> Patched | None:
    """The mutant or the alternative that the directory describes, if it does."""
    if (directory / "mutant.yaml").is_file():
        return load_mutant(directory)
    if (directory / "alternative.yaml").is_file():
        return load_alternative(directory)
    return None


def load_mutant(directory: Path) -> Mutant:
    content = yaml_file.load(directory / "mutant.yaml", "mutant")
    return Mutant(
        name=directory.name,
        directory=directory,
        description=content["description"],
        lab=content["lab"],
        caught_by=tuple(content["caught_by"]),
        passes=tuple(content["passes"]),
        trips=content.get("trips"),
    )


def load_mutants(kit: Kit) -> list[Mutant]:
    return [load_mutant(path.parent) for path in sorted(kit.mutants.glob("*/mutant.yaml"))]


def load_alternative(directory: Path) -> Alternative:
    content = yaml_file.load(directory / "alternative.yaml", "alternative")
    return Alternative(directory.name, directory, content["description"], content["lab"])


def load_alternatives(kit: Kit) -> list[Alternative]:
    paths = sorted(kit.alternatives.glob("*/alternative.yaml"))
    return [load_alternative(path.parent) for path in paths]


@contextmanager
def materialised(kit: Kit, labs: Labs, patched: Patched) -> Iterator[Path]:
    """A temporary tree: the reference's listed files with the patch applied.

    CannotDo when the patch does not apply, so that a stale one cannot pass unnoticed.
    """
    with tempfile.TemporaryDirectory(prefix="failslow-patched-") as name:
        tree = Path(name)
        for lab in labs.closure(labs.get(patched.lab)):
            source = source_directory(kit.reference, lab)
            if source is None:
                raise CannotDo(f"the reference of {lab.id} is missing")
            (tree / lab.directory).mkdir()
            for file in lab.files:
                (tree / lab.directory / file).write_bytes((source / file).read_bytes())
        _apply(patched, tree)
        yield tree


def _apply(patched: Patched, tree: Path) -> None:
    change = patched.directory / "change.patch"
    if not change.is_file():
        raise CannotDo(f"{patched.name}: change.patch is missing")
    # No fuzz: a patch that only nearly fits may change something else than it says.
    argv = ["patch", "-p1", "--fuzz=0", "--batch", "--forward", "-r", "-"]
    argv += ["-i", str(change.resolve())]
    done = process.run(argv, cwd=tree, merge_errors=True)
    if done.exit_code != 0:
        raise CannotDo(f"{patched.name}: change.patch does not apply", done.output)
