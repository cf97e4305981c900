"""Solutions kept as patches of the reference, one file each, beside its files.

`mutants/NAME.patch`: it has one known mistake, and names the tests that must catch it.
`alternatives/NAME.patch`: correct, of another shape than the reference; it must get full marks.
`variants/NAME.patch`: correct, and one slow follower slows it down; the subject of a diagnosis. Of
a lab without a diagnosis: another system, with changes of given code, too (cmake/variants.cmake).
`given/NAME.patch`: the mistake is in given code (given_code.py).

Lines `Key: value` stand above the diff; `patch` ignores them. Mutants know the keys of HEADER,
alternatives only `Description`, variants those of TRUTH, too.
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.labs import Labs, id_in, id_order, load_labs
from failslow.lab.reference import write_tree

MUTANTS = "mutants"
ALTERNATIVES = "alternatives"
VARIANTS = "variants"
GIVEN = "given"
"""The directories of patches, by kind."""

MEASUREMENT = "measurement"
DETERMINISM = "determinism"

DESCRIPTION = "Description"
CAUGHT_BY = "Caught-by"
PASSES = "Passes"
MAY_FAIL = "May-fail"
TRIPS = "Trips"
SHOWS = "Shows"
SAYS = "Says"
KEEPS = "Keeps-at-most"
KIND = "Kind"
ALL = "all"
HEADER = (DESCRIPTION, CAUGHT_BY, PASSES, MAY_FAIL, TRIPS, SHOWS, SAYS, KEEPS, KIND)
# One test id for each line.
TESTS = (CAUGHT_BY, PASSES, MAY_FAIL)
REPLICA = "Replica"
COROUTINE = "Coroutine"
WAIT = "Wait"
CAUSE = "Cause"
EVIDENCE = "Evidence"
TRUTH = (REPLICA, COROUTINE, WAIT, CAUSE, EVIDENCE)
# The other keys stand once.
REPEATED = (*TESTS, SAYS, KEEPS, EVIDENCE)

HEADER_LINE = re.compile(r"([A-Z][a-z-]*): (\S(?:.*\S)?)")
KEEPS_VALUE = re.compile(r"(\d+) % of (\S+)")
ASSERTION = re.compile(r"\s*assert\(.*\);")
DIFF_BEGINS = re.compile(r"^--- ", re.M)


@dataclass(frozen=True)
class Patched:
    """The reference with the diff in `path` applied. `name` is LAB/NAME, with the lab's id."""

    path: Path
    lab: str
    description: str

    @property
    def name(self) -> str:
        return f"{self.lab}/{self.path.stem}"


@dataclass(frozen=True)
class Alternative(Patched):
    """Correct and different from the reference: no test or bound may fail it."""


@dataclass(frozen=True)
class Keeps:
    """At most this percentage of the points of a part, or of a lab. `of`: its id."""

    per_cent: int
    of: str


@dataclass(frozen=True)
class Mutant(Patched):
    """`caught_by` and `passes` hold test ids, MEASUREMENT, one row of it, or DETERMINISM.

    A mutant must fail `caught_by`. It must pass `passes`, and every public test of its lab that
    neither `caught_by` nor `may_fail` names. ALL in `passes`: every hidden test likewise; in
    `may_fail`: no test that `passes` does not name.
    `trips`: the invariant, as the checker prints it, that a failure of `caught_by` must name.
    `shows`: a text in the faulty step, as the replay of the first test of `caught_by` has it.
    `says`: texts, each of which a report of `caught_by` must contain. `keeps`: bounds on points.
    `kind`: of the mistake, if neither its place nor its texts tell it from others.
    """

    caught_by: tuple[str, ...]
    passes: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()
    trips: str | None = None
    shows: str | None = None
    says: tuple[str, ...] = ()
    keeps: tuple[Keeps, ...] = ()
    kind: str | None = None

    @property
    def has_replay(self) -> bool:
        """Whether a test catches it first: a measurement has no replay."""
        first = self.caught_by[0]
        return first != DETERMINISM and not first.startswith(MEASUREMENT)

    @property
    def faulty_step(self) -> str | None:
        """A part of the step's words in the replay of the first of `caught_by`; None if there is no
        replay, or the mutant names no step."""
        if not self.has_replay:
            return None
        return self.shows or (f"VIOLATION of {self.trips}" if self.trips else None)


