"""Mutants that the kit can do without. Each costs work in every change of a reference.

A mutant is needed if a test that it names, or the invariant that it trips, has fewer than two other
witnesses in its lab. The only one of its kind of mistake is needed, too: no other mutant of its lab
changes any definition that it changes, or no other says one of its texts, or no other has its
`Kind`. A mutant that the kit names elsewhere stays: an attack begins with it, or a page shows it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.check import attacks, definitions
from failslow.extras.check.mutants import load_all
from failslow.extras.check.step import Context, Counts
from failslow.extras.site import points_kept
from failslow.lab.labs import load_labs
from failslow.lab.mutants import Mutant, split
from failslow.lab.reference import whole_files

WITNESSES = 2
"""Mutants for each test and invariant: double cover."""

NAME = re.compile(r"[\w-]+(?:/[\w-]+)+")
TEXTS = frozenset({".json", ".md", ".py", ".yaml"})
PROBLEM = (
    f"mutant {{}} is not needed: each of its tests catches {WITNESSES} others, and others change"
    " the same code; delete it"
)


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
    surplus = {each.name for each in unneeded(describe(kit, found), _kept(kit, found))}
    counts = Counts()
    for mutant in found:
        counts.expect(mutant.name not in surplus, PROBLEM.format(mutant.name))
    return counts


def unneeded(mutants: Sequence[Described], kept: Collection[str]) -> list[Described]:
    """In their order, each beside all others: once one of them is deleted, another may be needed.
    `kept`: names of those that stay."""
    witnesses = Counter((each.lab, name) for each in mutants for name in each.witness_of)
    traits = Counter((each.lab, text) for each in mutants for text in each.traits)
    changing = Counter((each.lab, name) for each in mutants for name in each.changes)
    return [
        each
        for each in mutants
        if each.name not in kept
        and all(witnesses[each.lab, name] > WITNESSES for name in each.witness_of)
        and all(traits[each.lab, text] > 1 for text in each.traits)
        and any(changing[each.lab, name] > 1 for name in each.changes)
    ]


def describe(kit: Kit, mutants: Iterable[Mutant]) -> list[Described]:
    """In their order. CannotDo for a patch that does not fit its sources."""
    sources = _sources(kit)
    return [_described(each, sources) for each in mutants]


def _described(mutant: Mutant, sources: Mapping[str, list[str]]) -> Described:
    try:
        changes = definitions.changed(split(mutant.path)[1], sources)
    except ValueError as error:
        raise CannotDo(f"{mutant.name}: {error}") from error
    trips = {f"invariant {mutant.trips}"} if mutant.trips else set()
    kind = {f"kind {mutant.kind}"} if mutant.kind else set()
    witness_of, traits = frozenset(mutant.caught_by) | trips, frozenset(mutant.says) | kind
    return Described(mutant.name, mutant.lab, witness_of, traits, changes)


def _sources(kit: Kit) -> dict[str, list[str]]:
    """The lines of the files that patches change: DIRECTORY/NAME of a reference, whole paths of
    given code."""
    texts = {
        f"{lab.directory}/{name}": text
        for lab in load_labs(kit).by_id.values()
        if (kit.reference / lab.directory).is_dir()
        for name, text in whole_files(kit.reference / lab.directory).items()
    }
    for path in kit.labs.rglob("*.[ch]*"):
        texts[path.relative_to(kit.root).as_posix()] = path.read_bytes()
    return {name: text.decode(errors="replace").splitlines() for name, text in texts.items()}


def _kept(kit: Kit, mutants: Iterable[Mutant]) -> set[str]:
    """The names of those with which an attack begins, and of those that a program, a page or a
    result names, by LAB/NAME or by path. The points that mutants keep are no such result: they are
    recorded for each of them."""
    named = {f"{each.lab}/{each.base}" for each in attacks.load(kit)}
    for place in (kit.root / "autograder", kit.labs, kit.site / "docs", kit.handouts):
        for path in place.rglob("*"):
            if path.suffix in TEXTS and path != kit.site / points_kept.RESULTS:
                named.update(NAME.findall(path.read_text(encoding="utf-8")))
    return {
        each.name
        for each in mutants
        if named & {each.name, str(each.path.relative_to(kit.root).with_suffix(""))}
    }
