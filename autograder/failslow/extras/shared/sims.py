"""Tests in simulation, as students run the public tests: their code is in the test process.

Not for grades. A crash or a hang comes from the student's code, so it is a failed test.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake, crash_stack, gtest
from failslow.build.compile import Options as BuildOptions
from failslow.build.compile import build_submission
from failslow.build.gtest import Crashed, GradedTest, Options, Outcome
from failslow.build.recipe import EXPLORE, MEASURED, Target, check_given, given, load_recipe
from failslow.extras.shared import compile_database, test_names
from failslow.lab.labs import Lab, Labs
from failslow.lab.submission import Submission

QUICK = {"release": ("-O1",)}
"""Flags for the student's sources, by preset. They compile in two thirds of the time of -O2, and
tests run in virtual time."""


LINKERS = {"/usr/libexec/mold/ld": "-B/usr/libexec/mold", "/usr/bin/ld.gold": "-fuse-ld=gold"}
"""Linkers that take a tenth and half of the usual one's time, and the words that choose them. The
directory serves each compiler; gcc 11 has no word for mold."""


@dataclass(frozen=True)
class Sims:
    """Built suites of one lab: the public ones and the student's own, or the hidden ones.

    `headers`: they declare the messages of its replicas."""

    lab: Lab
    binaries: dict[str, Path]
    headers: tuple[Path, ...] = ()

    def tests(self) -> list[GradedTest]:
        return gtest.list_all(self.binaries)

    def run(self, test: GradedTest, options: Options | None = None) -> Outcome:
        """The verdict; CouldNotGrade only when the kit itself is at fault."""
        options = options or Options()
        binary = self.binaries[test.suite]
        try:
            outcome = gtest.run_test(binary, test.name, options)
            return replace(outcome, said=crash_stack.in_lines(outcome.said, binary))
        except Crashed as crash:
            detail = crash_stack.in_lines(crash.detail, binary)
            message = f"{_crash_reason(crash, options)}\n{detail}".rstrip()
            seed = str(options.seed or "")
            return Outcome((message,), seed=seed, history=crash.history, ended_process=True)


def sims_of(
    kit: Kit,
    labs: Labs,
    lab: Lab,
    submission: Submission,
    hidden: bool = False,
    preset: str = "release",
) -> Sims:
    """Builds the public suites and the student's own, or the hidden ones. A student's kit has no
    hidden suites.

    BadSubmission when the submission, or an own test, does not compile.
    """
    cmake.configure(kit, preset)
    recipe = load_recipe(kit, preset)
    compile_database.write(kit, labs, recipe, preset)
    targets = recipe.sims(kit, lab, hidden)
    if not targets:
        return Sims(lab, {})
    check_given(kit, [*targets.values()])
    cmake.build(kit, preset, given(kit, [*targets.values()], preset))
    if preset in QUICK:
        recipe = replace(recipe, flags=(*recipe.flags, *QUICK[preset]))
        targets = {name: _quickly_linked(target) for name, target in targets.items()}
    quick = BuildOptions(precompiles=True)
    programs = build_submission(kit, labs, submission, recipe, [*targets.values()], quick)
    binaries = {suite: programs / target.name for suite, target in targets.items()}
    return Sims(lab, binaries, headers_of(kit, labs, lab))


def _quickly_linked(target: Target) -> Target:
    words = [words for path, words in LINKERS.items() if Path(path).exists()]
    return replace(target, link=(*target.link, *words[:1]))


def find(
    kit: Kit, labs: Labs, lab: Lab, submission: Submission, name: str, preset: str = "release"
) -> tuple[Sims, GradedTest]:
    """The test of that name, and the built suites that contain it. Public suites are searched
    first. CannotDo for an unknown test."""
    for hidden in (False, True):
        sims = sims_of(kit, labs, lab, submission, hidden, preset)
        for test in sims.tests():
            if test.name == name:
                return sims, test
    raise CannotDo(f"{lab.id} has no public test '{name}' (./kit test {lab.id} lists them)")


def check_name(kit: Kit, lab: Lab, name: str) -> None:
    """CannotDo for a misspelt test, before anything is compiled. A student has no hidden
    sources."""
    public = test_names.declared(kit.labs / lab.directory / "tests")
    if public and name not in [*public, *test_names.declared(kit.hidden / lab.directory)]:
        test_names.chosen(public, name, lab.id)


def exploration_of(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> Sims:
    """Builds the lab's program of `kit explore`, which has one test. CannotDo if the lab has none,
    BadSubmission when the submission does not compile."""
    return _program_of(kit, labs, lab, submission, EXPLORE, "small scope to explore")


def measured_of(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> Sims:
    """Builds the program of a measured run, with the submission in it. As `exploration_of`."""
    return _program_of(kit, labs, lab, submission, MEASURED, "measured part")


def _program_of(
    kit: Kit, labs: Labs, lab: Lab, submission: Submission, suffix: str, what: str
) -> Sims:
    cmake.configure(kit)
    suite = f"{lab.id}{suffix}"
    recipe = load_recipe(kit)
    if not recipe.has_sim(suite, hidden=False):
        raise CannotDo(f"{lab.id} has no {what}")
    targets = [recipe.sim(lab, suite)]
    check_given(kit, targets)
    cmake.build(kit, targets=given(kit, targets))
    programs = build_submission(kit, labs, submission, recipe, targets)
    return Sims(lab, {suite: programs / f"{suite}_sim"}, headers_of(kit, labs, lab))


def headers_of(kit: Kit, labs: Labs, lab: Lab) -> tuple[Path, ...]:
    """The given headers of a lab and of those that it is built on. Own versions of another lab's
    files exchange that lab's messages."""
    replaced = [labs.get(each) for each in lab.replaces]
    directories = [kit.labs / "common" / "contract"]
    for each in [*replaced, *labs.closure(lab)]:
        directories += [kit.labs / each.directory / name for name in ("contract", "driver")]
    return tuple(header for each in directories for header in sorted(each.glob("*.h")))


def _crash_reason(crash: Crashed, options: Options) -> str:
    if crash.timed_out:
        return (
            f"The test did not end within {options.timeout_s:.0f} s: is there a loop that"
            " never waits?"
        )
    return f"The test process ended without a verdict: {crash.how}."
