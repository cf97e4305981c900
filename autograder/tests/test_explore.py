"""`kit explore`: the bound, and what the test programs say."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build.gtest import GradedTest
from failslow.extras.commands import explore, explore_rules
from failslow.extras.commands.explore import Bound, Explored, parse_bound
from failslow.extras.shared.sims import Sims
from failslow.lab.labs import load_labs
from fakes import write_lab, write_program
from running import Expect

TEST = GradedTest("lab2_explore", "Scope.All", "2c", 0, "", hidden=False)

PROGRAM = """
import json, os, sys
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
print("explored 1 of 3 with 1 deviations" if "bound" in options else "explored 1 of 2 scopes")
print("limit", options.get("bound") or options["states"])
if "under-way" in options:
    open(options["under-way"], "w").write("# replica 1 crashes\\n")
if {aborts}:
    sys.stdout.flush()
    os.abort()
case = dict(name="All", status="RUN", result="COMPLETED", explored=json.dumps({explored}))
case["failures"] = [dict(failure=text, type="") for text in {failures}]
document = dict(testsuites=[dict(name="Scope", testsuite=[case])])
open(options["gtest_output"].partition(":")[2], "w").write(json.dumps(document))
sys.exit(1 if {failures} else 0)
"""
SCHEDULES = {"runs": [1, 3], "states": 7, "complete": True, "situations": {"seen": 2, "unseen": 0}}


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("0", Bound(0, (0, 0, 0, 0))),
        ("2", Bound(2, (2, 2, 2, 2))),
        ("3,crashes=1,losses=0", Bound(3, (0, 3, 1, 3))),
    ],
)
def test_a_bound_limits_all_deviations_and_each_kind(text: str, bound: Bound) -> None:
    assert parse_bound(text) == bound


@pytest.mark.parametrize("text", ["", "x", "-1", "10", "2,", "2,dogs=1", "2,cuts", "2,cuts=x", "²"])
def test_another_bound_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(CannotDo, match=r"^--bound: .* is not a number up to 9"):
        parse_bound(text)


def explored_by(tmp_path: Path, aborts: bool = False, failures: tuple[str, ...] = ()) -> Explored:
    """The result of a program that aborts in a schedule, or reports the failures."""
    body = PROGRAM.format(aborts=aborts, failures=list(failures), explored=SCHEDULES)
    program = write_program(tmp_path / "explore", body)
    sims = Sims(load_labs(this_kit()).get("lab2"), {TEST.suite: program})
    return explore._explore(sims, TEST, Bound(2, (2, 2, 1, 0)))


def test_the_counts_are_those_of_the_program(tmp_path: Path) -> None:
    explored = explored_by(tmp_path)
    assert explored.failures == ()
    assert explored.runs == (1, 3)
    assert explored.states == 7
    assert explored.situations == (("seen", 2), ("unseen", 0))


def test_a_failure_has_the_schedule_that_was_under_way(tmp_path: Path) -> None:
    explored = explored_by(tmp_path, failures=("log matching violated",))
    assert explored.failures == ("log matching violated",)
    assert explored.schedule == "# replica 1 crashes\n"


def test_a_solution_that_ends_the_process_fails_in_its_schedule(tmp_path: Path) -> None:
    explored = explored_by(tmp_path, aborts=True)
    assert explored.schedule == "# replica 1 crashes\n"
    assert "killed by SIGABRT" in explored.failures[0]
    assert "limit 2,2,2,1,0" in explored.failures[0], "the last words, without the progress"
    assert "explored" not in explored.failures[0]


def explored_rules(tmp_path: Path, violated: str = "", aborts: bool = False) -> int:
    scope = {"scope": "3 replicas", "states": 4003, "complete": True, "violated": violated}
    scope |= {"counts": {"fast commits": 1234, "wait": 0}, "steps": ["replica 0 proposes"]}
    failures = [violated] if violated else []
    body = PROGRAM.format(aborts=aborts, failures=failures, explored={"scopes": [scope]})
    return explore_rules.run(write_program(tmp_path / "explore", body), 500)


def test_rules_without_a_violation_are_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explored_rules(tmp_path) == 0
    output = capsys.readouterr().out
    assert "3 replicas" in output and "4,003" in output
    assert "fast commits" in output and "1,234" in output
    assert "replica 0 proposes" not in output


def test_a_violation_shows_its_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explored_rules(tmp_path, violated="committed in no order") == 1
    output = capsys.readouterr().out
    assert "3 replicas: committed in no order" in output
    assert "  replica 0 proposes\n" in output


def test_rules_that_end_the_process_are_told(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match=r"calls your rules ended: .*SIGABRT") as told:
        explored_rules(tmp_path, aborts=True)
    assert "limit 500" in told.value.detail, "the last words, without the progress"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("lab5", "--bound", "2"), "--bound: lab5 has rules to explore, and no schedules"),
        (("lab2", "--states", "2"), "--states: lab2 has schedules to explore, and no rules"),
    ],
)
def test_each_lab_has_a_bound_of_its_own_kind(
    kit: Kit, expect: Expect, words: tuple[str, ...], complaint: str
) -> None:
    write_lab(kit, "lab5", "rules.cc", "needs: [lab1]\nexploration: rules")
    assert complaint in expect(2, "explore", *words).reason
