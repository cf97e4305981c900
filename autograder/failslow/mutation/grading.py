"""Builds the changed references, and runs the lab's tests on each until one fails."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from failslow import compile, console, gtest, parallel, submission
from failslow.errors import BadSubmission, CouldNotGrade
from failslow.gtest import GradedTest
from failslow.kit import Kit
from failslow.labs import Lab, Labs
from failslow.mutants import load_mutants, reference_of
from failslow.mutation import change as changes
from failslow.mutation import declarations, equivalents, nearest, operators, syntax
from failslow.mutation.change import Change
from failslow.recipe import Recipe, load_recipe
from failslow.submission import Submission, place

TEST_TIMEOUT_S = 60.0
"""Ten times what the slowest test takes on a busy machine."""


class Verdict(Enum):
    KILLED = "killed"
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
        self._recipe = replace(recipe, flags=(*recipe.flags, "-w", "-g0"))
        self._reference = submission.collect(kit, labs, kit.reference, lab.id)
        suites = {suite: kit.binary(f"{suite}_sealed") for suite in lab.suites}
        self._binaries = suites
        self._tests = gtest.list_all(suites)
        self._watched = nearest.watched(lab.id, load_mutants(kit))

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
        that do not compile or are the same program. Every one without `sample`."""
        reference = self._program_hash(self._build(self._reference))
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
        return graded

    def _grade(self, change: Change) -> Graded:
        path = f"{place(self._lab, self._lab)}/{change.file}"
        text = changes.applied(self._reference.files[path], change)
        files = {**self._reference.files, path: text}
        try:
            replica = self._build(replace(self._reference, files=files))
        except BadSubmission:
            return Graded(change, Verdict.NOT_COMPILED)
        program = self._program_hash(replica)
        tests = nearest.ordered(change, self._tests, self._watched)
        for test in tests:
            try:
                if self._fails(test, replica):
                    return Graded(change, Verdict.KILLED, test.name, program)
            except CouldNotGrade:
                # No code under test runs in that process: its death is a defect of the tests.
                return Graded(change, Verdict.NO_VERDICT, test.name, program)
        return Graded(change, Verdict.SURVIVED, tests[0].name, program)

    def _fails(self, test: GradedTest, replica: Path) -> bool:
        """A test that does not end in time has noticed the change, too."""
        options = gtest.Options(replica=replica, timeout_s=TEST_TIMEOUT_S)
        try:
            return not gtest.run_test(self._binaries[test.suite], test.name, options).passed
        except CouldNotGrade as error:
            if isinstance(error, gtest.Crashed) and error.timed_out:
                return True
            raise

    def _build(self, submitted: Submission) -> Path:
        targets = [self._recipe.replica(self._lab)]
        programs = compile.build_submission(
            self._kit, self._labs, submitted, self._recipe, targets, alone=False
        )
        return programs / targets[0].name

    def _program_hash(self, replica: Path) -> str:
        return hashlib.sha256(replica.read_bytes()).hexdigest()


COUNTED = (Verdict.KILLED, Verdict.SURVIVED, Verdict.NO_VERDICT)


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
