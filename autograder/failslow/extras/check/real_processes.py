"""Rounds of kills, power cuts and other faults on real processes of the store."""

import re
from contextlib import closing
from pathlib import Path

from failslow.base import console, process
from failslow.build.compile import build_submission
from failslow.build.recipe import load_recipe
from failslow.extras.check import junit
from failslow.extras.check.step import Context, Counts
from failslow.lab.labs import load_labs
from failslow.lab.mutants import MUTANTS, load_mutant, materialised, path_of
from failslow.lab.reference import write_tree
from failslow.lab.submission import collect

PROGRAM = "store_rounds_tests"
STORE_ROUNDS, STORE_ROUNDS_FULL = 10, 100
SAUCR_ROUNDS, SAUCR_ROUNDS_FULL = 3, 21
"""Power cuts of one replica each, and a last one of three at once, without the other two."""
ROUND_LINE = re.compile(r"^round +\d+: ")
END_LINE = re.compile(r"^\d+ commands executed")

SAUCR_TESTS = "StoreOnSaucr.*"
CAUGHT = (
    ("lab2/log-not-recovered", "lab3"),
    ("lab2/no-catch-up", "lab3"),
    # It acknowledges before its sync: only a power cut of all catches it with every seed.
    ("lab2/acknowledges-before-disk", "lab3"),
    ("lab3/retries-execute-again", "lab3"),
    # Three replicas that come back at once need more answers than there are; or they need none.
    # lab6/trusts-its-disk is no such mutant: by the same rule it syncs each round.
    ("lab6/needs-a-majority-of-answers", "lab6"),
    ("lab6/recovers-by-its-disk-alone", "lab6"),
)
"""Mutants that the rounds must catch, with --full alone, and the lab whose process is run: each is
compiled."""
CAUGHT_BY = re.compile(
    "no order of these operations explains the replies"
    "|does not serve (before|under|after) the fault"
)


def store_rounds(context: Context) -> Counts:
    """Rounds of faults that hit the reference's key-value store. The whole history must be
    linearizable. Under --full also rounds of mutants that they must catch."""
    rounds = STORE_ROUNDS_FULL if context.full else STORE_ROUNDS
    cuts = SAUCR_ROUNDS_FULL if context.full else SAUCR_ROUNDS
    counts = _run_rounds(context, rounds, "*Rounds*")
    counts.add(_run_rounds(context, cuts, SAUCR_TESTS))
    if not context.full:
        return counts
    for name, lab in CAUGHT:
        on_saucr = lab == "lab6"
        output = _rounds_of_mutant(
            context,
            name,
            lab,
            SAUCR_ROUNDS if on_saucr else rounds,
            SAUCR_TESTS if on_saucr else "*Rounds*",
        )
        counts.expect(
            bool(CAUGHT_BY.search(output)), f"mutant {name} survives the store's rounds\n{output}"
        )
    return counts


def _run_rounds(context: Context, rounds: int, tests: str) -> Counts:
    """Runs the tests, which print a line for each of the rounds."""
    report = context.scratch / f"{PROGRAM}.xml"
    argv = [str(context.kit.binary(PROGRAM)), f"--gtest_filter={tests}"]
    env = {"STORE_ROUNDS": str(rounds)}
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


def _rounds_of_mutant(context: Context, name: str, lab_id: str, rounds: int, tests: str) -> str:
    """The output of the rounds with a mutant, of the lab or of one that it is built on."""
    kit = context.kit
    labs, recipe = load_labs(kit), load_recipe(kit)
    lab = labs.get(lab_id)
    mutant = load_mutant(path_of(kit, MUTANTS, name))
    with materialised(kit, labs, mutant) as tree:
        if mutant.lab != lab_id:
            write_tree(kit.reference, [lab], tree)
        target = recipe.real(lab)
        submission = collect(kit, labs, tree, lab_id)
        programs = build_submission(kit, labs, submission, recipe, [target])
    argv: list[str | Path] = [kit.binary(PROGRAM), f"--gtest_filter={tests}"]
    env = {"STORE_ROUNDS": str(rounds), "STORE_PROGRAM": str(programs / target.name)}
    with console.progress(f"Rounds of faults that hit {name}"):
        return process.run(argv, env=env, merge_errors=True).output
