"""Mutants that the kit can do without. Each costs work in every change of a reference.

A mutant is needed if a test that it names, or the invariant that it trips, has fewer than two other
witnesses in its lab. The only one of its kind of mistake is needed, too: no other mutant of its lab
changes any definition that it changes, or no other says one of its texts, or no other has its
`Kind`. A mutant that the kit names elsewhere stays: an attack begins with it, or a page shows it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.given_code import GivenMutant
from failslow.extras.check import attacks, definitions
from failslow.extras.check.mutants import load_all
from failslow.extras.check.step import Context, Counts
from failslow.extras.site import points_kept
from failslow.lab.labs import Labs, load_labs
from failslow.lab.mutants import Mutant, split
from failslow.lab.reference import whole_files

WITNESSES = 2
"""Mutants for each test and invariant: double cover."""

NAME = re.compile(r"[\w-]+(?:/[\w-]+)+")
TEXTS = frozenset({".json", ".md", ".py", ".yaml"})


@dataclass(frozen=True)
class Described:
    """`witness_of`: the tests that it names, and its invariant. `traits`: its texts, and its kind.
    `changes`: definitions."""

    name: str
    lab: str
    witness_of: frozenset[str]
    traits: frozenset[str]
    changes: frozenset[str]


def run(context: Context) -> Counts:
    """One check for each mutant. It reads headers, diffs and sources, and builds nothing."""
    kit = context.kit
    found = load_all(kit)
    texts = _texts(kit)
    bases = {f"{each.lab}/{each.base}" for each in attacks.load(kit)}
    kept = {each.name for each in found if each.name in bases or _is_named(kit, each, texts)}
    surplus = {each.name for each in unneeded(describe(kit, found), kept)}
    counts = Counts()
    for mutant in found:
        counts.expect(mutant.name not in surplus, _problem(mutant))
    return counts


def unneeded(mutants: Sequence[Described], kept: Iterable[str]) -> list[Described]:
    """In their order, each beside all others: once one of them is deleted, another may be needed.
    `kept`: names of those that stay."""
    witnesses = Counter((each.lab, name) for each in mutants for name in each.witness_of)
    traits = Counter((each.lab, text) for each in mutants for text in each.traits)
    changing = Counter((each.lab, name) for each in mutants for name in each.changes)
    stay = set(kept)

    def is_unneeded(each: Described) -> bool:
        covered = all(witnesses[each.lab, name] > WITNESSES for name in each.witness_of)
        common = all(traits[each.lab, text] > 1 for text in each.traits)
        shared = any(changing[each.lab, name] > 1 for name in each.changes)
        return each.name not in stay and covered and common and shared

    return [each for each in mutants if is_unneeded(each)]


def describe(kit: Kit, mutants: Iterable[Mutant]) -> list[Described]:
    """In their order. CannotDo for a patch that does not fit its sources."""
    sources = Sources(kit, load_labs(kit))
    return [_described(each, sources) for each in mutants]


def _described(mutant: Mutant, sources: "Sources") -> Described:
    try:
        changes = definitions.changed(split(mutant.path)[1], sources.given_to(mutant))
    except ValueError as error:
        raise CannotDo(f"{mutant.name}: {error}") from error
    trips = {f"invariant {mutant.trips}"} if mutant.trips else set()
    kind = {f"kind {mutant.kind}"} if mutant.kind else set()
    return Described(
        mutant.name,
        mutant.lab,
        frozenset(mutant.caught_by) | trips,
        frozenset(mutant.says) | kind,
        changes,
    )


class Sources:
    """The lines of the files that patches change, by the names in their diffs."""

    def __init__(self, kit: Kit, labs: Labs) -> None:
        self._solutions = {
            f"{directory.name}/{name}": text.decode(errors="replace").splitlines()
            for directory in (kit.reference / each.directory for each in labs.by_id.values())
            if directory.is_dir()
            for name, text in whole_files(directory).items()
        }
        self._given = {
            str(path.relative_to(kit.root)): path.read_text(encoding="utf-8").splitlines()
            for path in kit.labs.rglob("*")
            if path.suffix in {".cc", ".h"}
        }

    def given_to(self, mutant: Mutant) -> Mapping[str, list[str]]:
        return self._given if isinstance(mutant, GivenMutant) else self._solutions


def _texts(kit: Kit) -> frozenset[str]:
    """All words like LAB/NAME in programs, pages and results. The points that mutants keep are
    recorded for each of them, which is no reason to keep one."""
    places = (kit.root / "autograder", kit.labs, kit.site / "docs", kit.handouts)
    found: set[str] = set()
    for path in _files_in(places):
        if path != kit.site / points_kept.RESULTS:
            found.update(NAME.findall(path.read_text(encoding="utf-8")))
    return frozenset(found)


def _files_in(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from (path for path in place.rglob("*") if path.suffix in TEXTS and path.is_file())


def _is_named(kit: Kit, mutant: Mutant, texts: frozenset[str]) -> bool:
    """By its name, or by its path."""
    path = mutant.path.relative_to(kit.root).with_suffix("")
    return mutant.name in texts or str(path) in texts


def _problem(mutant: Mutant) -> str:
    return (
        f"mutant {mutant.name} is not needed: each of its tests catches {WITNESSES} others, and"
        " others change the same code; delete it"
    )
