"""Builds a lab's solution with changed files, and runs the lab's tests until one fails."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from failslow import compile, console, gtest, submission
from failslow.errors import CouldNotGrade
from failslow.gtest import GradedTest
from failslow.kit import Kit
from failslow.labs import Lab, Labs
from failslow.mutants import load_mutants
from failslow.mutation import nearest
from failslow.mutation.change import Change
from failslow.recipe import Recipe

TEST_TIMEOUT_S = 30.0
TEST_TIMES_SLOWER = 20.0
"""A test fails after TEST_TIMEOUT_S and so many times the time that the reference took."""


class Trial:
    """The reference of a lab, and its tests. The kit itself must be built already."""

    def __init__(self, kit: Kit, labs: Labs, lab: Lab, recipe: Recipe) -> None:
        self._kit = kit
        self._labs = labs
        self.lab = lab
        self._recipe = recipe
        self.reference = submission.collect(kit, labs, kit.reference, lab.id)
        self._binaries = {suite: kit.binary(f"{suite}_sealed") for suite in lab.suites}
        self._tests = gtest.list_all(self._binaries)
        self._watched = nearest.watched(lab.id, load_mutants(kit))
        self._seconds: dict[str, float] = {}

    def begin(self) -> Path:
        """Times each test on the reference. Returns the reference's program.

        CouldNotGrade if the reference fails a test: then a failure shows nothing."""
        replica = self.build({})
        with console.progress(f"Testing the reference of {self.lab.id}") as advance:
            for done, test in enumerate(self._tests, start=1):
                began = time.monotonic()
                options = gtest.Options(replica=replica)
                if not gtest.run_test(self._binaries[test.suite], test.name, options).passed:
                    raise CouldNotGrade(f"the reference fails {test.name}")
                self._seconds[test.name] = time.monotonic() - began
                advance(done, len(self._tests), test.name)
        return replica

    def path(self, lab: Lab, file: str) -> str:
        """Where the submission has a file of a lab that this lab needs, or of this lab."""
        return f"{submission.place(self.lab, lab)}/{file}"

    def build(self, changed: Mapping[str, bytes]) -> Path:
        """The program of the reference with these files. BadSubmission if it does not compile."""
        files = {**self.reference.files, **changed}
        targets = [self._recipe.replica(self.lab)]
        submitted = replace(self.reference, files=files)
        programs = compile.build_submission(
            self._kit, self._labs, submitted, self._recipe, targets, alone=False
        )
        return programs / targets[0].name

    def nearest(self, change: Change) -> str:
        """The test that is nearest to the change."""
        return nearest.ordered(change, self._tests, self._watched)[0].name

    def failing(self, change: Change, replica: Path) -> str | None:
        """The first test that fails; None if none does. Requires: `begin`. May raise NoVerdict."""
        for test in nearest.soonest(change, self._tests, self._watched, self._seconds):
            if self._fails(test, replica):
                return test.name
        return None

    def _fails(self, test: GradedTest, replica: Path) -> bool:
        """A test that does not end in time has noticed the change, too."""
        timeout_s = TEST_TIMEOUT_S + TEST_TIMES_SLOWER * self._seconds[test.name]
        options = gtest.Options(replica=replica, timeout_s=timeout_s)
        try:
            return not gtest.run_test(self._binaries[test.suite], test.name, options).passed
        except CouldNotGrade as error:
            if isinstance(error, gtest.Crashed) and error.timed_out:
                return True
            raise NoVerdict(test.name) from error


class NoVerdict(Exception):
    """A test process died. Its argument is the test's name.

    No code under test runs in that process: its death is a defect of the tests."""


def program_hash(replica: Path) -> str:
    return hashlib.sha256(replica.read_bytes()).hexdigest()
