"""Builds the changed references, and runs the lab's tests on each until one fails."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path

from failslow import compile, console, parallel
from failslow.errors import BadSubmission
from failslow.kit import Kit
from failslow.labs import Lab, Labs
from failslow.mutants import reference_of
from failslow.mutation import change as changes
from failslow.mutation import declarations, equivalents, operators, precompiled, syntax
from failslow.mutation.change import Change
from failslow.mutation.trial import NoVerdict, Trial, program_hash
from failslow.recipe import Recipe, load_recipe


class Verdict(Enum):
    KILLED = "killed"
    KILLED_LATER = "killed by the tests of a lab that needs this one"
    SURVIVED = "survived"
    NOT_COMPILED = "does not compile"
    NO_VERDICT = "the test process itself died"
    SAME_PROGRAM = "compiles to the reference, or to another change's program"


@dataclass(frozen=True)
class Graded:
    """`test`: the one that failed, or died; of a survivor the nearest. `program`: a hash of it."""

    change: Change
    verdict: Verdict
    test: str = ""
    program: str = ""


@dataclass(frozen=True)
class Population:
    """All changes of a lab's reference, and how many of them are recorded as equivalent."""

    changes: tuple[Change, ...]
    equivalent: int


class Grader:
    """Grades changes of one lab. The kit itself must be built already."""

    def __init__(self, kit: Kit, labs: Labs, lab: Lab) -> None:
        self._kit = kit
        self._labs = labs
        self._lab = lab
        recipe = load_recipe(kit)
        # No warnings: nobody reads them. No positions of the debugger's: equal programs are equal.
        # Less optimized than a grade, because most of the time goes into the compiler.
        recipe = replace(recipe, flags=(*recipe.flags, "-O1", "-w", "-g0"))
        self._recipe = precompiled.with_given_headers(kit, lab, recipe)
        self._trial = Trial(kit, labs, lab, self._recipe)
        self._known: dict[str, tuple[Verdict, str]] = {}  # by program, with the test

    def population(self) -> Population:
        """CannotDo for an equivalent that no change matches."""
        directory = reference_of(self._kit, self._lab)
        ours = [syntax.parse(name, (directory / name).read_bytes()) for name in self._lab.files]
        given = [syntax.parse_file(path) for path in _headers(self._kit, self._recipe)]
        every = operators.changes_of(ours, declarations.collect(ours, given))
        recorded = equivalents.load(self._kit, self._lab.id)
        left = equivalents.without(self._kit, self._lab.id, every, recorded)
        return Population(tuple(left), len(every) - len(left))

    def grade(self, candidates: Sequence[Change], sample: int | None) -> list[Graded]:
        """In the order of `candidates`: the first `sample` of them that count, and those between
        that do not compile or are the same program. Every one without `sample`.

        CouldNotGrade if the reference fails a test."""
        reference = program_hash(self._trial.begin())
        self._known[reference] = Verdict.SAME_PROGRAM, ""
        graded: list[Graded] = []
        left = list(candidates)
        missing = len(left) if sample is None else sample
        with console.progress(f"Grading changes of {self._lab.id}") as advance:
            while left and missing > 0:
                batch, left = left[:missing], left[missing:]
                graded += parallel.run_all(batch, self._grade, advance, lambda each: each.before)
                graded = _without_repeats(graded, reference)
                counted = sum(each.verdict in COUNTED for each in graded)
                missing = len(left) if sample is None else sample - counted
        return self._graded_later(graded)

    def _grade(self, change: Change) -> Graded:
        try:
            replica = self._trial.build(self._changed(self._trial, change))
        except BadSubmission:
            return Graded(change, Verdict.NOT_COMPILED)
        program = program_hash(replica)
        if program not in self._known:
            self._known[program] = self._verdict(change, replica)
        verdict, test = self._known[program]
        return Graded(change, verdict, test, program)

    def _verdict(self, change: Change, replica: Path) -> tuple[Verdict, str]:
        try:
            failed = self._trial.failing(change, replica)
        except NoVerdict as died:
            return Verdict.NO_VERDICT, str(died)
        if failed is not None:
            return Verdict.KILLED, failed
        return Verdict.SURVIVED, self._trial.nearest(change)

    def _graded_later(self, graded: list[Graded]) -> list[Graded]:
        """The survivors meet the tests of the labs that need this one: a later lab may add to a
        file, as lab 3 does to lab 2's."""
        for lab in self._labs.by_id.values():
            survived = [each for each in graded if each.verdict is Verdict.SURVIVED]
            if self._lab.id not in lab.needs or not survived:
                continue
            trial = Trial(self._kit, self._labs, lab, self._recipe)
            trial.begin()
            with console.progress(f"Grading the survivors by {lab.id}") as advance:
                again = parallel.run_all(survived, partial(self._later, trial), advance, _before)
            by_change = {each.change: each for each in again}
            graded = [by_change.get(each.change, each) for each in graded]
        return graded

    def _later(self, trial: Trial, survivor: Graded) -> Graded:
        change = survivor.change
        try:
            failed = trial.failing(change, trial.build(self._changed(trial, change)))
        except NoVerdict as died:
            return replace(survivor, verdict=Verdict.NO_VERDICT, test=str(died))
        if failed is None:
            return survivor
        return replace(survivor, verdict=Verdict.KILLED_LATER, test=failed)

    def _changed(self, trial: Trial, change: Change) -> dict[str, bytes]:
        path = trial.path(self._lab, change.file)
        return {path: changes.applied(trial.reference.files[path], change)}


def _before(graded: Graded) -> str:
    return graded.change.before


KILLED = (Verdict.KILLED, Verdict.KILLED_LATER)
COUNTED = (*KILLED, Verdict.SURVIVED, Verdict.NO_VERDICT)


def _without_repeats(graded: Sequence[Graded], reference: str) -> list[Graded]:
    """The first change of each program counts, and none that leaves the reference's."""
    seen = {reference}
    result = []
    for each in graded:
        if each.verdict in COUNTED and each.program in seen:
            each = replace(each, verdict=Verdict.SAME_PROGRAM)
        seen.add(each.program)
        result.append(each)
    return result


def _headers(kit: Kit, recipe: Recipe) -> list[Path]:
    """The kit's own headers that a submission may include."""
    found = []
    for directory in compile.include_directories(recipe.flags):
        if kit.root in directory.parents:
            found += sorted(directory.rglob("*.h"))
    return found
