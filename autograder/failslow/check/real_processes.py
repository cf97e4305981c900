"""Tests outside the simulator: `kit cluster`, and the kill rounds of the reference Raft."""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

from failslow import console, process, waiting
from failslow.check import junit
from failslow.check.step import Context, Counts
from failslow.commands.solution import submission_in
from failslow.compile import build_submission
from failslow.labs import Lab, load_labs
from failslow.recipe import load_recipe

ROUNDS = 50
STORE_ROUNDS, STORE_ROUNDS_FULL = 10, 100
LABS = ("lab3", "lab5")  # the store on Raft's log, and on Copilot's
GRAPH_S = 30.0
EXIT_CANNOT = 2
ROUND_LINE = re.compile(r"^round +\d+: ")
END_LINE = re.compile(r"^\d+ commands (acknowledged|executed)")

# A mutant that the store's rounds must catch.
STORE_CAUGHT = "lab3/retries-execute-again"
STORE_CAUGHT_BY = re.compile("no order of these operations explains the replies")

# Mutants that the kill rounds must catch.
CAUGHT = ("lab2/log-not-recovered", "lab2/no-catch-up")
CAUGHT_BY = re.compile(
    "acknowledged commands where they belong|acknowledged entry and wrote it anew"
    # Once both followers have fallen behind for good, nothing is committed.
    "|no [0-9]+ further commands are acknowledged"
)


def cluster(context: Context) -> Counts:
    """A student's first steps with each kind of log: start the reference, kill and restart a
    replica that proposes commands, end everything."""
    counts = Counts()
    labs = load_labs(context.kit)
    for lab in LABS:
        with console.progress(f"Running a cluster of {lab}"):
            _run_cluster(context, labs.get(lab), counts)
    return counts


def experiment(context: Context) -> Counts:
    """An experiment with a slow follower. Its verdict depends on the machine, so any will do."""
    out = context.scratch / "faults"
    argv = [context.kit.root / "kit", "faults", "run", "--fault", "net-slow", "--quick", "--json"]
    with console.progress("Making an experiment"):
        done = process.run([*argv, "--out", out], cwd=context.scratch)
    counts = Counts()
    counts.expect(done.exit_code in (0, 1), f"kit faults run: {done.how_it_ended()}\n{done.errors}")
    words = re.findall(r'"word": "(PASS|FAIL|INCONCLUSIVE)"', done.output)
    counts.expect(len(words) == 1, f"kit faults run: no verdict in\n{done.output}")
    counts.expect((out / "experiments.html").is_file(), "kit faults run: there is no page")
    return counts


def _run_cluster(context: Context, lab: Lab, counts: Counts) -> None:
    data = context.scratch / lab.id

    def expect(exit_code: int, action: str, *arguments: str) -> process.Completed:
        done = _kit(context, data, action, *arguments)
        said = f"kit cluster {action}: {done.how_it_ended()} instead of exit code {exit_code}"
        counts.expect(done.exit_code == exit_code, f"{lab.id}: {said}\n{done.errors}".rstrip())
        return done

    try:
        expect(0, "up", "--lab", lab.id, "--verify", "--durable")
        proposer = _proposer(lab, expect(0, "status", "--json"))
        counts.expect(proposer is not None, f"{lab.id}: kit cluster status: no replica proposes")
        expect(0, "kill", str(proposer))
        expect(1, "status")
        expect(0, "start", str(proposer))
        expect(0, "status")
        _expect_faults(context, data, counts)
        counts.expect(_draws(context, data), f"{lab.id}: kit cluster graph: there is no graph")
    finally:
        expect(0, "down")


def _expect_faults(context: Context, data: Path, counts: Counts) -> None:
    """A real replica is slow for a moment; a crash is an end and a restart; nothing is left."""

    def faults(action: str, *words: str) -> process.Completed:
        argv = [context.kit.root / "fault-scripts" / action, *words, "--data", data]
        done = process.run(argv, cwd=context.scratch)
        counts.expect(done.exit_code == 0, f"fault-scripts/{action}: {done.errors}".rstrip())
        return done

    for fault in ("net-slow", "cpu-slow", "disk-slow", "partition", "crash"):
        said = faults("inject", fault, "--target", "follower", "--for", "300ms").errors
        counts.expect("(follower): healed" in said, f"fault-scripts/inject {fault} said: {said}")
    for action in ("list", "heal"):
        said = faults(action).output
        counts.expect("no fault is on" in said, f"fault-scripts/{action} said: {said}")


def kill_rounds(context: Context) -> Counts:
    """Many rounds of the reference, then a few of mutants that the rounds must catch."""
    env = {"KILL_ROUNDS": str(ROUNDS)}
    # Of three replicas, and of five.
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
    """Rounds of faults that hit the reference's key-value store, then of a mutant that they must
    catch. The whole history must be linearizable."""
    rounds = STORE_ROUNDS_FULL if context.full else STORE_ROUNDS
    counts = _run_rounds(context, "store_rounds_tests", {"STORE_ROUNDS": str(rounds)}, rounds)
    output = _rounds_of_mutant(
        context, STORE_CAUGHT, "store_rounds_tests", "STORE_PROGRAM", {"STORE_ROUNDS": str(rounds)}
    )
    counts.expect(
        bool(STORE_CAUGHT_BY.search(output)),
        f"mutant {STORE_CAUGHT} survives the store's rounds\n{output}",
    )
    return counts


def _kit(context: Context, data: Path, action: str, *arguments: str) -> process.Completed:
    argv = [context.kit.root / "kit", "cluster", action, *arguments, "--data", data]
    return process.run(argv, cwd=context.scratch)


def _draws(context: Context, data: Path) -> bool:
    """Whether the replicas' verification yields a graph, once their first window is over."""

    def ask() -> bool:
        return _kit(context, data, "graph").exit_code != EXIT_CANNOT

    return waiting.until(ask, GRAPH_S) and (context.scratch / "out" / "slowness.html").is_file()


def _proposer(lab: Lab, status: process.Completed) -> int | None:
    """The first replica whose role proposes commands; None if there is none."""
    assert lab.cluster is not None, "it was started"
    name, roles = lab.cluster.ready_name, lab.cluster.proposers
    replicas: list[dict[str, Any]] = json.loads(status.output)["replicas"] if status.output else []
    return next((each["id"] for each in replicas if each["shows"].get(name) in roles), None)


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
    with submission_in(kit, labs, kit.mutants / f"{name}.patch", None) as submission:
        target = recipe.real(submission.labs[0])
        programs = build_submission(kit, labs, submission, recipe, [target])
    argv = [kit.binary(program), f"--gtest_filter={tests}"]
    with console.progress(f"Rounds of faults that hit {name}"):
        env = {**env, variable: str(programs / target.name)}
        return process.run(argv, env=env, merge_errors=True).output
