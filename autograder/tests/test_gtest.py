"""Verdicts of test binaries: outputs that are a verdict, and outputs that are none."""

from pathlib import Path

import pytest

from failslow.base.errors import CouldNotGrade
from failslow.build import gtest
from failslow.build.gtest import Crashed, Options, parse_result, run_and_shrink, run_test
from fakes import graded, write_program, write_test_binary

NAME = "Quorum.Votes"


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return write_test_binary(tmp_path / "tests", [graded(NAME, 40, hidden=True)])


def options(tmp_path: Path, behaviour: str, timeout_s: float = 30.0) -> Options:
    replica = tmp_path / "replica"
    replica.write_text(behaviour)
    return Options(replica=replica, timeout_s=timeout_s, trace=True)


def test_reads_a_pass_with_its_hash_seed_and_history(binary: Path, tmp_path: Path) -> None:
    outcome = run_test(binary, NAME, options(tmp_path, ""))
    assert outcome.passed
    assert outcome.trace_hash == "deliver 5"
    assert outcome.seed == "7"
    assert outcome.history.startswith("1 start")
    assert len(outcome.trace) == 5


@pytest.mark.parametrize(
    ("behaviour", "violated", "rule"),
    [
        ("VIOLATES", "log matching", "'log matching', rule 1 of the handout"),
        ("BREAKS", "", "'promptness', rule 2 of the handout"),
    ],
)
def test_a_violated_rule_is_named_and_is_an_invariant_if_it_is_of_safety(
    binary: Path, tmp_path: Path, behaviour: str, violated: str, rule: str
) -> None:
    outcome = run_test(binary, NAME, options(tmp_path, f"{behaviour}:{NAME}"))
    assert not outcome.passed
    assert (outcome.violated, outcome.rule) == (violated, rule)


def test_a_violation_may_name_the_part_that_it_costs() -> None:
    violated = "one value violated at 0.1 s: two (the rules of part 5b)"
    case = {"name": "Votes", "status": "RUN", "violated": violated}
    suites = [{"name": "Quorum", "testsuite": [case]}]
    outcome = parse_result({"testsuites": suites}, NAME)
    assert (outcome.violated, outcome.violated_part) == ("one value", "5b")


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        ("", "expected: 2 votes\nhappened: 1 vote"),
        (f"SHRINKS:{NAME}", f"the shortest of {gtest.SHRINK_RUNS} runs"),
        (f"SHRINKS:{NAME} SHRINK_HANGS:{NAME}", "expected: 2 votes\nhappened: 1 vote"),
    ],
)
def test_a_failing_schedule_is_shown_as_short_as_can_be(
    binary: Path, tmp_path: Path, behaviour: str, failure: str
) -> None:
    given = options(tmp_path, f"FAIL:{NAME} {behaviour}")
    assert run_and_shrink(binary, NAME, given).failures == (failure,)


def test_a_test_that_passes_is_not_run_again(binary: Path, tmp_path: Path) -> None:
    given = options(tmp_path, f"SHRINKS:{NAME} SHRINK_HANGS:{NAME}")
    assert run_and_shrink(binary, NAME, given) == run_test(binary, NAME, given)


@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ("SEGFAULT", "killed by SIGSEGV"),
        ("EXIT3", "exit code 3"),
        ("NORESULT", "result file is unusable"),
        ("LIES", "contradicts"),
    ],
)
def test_no_verdict(binary: Path, tmp_path: Path, behaviour: str, complaint: str) -> None:
    with pytest.raises(CouldNotGrade, match=complaint):
        run_test(binary, NAME, options(tmp_path, f"{behaviour}:{NAME}"))


def test_a_hang_is_no_verdict_but_keeps_the_history(binary: Path, tmp_path: Path) -> None:
    with pytest.raises(Crashed, match="no result in time") as hung:
        run_test(binary, NAME, options(tmp_path, f"HANG:{NAME}", timeout_s=1.0))
    assert hung.value.history.startswith("1 start")


@pytest.mark.parametrize(
    "suites",
    [
        [],
        [{"name": "Quorum", "testsuite": [{"name": "Other", "status": "RUN"}]}],
        [{"name": "Quorum", "testsuite": [{"name": "Votes", "status": "NOTRUN"}]}],
        [
            {
                "name": "Quorum",
                "testsuite": [{"name": "Votes", "status": "RUN", "result": "SKIPPED"}],
            }
        ],
    ],
)
def test_a_test_that_did_not_run_is_no_verdict(suites: list[dict[str, object]]) -> None:
    with pytest.raises(CouldNotGrade, match=r"^Quorum.Votes: (?:the binary ran|was not run)"):
        parse_result({"testsuites": suites}, NAME)


@pytest.mark.parametrize("output", ["", "[{}]", "nonsense", '{"name": 1}'])
def test_a_malformed_list_is_no_verdict(tmp_path: Path, output: str) -> None:
    binary = write_program(tmp_path / "tests", f"print({output!r})")
    with pytest.raises(CouldNotGrade, match="malformed"):
        gtest.list_graded(binary, "lab1_public")