@dataclass(frozen=True)
class Variant(Patched):
    """The right answers of its diagnosis.

    `replica`: whose code is at fault, "leader" or "follower" (the one that is not slow). `wait`:
    the label of an event. `evidence`: the kinds that show the fault (diagnosis/runs.py).
    """

    replica: str
    coroutine: str
    wait: str
    cause: str
    evidence: tuple[str, ...]


def patched_in(path: Path) -> Patched | None:
    """The solution in the file of a patch; None for a directory. CannotDo for another file."""
    if not path.is_file():
        return None
    kind = path.resolve().parent.name
    if path.suffix == ".patch" and kind == MUTANTS:
        return load_mutant(path)
    if path.suffix == ".patch" and kind == ALTERNATIVES:
        return load_alternative(path)
    if path.suffix == ".patch" and kind == VARIANTS:
        return load_variant(path)
    raise CannotDo(f"{path} is neither LAB/mutants/NAME.patch nor LAB/alternatives/NAME.patch")


def patches(kit: Kit, kind: str) -> list[Path]:
    """By lab, then by name."""
    found = kit.reference.glob(f"*/{kind}/*.patch")
    return sorted(found, key=lambda path: (id_order(_lab_of(path)), path.name))


def path_of(kit: Kit, kind: str, name: str) -> Path:
    """The place of a patch. `name`: LAB/NAME, with the lab's id. CannotDo for an unknown lab."""
    lab, _, stem = name.partition("/")
    return kit.reference / load_labs(kit).get(lab).directory / kind / f"{stem}.patch"


def _lab_of(path: Path) -> str:
    return id_in(path.resolve().parent.parent.name)


def load_mutants(kit: Kit) -> list[Mutant]:
    """By lab, then by name."""
    return [load_mutant(path) for path in patches(kit, MUTANTS)]


def load_alternatives(kit: Kit) -> list[Alternative]:
    """By lab, then by name."""
    return [load_alternative(path) for path in patches(kit, ALTERNATIVES)]


def load_variants(kit: Kit, lab: str) -> list[Variant]:
    """The variants of one lab, by name. `lab`: its id."""
    return [load_variant(path) for path in variants_of(kit, lab)]


def variants_of(kit: Kit, lab: str) -> list[Path]:
    """Their patches."""
    return [path for path in patches(kit, VARIANTS) if _lab_of(path) == lab]


def load_mutant(path: Path) -> Mutant:
    """CannotDo with one line that names the file, and the line at fault."""
    header = read_header(path, HEADER)
    if CAUGHT_BY not in header:
        raise CannotDo(f"{path}: no line '{CAUGHT_BY}: TEST'")
    return Mutant(
        path=path,
        lab=_lab_of(path),
        description=header[DESCRIPTION][0],
        caught_by=tuple(header[CAUGHT_BY]),
        passes=tuple(header.get(PASSES, ())),
        may_fail=tuple(header.get(MAY_FAIL, ())),
        trips=header.get(TRIPS, [None])[0],
        shows=header.get(SHOWS, [None])[0],
        says=tuple(header.get(SAYS, ())),
        keeps=tuple(_keeps(path, value) for value in header.get(KEEPS, ())),
        kind=header.get(KIND, [None])[0],
    )


def _keeps(path: Path, value: str) -> Keeps:
    found = KEEPS_VALUE.fullmatch(value)
    if found is None:
        raise CannotDo(f"{path}: '{KEEPS}: {value}' is not 'N % of PART' or 'N % of LAB'")
    return Keeps(int(found[1]), found[2])


def load_alternative(path: Path) -> Alternative:
    """CannotDo as of `load_mutant`."""
    header = read_header(path, (DESCRIPTION,))
    return Alternative(path, _lab_of(path), header[DESCRIPTION][0])


