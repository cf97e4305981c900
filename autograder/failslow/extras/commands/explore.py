"""`kit explore`: runs every schedule of a small world with a few deviations from the default one,
or takes every step that a lab's rules allow in small clusters (explore_rules.py).

The solution is in the test's process, as for `kit test`. A crash of the solution ends the
exploration, too. The schedule that was under way is then the shortest that fails.
"""

import json
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import gtest
from failslow.build.gtest import GradedTest, Options, Outcome
from failslow.extras.commands import exploring
from failslow.extras.replay.one_test import write_drawing
from failslow.extras.shared.sims import Sims, exploration_of
from failslow.extras.shared.solution import check_out, submission_in
from failslow.lab.labs import load_labs

SCHEDULE = "explore.schedule"
STATES = 1_000_000
"""The states of a scope of rules that are explored, unless the user says otherwise: the nearest."""

DEVIATIONS_MAX = 9
KINDS = ("losses", "delays", "crashes", "cuts")
"""In the order of `testkit::Bound`."""

PROGRESS = re.compile(r"explored (\d+) of (\d+) with (\d+) deviations")


@dataclass(frozen=True)
class Bound:
    """The most deviations of a schedule: in all, and of each of KINDS."""

    deviations: int
    of_kind: tuple[int, ...]

    def flag(self) -> str:
        return "--bound=" + ",".join(map(str, (self.deviations, *self.of_kind)))


def parse_bound(text: str) -> Bound:
    """`2`, or `2,crashes=1,cuts=0`. CannotDo for anything else."""
    first, *rest = text.split(",")
    deviations = _number(first, text)
    of_kind = dict.fromkeys(KINDS, deviations)
    for word in rest:
        kind, _, number = word.partition("=")
        if kind not in of_kind:
            raise _not_a_bound(text)
        of_kind[kind] = _number(number, text)
    return Bound(deviations, tuple(of_kind.values()))


def _number(word: str, text: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) > DEVIATIONS_MAX:
        raise _not_a_bound(text)
    return int(word)


def _not_a_bound(text: str) -> CannotDo:
    return CannotDo(
        f"--bound: '{text}' is not a number up to {DEVIATIONS_MAX},"
        f" with limits such as '2,crashes=1' ({', '.join(KINDS)})"
    )


@dataclass(frozen=True)
class Explored:
    """`failures`: of the last schedule that ran; empty if none fails. `schedule`: that one, as its
    file. `runs`: by number of deviations; empty if the process ended in a run."""

    failures: tuple[str, ...]
    schedule: str
    runs: tuple[int, ...] = ()
    states: int = 0
    situations: tuple[tuple[str, int], ...] = ()


def run(
    kit: Kit,
    lab: str,
    directory: Path | None,
    bound: Bound | None,
    states: int | None,
    out: Path,
) -> int:
    """0 when no schedule fails, 1 when one does."""
    check_out(out)
    labs = load_labs(kit)
    of_rules = labs.get(lab).exploration == "rules"
    if of_rules and bound is not None:
        raise CannotDo(f"--bound: {lab} has rules to explore, and no schedules; see --states")
    if not of_rules and states is not None:
        raise CannotDo(f"--states: {lab} has schedules to explore, and no rules; see --bound")
    with submission_in(kit, labs, directory or kit.labs, lab) as submission:
        sims = exploration_of(kit, labs, labs.get(lab), submission)
        (test,) = sims.tests()
        if of_rules:
            # A students' kit without such a lab has no such module.
            from failslow.extras.commands import explore_rules

            return explore_rules.run(sims.binaries[test.suite], states or STATES)
        bound = bound or Bound(1, (1,) * len(KINDS))
        started = time.monotonic()
        explored = _explore(sims, test, bound)
        _print(explored, time.monotonic() - started)
        if not explored.failures:
            console.stdout().print("No schedule within the bound fails.")
            return 0
        schedule = out / SCHEDULE
        atomic.write_text(schedule, explored.schedule)
        outcome = _perform(sims, test, schedule, out)
    _print_failure(explored, outcome)
    suffix = f" {directory}" if directory else ""
    console.note(f"Every step of it: ./kit replay {lab} {schedule}{suffix}")
    return 1


def _explore(sims: Sims, test: GradedTest, bound: Bound) -> Explored:
    with tempfile.TemporaryDirectory(prefix="failslow-explore-") as name:
        scratch = Path(name)
        under_way, result = scratch / "schedule", scratch / "result.json"
        argv = [
            str(sims.binaries[test.suite]),
            f"--gtest_filter={test.name}",
            f"--gtest_output=json:{result}",
            f"--under-way={under_way}",
            "--progress",
            bound.flag(),
        ]
        exit_code, output = exploring.run(
            argv, scratch, PROGRESS, lambda found: f"deviations: {found[3]}"
        )
        schedule = under_way.read_text(encoding="utf-8") if under_way.is_file() else ""
        if exit_code not in (0, 1):
            how, words = exploring.ending(exit_code, output)
            return Explored(
                (f"The test process ended in this schedule: {how}.\n{words}",), schedule
            )
        outcome = gtest.parse_result(json.loads(result.read_text(encoding="utf-8")), test.name)
        counts = json.loads(outcome.explored)
        return Explored(
            outcome.failures,
            schedule,
            tuple(counts["runs"]),
            counts["states"],
            tuple(counts["situations"].items()),
        )


def _perform(sims: Sims, test: GradedTest, schedule: Path, out: Path) -> Outcome:
    """Runs the schedule once more, and draws it."""
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as name:
        record = Path(name) / "record"
        outcome = sims.run(test, Options(record=record, schedule=schedule))
        write_drawing(out, sims, test, outcome, record)
    return outcome


def _print(explored: Explored, seconds: float) -> None:
    if not explored.runs:
        return
    out = console.stdout()
    counts = f"schedules: {sum(explored.runs):,}; states: {explored.states:,}; {seconds:.1f} s"
    out.print(counts, style="bold")
    table = Table("deviations", "schedules", box=None)
    for number, runs in enumerate(explored.runs):
        table.add_row(str(number), f"{runs:,}")
    out.print(table)
    table = Table("situation", "schedules in which it came up", box=None)
    for situation, runs in explored.situations:
        table.add_row(situation, f"{runs:,}")
    out.print(table)


def _print_failure(explored: Explored, outcome: Outcome) -> None:
    out = console.stdout()
    out.print("The shortest schedule that fails:")
    lines = explored.schedule.rstrip() or "# no deviation: the default schedule"
    out.print(_indented(lines), markup=False, soft_wrap=True)
    for failure in outcome.failures or explored.failures:
        out.print(_indented(failure), markup=False, soft_wrap=True)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
