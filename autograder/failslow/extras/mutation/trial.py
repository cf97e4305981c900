"""Builds a lab's reference with one change, and runs the lab's tests until one fails."""

import hashlib
import time
from dataclasses import replace
from enum import Enum
from pathlib import Path

from failslow.base import console
from failslow.base.errors import BadSubmission, CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import compile, gtest
from failslow.build.gtest import GradedTest
from failslow.build.recipe import load_recipe
from failslow.extras.mutation.changes import Change, applied, changes_of
from failslow.lab import submission
from failslow.lab.labs import Lab, Labs

TEST_TIMEOUT_S = 30.0
TEST_TIMES_SLOWER = 20.0
"""A test fails after TEST_TIMEOUT_S and this multiple of the reference's time."""

PLAIN = ("-O1", "-w", "-g0")
"""Nobody reads the warnings. Without positions for a debugger, equal programs are equal files."""


class Verdict(Enum):
    KILLED = "killed"
    SURVIVED = "survived"
    NOT_COMPILED = "does not compile"
    SAME_PROGRAM = "compiles to the reference, or to another change's program"


class Trial:
    """The trial of one lab. The kit itself must be built already."""

    def __init__(self, kit: Kit, labs: Labs, lab: Lab) -> None:
        self._kit = kit
        self._labs = labs
        self._lab = lab
        recipe = load_recipe(kit)
        self._recipe = replace(recipe, flags=(*recipe.flags, *PLAIN))
        self._reference = submission.collect(kit, labs, kit.reference, lab.id)
        self._binaries = {suite: kit.binary(f"{suite}_sealed") for suite in lab.suites}
        self._seconds: dict[GradedTest, float] = {}
        """By test, the quickest first."""
        self._seen: set[str] = set()
        """Hashes of programs."""

    def changes(self) -> list[Change]:
        """The changes of the files of this lab's reference."""
        files = self._reference.files
        return [
            change
            for name in self._lab.files
            for change in changes_of(name, files[self._path(name)].decode())
        ]

    def begin(self) -> None:
        """Times each test on the reference.

        CouldNotGrade if the reference fails a test: then a failure shows nothing."""
        replica = self._build(self._reference.files)
        self._seen.add(_hash(replica))
        tests = gtest.list_all(self._binaries)
        seconds = {}
        with console.progress(f"Testing the reference of {self._lab.id}") as advance:
            for done, test in enumerate(tests, start=1):
                began = time.monotonic()
                options = gtest.Options(replica=replica)
                if not gtest.run_test(self._binaries[test.suite], test.name, options).passed:
                    raise CouldNotGrade(f"the reference fails {test.name}")
                seconds[test] = time.monotonic() - began
                advance(done, len(tests), test.name)
        self._seconds = {test: seconds[test] for test in sorted(tests, key=seconds.__getitem__)}

    def grade(self, change: Change) -> Verdict:
        """Requires: `begin`."""
        path = self._path(change.file)
        text = applied(self._reference.files[path].decode(), change)
        try:
            replica = self._build({**self._reference.files, path: text.encode()})
        except BadSubmission:
            return Verdict.NOT_COMPILED
        program = _hash(replica)
        if program in self._seen:
            return Verdict.SAME_PROGRAM
        self._seen.add(program)
        killed = any(self._fails(test, replica) for test in self._seconds)
        return Verdict.KILLED if killed else Verdict.SURVIVED

    def _path(self, file: str) -> str:
        return f"{submission.place(self._lab, self._lab)}/{file}"

    def _build(self, files: dict[str, bytes]) -> Path:
        target = self._recipe.replica(self._lab)
        submitted = replace(self._reference, files=files)
        programs = compile.build_submission(
            self._kit, self._labs, submitted, self._recipe, [target], compile.Options(alone=False)
        )
        return programs / target.name

    def _fails(self, test: GradedTest, replica: Path) -> bool:
        """A test that does not end in time has noticed the change, too. CouldNotGrade when a test
        process dies: no code under test runs in it, so that is a defect of the tests."""
        timeout_s = TEST_TIMEOUT_S + TEST_TIMES_SLOWER * self._seconds[test]
        options = gtest.Options(replica=replica, timeout_s=timeout_s)
        try:
            return not gtest.run_test(self._binaries[test.suite], test.name, options).passed
        except gtest.Crashed as error:
            if error.timed_out:
                return True
            raise


def _hash(replica: Path) -> str:
    return hashlib.sha256(replica.read_bytes()).hexdigest()