def load_variant(path: Path) -> Variant:
    """CannotDo as of `load_mutant`."""
    header = read_header(path, (DESCRIPTION, *TRUTH))
    for key in TRUTH:
        if key not in header:
            raise CannotDo(f"{path}: no line '{key}: ...'")
    return Variant(
        path=path,
        lab=_lab_of(path),
        description=header[DESCRIPTION][0],
        replica=header[REPLICA][0],
        coroutine=header[COROUTINE][0],
        wait=header[WAIT][0],
        cause=header[CAUSE][0],
        evidence=tuple(header[EVIDENCE]),
    )


def split(path: Path) -> tuple[str, str]:
    """The header, and the diff below it; CannotDo for a file without one."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"cannot read {path}: {error}") from error
    begins = DIFF_BEGINS.search(text)
    if begins is None:
        raise CannotDo(f"{path}: no diff below the header")
    return text[: begins.start()], text[begins.start() :]


def read_header(path: Path, keys: tuple[str, ...]) -> dict[str, list[str]]:
    """The values of each key that is there, in the order of their lines. CannotDo for another key,
    and for a header without a description."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(split(path)[0].splitlines(), start=1):
        if not line:
            continue
        where = f"{path}:{number}"
        found = HEADER_LINE.fullmatch(line)
        if found is None:
            raise CannotDo(f"{where}: '{line}' is not 'Key: value'")
        key, value = found.groups()
        if key not in keys:
            raise CannotDo(f"{where}: unknown key '{key}' (keys: {', '.join(keys)})")
        if key in header and key not in REPEATED:
            raise CannotDo(f"{where}: a second '{key}'")
        if key in TESTS and " " in value:
            raise CannotDo(f"{where}: '{value}' is more than one test; write a line for each")
        if key in TESTS and any(value in header.get(each, ()) for each in TESTS):
            raise CannotDo(f"{where}: an earlier line names {value}, too")
        header.setdefault(key, []).append(value)
    if DESCRIPTION not in header:
        raise CannotDo(f"{path}: no line '{DESCRIPTION}: ...'")
    return header


@contextmanager
def materialised(kit: Kit, labs: Labs, patched: Patched) -> Iterator[Path]:
    """A temporary tree: the reference's listed files with the patch applied.

    A mutant has none of the reference's assertions: a test must catch it, not the reference.
    CannotDo when the patch does not apply, so that a stale one cannot pass unnoticed.
    """
    with tempfile.TemporaryDirectory(prefix="failslow-patched-") as name:
        tree = Path(name)
        write_tree(kit.reference, labs.closure(labs.get(patched.lab)), tree)
        asserted = _assertions_in(tree)
        apply(patched, tree)
        if isinstance(patched, Mutant):
            _remove_lines(tree, asserted)
        yield tree


def _assertions_in(tree: Path) -> frozenset[str]:
    """The lines that are an assertion and no more."""
    lines = [line for path in _sources_in(tree) for line in path.read_text().splitlines()]
    return frozenset(line for line in lines if ASSERTION.fullmatch(line))


def _remove_lines(tree: Path, lines: frozenset[str]) -> None:
    for path in _sources_in(tree):
        text = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in text if line.rstrip("\n") not in lines))


def _sources_in(tree: Path) -> list[Path]:
    return [path for path in tree.rglob("*") if path.suffix in {".h", ".cc"}]


def apply(patched: Patched, tree: Path, *options: str) -> None:
    """Changes the files of a tree; CannotDo unless every hunk of the patch fits. With the option
    `--dry-run` it changes nothing."""
    # No fuzz: a patch that only nearly fits may change something else than it says.
    argv = ["patch", "-p1", "--fuzz=0", "--batch", "--forward", "-r", "-", *options]
    argv += ["-i", str(patched.path.resolve())]
    done = process.run(argv, cwd=tree, merge_errors=True)
    if done.exit_code != 0:
        raise CannotDo(f"{patched.name}: the patch does not apply", done.output)
