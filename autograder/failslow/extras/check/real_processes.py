"""Rounds of kills, power cuts and other faults on real processes: of the reference Raft, and of
the store."""

import re
from contextlib import closing
from pathlib import Path

from failslow.base import console, process
from failslow.build.compile import build_submission
from failslow.build.recipe import load_recipe
from failslow.extras.check import junit
from failslow.extras.check.step import Context, Counts
from failslow.extras.shared.solution import submission_in
from failslow.lab.labs import load_labs
from failslow.lab.mutants import MUTANTS, path_of

ROUNDS = 50
STORE_ROUNDS, STORE_ROUNDS_FULL = 10, 100
SAUCR_ROUNDS, SAUCR_ROUNDS_FULL = 3, 21
"""Power cuts of one replica each, and a last one of three at once, without the other two."""
ROUND_LINE = re.compile(r"^round +\d+: ")
END_LINE = re.compile(r"^\d+ commands (acknowledged|executed)")

# Mutants that the store's rounds must catch, with --full alone: each is compiled as a process.
STORE_CAUGHT = "lab3/retries-execute-again"
# Three replicas that come back at once need more answers than there are, in lab 6's store; or they
# need none. lab6/trusts-its-disk is no such mutant: by the same rule it syncs each round.
SAUCR_CAUGHT = ("lab6/needs-a-majority-of-answers", "lab6/recovers-by-its-disk-alone")
SAUCR_TESTS = "StoreOnSaucr.*"
STORE_CAUGHT_BY = re.compile(
    "no order of these operations explains the replies|does not serve after the fault"
)

# Mutants that the kill rounds must catch. The last acknowledges before its sync: only a power cut
# catches it with every seed.
CAUGHT = ("lab2/log-not-recovered", "lab2/no-catch-up", "lab2/acknowledges-before-disk")
CAUGHT_BY = re.compile(
    "acknowledged commands where they belong|acknowledged entry and wrote it anew"
    # Once both followers have fallen behind for good, nothing is committed.
    "|no [0-9]+ further commands are acknowledged"
)


def kill_rounds(context: Context) -> Counts:
    """Many rounds of the reference, then a few of mutants that the rounds must catch."""
    env = {"KILL_ROUNDS": str(ROUNDS)}
    # Clusters of three replicas, and of five.
    counts = _run_rounds(context, "real_raft_tests", env, 2 * ROUNDS, "*KillRounds*")
    for name in CAUGHT:
        output = _rounds_of_mutant(
            context, name, "real_raft_tests", "RAFT_PROGRAM", {}, "*KillRounds*/3"
        )
        counts.expect(
            bool(CAUGHT_BY.search(output)), f"mutant {name} survives the kill rounds\n{output}"
        )
    return counts


def store_rounds(context: Context) -> Counts:
    """Rounds of faults that hit the reference's key-value store. The whole history must be
    linearizable. Under --full also rounds of mutants that they must catch."""
    rounds = STORE_ROUNDS_FULL if context.full else STORE_ROUNDS
    counts = _run_rounds(context, "store_rounds_tests", {"STORE_ROUNDS": str(rounds)}, rounds)
    cuts = SAUCR_ROUNDS_FULL if context.full else SAUCR_ROUNDS
    env = {"STORE_ROUNDS": str(cuts)}
    counts.add(_run_rounds(context, "store_rounds_tests", env, cuts, SAUCR_TESTS))
    if not context.full:
        return counts
    for name, number, tests in (
        (STORE_CAUGHT, rounds, "*Rounds*"),
        *((name, SAUCR_ROUNDS, SAUCR_TESTS) for name in SAUCR_CAUGHT),
    ):
        env = {"STORE_ROUNDS": str(number)}
        output = _rounds_of_mutant(context, name, "store_rounds_tests", "STORE_PROGRAM", env, tests)
        counts.expect(
            bool(STORE_CAUGHT_BY.search(output)),
            f"mutant {name} survives the store's rounds\n{output}",
        )
    return counts


def _run_rounds(
    context: Context, program: str, env: dict[str, str], rounds: int, tests: str = "*Rounds*"
) -> Counts:
    """Runs the tests of a program that prints a line for each round; `rounds` in all."""
    report = context.scratch / f"{program}.xml"
    argv = [str(context.kit.binary(program)), f"--gtest_filter={tests}"]
    lines = process.lines([*argv, f"--gtest_output=xml:{report}"], cwd=context.scratch, env=env)
    done, remarks = 0, []
    with console.progress("Rounds of faults under load") as advance, closing(lines):
        for line in lines:
            if isinstance(line, str) and ROUND_LINE.match(line):
                done += 1
                advance(done, rounds, line)
            elif isinstance(line, str) and END_LINE.match(line):
                remarks.append(line)
    counts = junit.read(report)
    counts.remarks += remarks
    return counts


def _rounds_of_mutant(
    context: Context,
    name: str,
    program: str,
    variable: str,
    env: dict[str, str],
    tests: str = "*Rounds*",
) -> str:
    """The output of the rounds with a mutant, which the environment's `variable` names."""
    kit = context.kit
    labs, recipe = load_labs(kit), load_recipe(kit)
    with submission_in(kit, labs, path_of(kit, MUTANTS, name), None) as submission:
        target = recipe.real(submission.labs[0])
        programs = build_submission(kit, labs, submission, recipe, [target])
    argv: list[str | Path] = [kit.binary(program), f"--gtest_filter={tests}"]
    with console.progress(f"Rounds of faults that hit {name}"):
        env = {**env, variable: str(programs / target.name)}
        return process.run(argv, env=env, merge_errors=True).output
