"""`kit grade` from the command line, against fakes: exit codes, results.json, reports."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from demands import some
from failslow.base import process
from failslow.base.errors import CannotDo, CouldNotGrade
from failslow.base.kit import Kit
from failslow.build import cmake, gtest
from failslow.build.compile import Options, build_submission
from failslow.build.recipe import Recipe, Target
from failslow.grade import losses, result_text, results, runner
from failslow.lab import course_key
from failslow.lab.course_key import DEVELOPMENT
from failslow.lab.labs import Lab, Labs
from failslow.lab.submission import Submission
from fakes import write_patch, write_program, write_submission
from running import Expect, Said

Content = dict[str, Any]


class Grader:
    """Grades submissions of one student, whose code says how to behave."""

    def __init__(self, expect: Expect, directory: Path) -> None:
        self._expect = expect
        self._directory = directory
        self.results = directory / "out" / "results.json"

    def grade(self, code: int, lab1: str = "", lab2: str | None = None) -> Content:
        """The content of results.json; empty if there is none."""
        tree = self._directory / "mine"
        shutil.rmtree(tree, ignore_errors=True)
        self.said = self.run(code, write_submission(tree, lab1, lab2))
        return self.content()

    def run(self, code: int, tree: Path, *more: object) -> Said:
        return self._expect(code, "grade", tree, "--out", self.results.parent, "--seeds", 1, *more)

    def content(self) -> Content:
        return json.loads(self.results.read_text()) if self.results.exists() else {}


@pytest.fixture
def grader(expect: Expect, tmp_path: Path) -> Grader:
    return Grader(expect, tmp_path)


def rows(content: Content) -> list[Content]:
    """Without the parts' sub-totals."""
    return [test for test in content["tests"] if not test["number"].startswith("0.")]


def subtotals(content: Content) -> list[Content]:
    return [test for test in content["tests"] if test["number"].startswith("0.")]


def failed(content: Content) -> list[Content]:
    return [test for test in rows(content) if test["status"] == "failed"]


def slow(content: Content) -> list[Content]:
    return [test for test in rows(content) if "Slow follower" in test["name"]]


def test_full_marks(grader: Grader) -> None:
    content = grader.grade(0, "", "")
    assert content["score"] == content["extra_data"]["max_score"] == 210
    numbers = [test["number"] for test in rows(content)]
    assert numbers[:6] == ["1.0.1", "1.1.1", "1.1.2", "1.1.3", "2.0.1", "2.1.1"]
    assert results.validated(content) == content
    assert content["extra_data"]["without_verdict"] == {}
    assert "verdict" not in content["output"]
    assert content["output"].startswith(DEVELOPMENT.mark)
    assert content["extra_data"]["course_key"] == "development"
    assert DEVELOPMENT.mark in grader.said.out
    for row in some(slow(content)):
        assert row["output"].startswith("Within all limits: throughput 0 % (limit 5 %), latency 0")


def test_the_parts_stand_first_and_have_no_points_of_their_own(grader: Grader) -> None:
    content = grader.grade(1, "FAIL:Quorum.Late", "")
    assert content["tests"][:3] == subtotals(content)
    assert [test["name"] for test in subtotals(content)] == [
        "lab1, Votes: 90 of 100",
        "lab2, Raft: 10 of 10",
        "lab2, Slow followers: 100 of 100",
    ]
    votes = subtotals(content)[0]
    assert (votes["status"], votes["output"]) == ("failed", "1 of 3 lines lost points.")
    assert not any("score" in test for test in subtotals(content))
    assert sum(test["score"] for test in rows(content)) == content["score"]


def test_a_part_without_a_loss_has_one_line(grader: Grader) -> None:
    grader.grade(0, "", "")
    lines = [line.split() for line in grader.said.out.splitlines()]
    assert ["Votes", "100/100", "0", "of", "3"] in lines
    assert ["Slow", "followers", "100/100", "0"] in [line[:4] for line in lines]
    assert "Quorum.Late" not in grader.said.out
    assert "Capacity without a fault" not in grader.said.out


def test_verbose_shows_what_lost_nothing(grader: Grader, tmp_path: Path) -> None:
    said = grader.run(0, write_submission(tmp_path / "tree", "", ""), "--verbose")
    assert "Quorum.Late: Property of Late." in said.out
    assert "Within all limits: throughput 0 %" in said.out
    assert "Capacity without a fault" in said.out


def test_verbose_has_the_figures_of_lost_rows(grader: Grader, tmp_path: Path) -> None:
    said = grader.run(1, write_submission(tmp_path / "tree", "", "WAITS_FOR_ALL"), "--verbose")
    assert said.out.count("Figures: throughput") == 12
    assert "Strengths of the faults: " in said.out
    assert "For information: other strengths, and a slow leader" in said.out


class Order:
    """The builds of a grade, and what it had printed by then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd
        self.built: list[str] = []
        self.printed: list[str] = []
        monkeypatch.setattr(cmake, "build_for_grading", self._build)

    def _build(self, kit: Kit, lab: Lab) -> None:
        self.built.append(lab.id)
        self.printed.append(self._capfd.readouterr().out)


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Order:
    return Order(monkeypatch, capfd)


def test_a_lab_is_built_after_the_verdict_on_the_one_before(grader: Grader, order: Order) -> None:
    grader.grade(1, "FAIL:Quorum.Late", "")
    assert order.built == ["lab1", "lab2"]
    assert order.printed[0] == ""
    assert "expected: 2 votes" in order.printed[1]
    assert "lab1 QuorumEvent" in order.printed[1]
    assert "lab2 Raft" in grader.said.out
    assert "Score: 200 of 210" in grader.said.out


def test_a_lab_is_judged_before_a_later_one_fails_to_compile(grader: Grader, order: Order) -> None:
    assert grader.grade(2, "", "SYNTAX") == {}
    assert "lab1 QuorumEvent" in order.printed[1]
    assert not grader.results.parent.exists()
    assert "does not compile" in grader.said.reason


@pytest.mark.parametrize("is_built", [True, False])
def test_the_next_lab_is_compiled_beside_tests_if_the_kit_is_built(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, is_built: bool
) -> None:
    beside: dict[str, bool] = {}

    def built(
        kit: Kit,
        labs: Labs,
        submission: Submission,
        recipe: Recipe,
        targets: list[Target],
        options: Options,
    ) -> Path:
        beside[targets[0].lab.id] = not options.alone
        return build_submission(kit, labs, submission, recipe, targets, options)

    monkeypatch.setattr(runner, "build_submission", built)
    monkeypatch.setattr(cmake, "is_built_for_grading", lambda *_: is_built)
    grader.grade(0, "", "")
    assert beside == {"lab1": False, "lab2": is_built}


def test_with_a_deadline_every_lab_is_compiled_first(
    grader: Grader, order: Order, tmp_path: Path
) -> None:
    tree = write_submission(tmp_path / "tree", "", "SYNTAX")
    grader.run(2, tree, "--minutes", 5)
    assert order.built == ["lab1", "lab2"]
    assert order.printed == ["", ""]


def test_the_leaderboard_has_the_measured_figures(grader: Grader) -> None:
    assert grader.grade(0, "", "")["leaderboard"] == [
        {"name": "lab2: throughput lost, %", "value": 0, "order": "asc"},
        {"name": "lab2: latency grown, %", "value": 0, "order": "asc"},
        {"name": "lab2: operations/s", "value": 2000, "order": "desc"},
        {"name": "lab2: messages per operation", "value": 2.08, "order": "asc"},
    ]
    worst = grader.grade(1, "", "WAITS_FOR_ALL")["leaderboard"]
    assert [column["value"] for column in worst] == [95, 1900, 2000, 2.08]


@pytest.mark.parametrize("behaviour", ["MISBEHAVES", "LIES", "NONDETERMINISTIC_WHEN_MEASURED"])
def test_a_void_measurement_has_no_place_on_the_leaderboard(grader: Grader, behaviour: str) -> None:
    assert grader.grade(1, "", behaviour)["leaderboard"] == []


def test_lab_yaml_says_when_results_are_shown(grader: Grader, kit: Kit) -> None:
    path = kit.labs / "lab1-quorum-event" / "lab.yaml"
    path.write_text(f"{path.read_text()}visibility: {{hidden: after_published}}\n")
    content = grader.grade(0, "", "")
    shown = {test["name"]: test.get("visibility") for test in content["tests"]}
    assert shown["lab1: Quorum.Late: Property of Late."] is None, "visible, as all are by default"
    assert shown["lab1: Property of Nesting."] == "after_published"
    assert shown["lab1, Votes: 100 of 100"] == "after_published"
    assert shown["lab2, Raft: 10 of 10"] is None
    assert "lab1" not in content["output"]
    assert "lab2 Raft: 110 of 110" in content["output"]


def test_the_raw_samples_of_each_run_are_for_the_instructor(grader: Grader) -> None:
    samples = grader.grade(0, "", "")["extra_data"]["samples"]["lab2"]
    assert samples["columns"][:3] == ["seed", "operations/s", "mean_us"]
    capacity = "3 replicas, low-jitter, capacity, fault none, before"
    assert [row[1:3] for row in samples["runs"][capacity]] == [[2000, 1000]]
    assert len(samples["seeds"]) > max(row[0] for rows in samples["runs"].values() for row in rows)


def test_a_long_result_is_cut_to_what_the_platform_takes(grader: Grader) -> None:
    content = grader.grade(1, "LONG_FAIL:Quorum.Late", "")
    assert len(grader.results.read_text()) <= result_text.CHARACTERS_MAX
    assert "samples" not in content["extra_data"]
    (late,) = failed(content)
    assert late["output"].startswith("a long word " * 100)
    assert late["output"].endswith(result_text.CUT)


def test_two_grades_differ_in_nothing_but_time(grader: Grader) -> None:
    first, second = grader.grade(0, "", ""), grader.grade(0, "", "")
    del first["execution_time"], second["execution_time"]
    assert first == second


def test_a_hidden_test_shows_only_its_property(grader: Grader) -> None:
    (lost,) = failed(grader.grade(1, "FAIL:Secret.Nesting"))
    assert "Property of Nesting." in lost["output"]
    assert "handouts/lab1-quorum-event.md" in lost["output"]
    extra = lost.pop("extra_data")
    assert "Secret" not in json.dumps(lost)
    assert "expected" not in json.dumps(lost)
    assert extra["id"] == "Secret.Nesting"
    assert "expected: 2 votes" in extra["detail"]


def test_the_instructor_sees_the_shortest_schedule_that_fails(grader: Grader) -> None:
    (lost,) = failed(grader.grade(1, "FAIL:Secret.Nesting SHRINKS:Secret.Nesting"))
    assert "the shortest of" in lost.pop("extra_data")["detail"]
    assert "shortest" not in json.dumps(lost)


def test_waiting_for_all_loses_the_measurement_and_says_why(grader: Grader) -> None:
    content = grader.grade(1, "", "WAITS_FOR_ALL")
    assert content["score"] == 110
    rows = slow(content)
    assert len(rows) == 12
    assert all(row["score"] == 0 for row in rows)
    assert all("`replicate`" in row["output"] for row in rows)
    assert len(content["extra_data"]["strengths"]["lab2"]) == 6
    out = grader.said.out
    assert "With the CPU of 1 of 3 replicas at " in out
    assert out.count("12 lines lost 100 points: your leader waited") == 1
    assert len(out.split("lab2")[0].splitlines()) < losses.SCREEN_LINES
    assert "Capacity without a fault" not in out


def test_other_strengths_and_a_slow_leader_are_reported_without_points(grader: Grader) -> None:
    (row,) = [
        test
        for test in rows(grader.grade(1, "", "WAITS_FOR_ALL"))
        if test["extra_data"]["id"] == "ungraded"
    ]
    assert (row["score"], row["max_score"], row["status"]) == (0, 0, "passed")
    lines = row["output"].splitlines()
    for start in ("3 replicas, slow follower, net-slow-1ms", "3 replicas, slow leader, cpu-slow-l"):
        (line,) = [line for line in lines if line.startswith(start)]
        assert "throughput lost 95%, latency grown 20x" in line


def test_misbehaviour_in_the_measurement_scores_zero(grader: Grader) -> None:
    content = grader.grade(1, "", "MISBEHAVES")
    assert content["score"] == 110
    assert "replica 1 died" in json.dumps(rows(content))
    assert "ungraded" not in [test["extra_data"]["id"] for test in rows(content)], "no capacity"
    for row in some(slow(content)):  # the capacity run: without a capacity there is no other
        assert ",low-jitter,capacity,none,3000/s --seed" in row["output"]


@pytest.mark.parametrize(
    ("behaviour", "score", "says"),
    [
        ("LIES", 0, "voids all rows: answer 7 was on one disk"),
        (
            "KEEPS_UP",
            0,
            "no slow replica fell behind",
        ),
        ("NEVER_CATCHES_UP", 85, "Lost of the row's points: catch-up (15 %)."),
    ],
)
def test_the_measurement_takes_points_and_says_why(
    grader: Grader, behaviour: str, score: float, says: str
) -> None:
    rows = slow(grader.grade(1, "", behaviour))
    assert sum(row["score"] for row in rows) == pytest.approx(score)
    assert says in rows[0]["output"]
    assert all(row["status"] == "failed" for row in rows)


def test_a_submission_that_is_always_slow_keeps_at_most_a_quarter(grader: Grader) -> None:
    rows = slow(grader.grade(1, "", "ALWAYS_SLOW"))
    assert 0 < sum(row["score"] for row in rows) <= 25
    assert all("average latency is above the ceiling" in row["output"] for row in rows)
    assert all("(ceiling" in row["extra_data"]["detail"] for row in rows)


def test_nondeterminism_voids_the_lab_and_shows_where(grader: Grader) -> None:
    content = grader.grade(1, "NONDETERMINISTIC")
    assert content["score"] == 0
    first = rows(content)[0]
    assert first["status"] == "failed"
    fills = [int(word) for word in re.findall(r"run \d:  deliver from (\d+)", first["output"])]
    assert sum(fills) == 255
    assert fills[0] % 2 == 1
    assert fills[1] > 0
    assert all(test["output"].startswith("Scored 0") for test in some(rows(content)[1:]))


@pytest.mark.parametrize("behaviour", ["SEGFAULT", "EXIT3", "NORESULT", "LIES", "TWINS_DIE"])
def test_a_test_without_a_verdict_costs_its_own_points(grader: Grader, behaviour: str) -> None:
    content = grader.grade(1, f"{behaviour}:Quorum.Late")
    assert content["score"] == 90
    (lost,) = (test for test in rows(content) if test["status"] == "failed")
    assert lost["extra_data"]["id"] == "Quorum.Late"
    assert "no verdict on this test, after two runs" in lost["output"]
    assert [*content["extra_data"]["without_verdict"]] == ["Quorum.Late"]
    sentence = "no verdict on 1 of the tests (10 points): grade again"
    assert sentence in content["output"]
    assert sentence in grader.said.err


def test_a_hidden_test_without_a_verdict_shows_no_name(grader: Grader) -> None:
    content = grader.grade(1, "SEGFAULT:Secret.Nesting")
    (lost,) = (test for test in rows(content) if test["status"] == "failed")
    assert "Nesting" not in lost["output"] + content["output"]
    assert "killed by SIGSEGV" in lost["extra_data"]["detail"]


@pytest.mark.parametrize("test", ["Quorum.Votes", "Quorum.Late", "Secret.Nesting"])
def test_in_every_test_the_replicas_have_twins(grader: Grader, test: str) -> None:
    first, *others = rows(grader.grade(1, f"NONDETERMINISTIC:{test}"))
    assert "run 2:  deliver from" in first["output"]
    assert all(other["output"].startswith("Scored 0") for other in some(others))


def test_a_measured_run_is_compared_too(grader: Grader) -> None:
    content = grader.grade(1, "", "NONDETERMINISTIC_WHEN_MEASURED")
    assert content["score"] == 100
    (first,) = (row for row in failed(content) if row["extra_data"]["id"] == "determinism")
    assert first["output"].startswith("In slow_follower with 3 replicas")
    assert "run 2:  deliver from" in first["output"]
    assert all(row["output"].startswith("Scored 0") for row in some(slow(content)))


def test_a_second_run_may_have_the_verdict(tmp_path: Path) -> None:
    runs = []

    def run(binary: Path, test: str, options: gtest.Options) -> gtest.Outcome:
        runs.append(test)
        if len(runs) == 1:
            raise CouldNotGrade("the machine was out of memory")
        return gtest.Outcome(())

    outcome = gtest.run_again_without_verdict(run, tmp_path, "A.B", gtest.Options())
    assert outcome.passed
    assert runs == ["A.B", "A.B"]


def test_could_not_grade_leaves_an_earlier_grade_alone(grader: Grader, kit: Kit) -> None:
    grader.results.parent.mkdir()
    grader.results.write_text('{"score": 90}')
    kit.binary("lab1_public_sealed").unlink()
    assert grader.grade(2) == {"score": 90}
    assert grader.said.reason


def test_a_measured_run_without_a_result_costs_its_rows(grader: Grader) -> None:
    content = grader.grade(1, "", "METER_DIES")
    lost = failed(content)
    assert content["score"] == 210 - sum(row["max_score"] for row in lost)
    assert lost
    for row in lost:
        assert "disk-slow" in row["name"]
        assert "no verdict on this test, after two runs" in row["output"]
    missing = content["extra_data"]["without_verdict"]
    assert [*missing] == [row["extra_data"]["id"] for row in lost]
    assert "killed" not in json.dumps(lost[0]["output"])


def test_a_comparison_of_measured_runs_without_a_result_costs_its_row(grader: Grader) -> None:
    content = grader.grade(1, "", "TWINS_DIE")
    lost = failed(content)
    assert {"net-slow"} == {row["name"].split()[-1] for row in lost}
    missing = content["extra_data"]["without_verdict"]
    assert [*missing] == [row["extra_data"]["id"] for row in lost]


def test_after_the_end_of_a_grading_nothing_begins(grader: Grader, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "tree", "", "")
    grader.run(0, tree)  # compiles
    grader.run(1, tree, "--minutes", "0.0001")
    content = grader.content()
    assert content["score"] == 0
    missing = content["extra_data"]["without_verdict"]
    assert {*missing.values()} == {"the grading ran out of time"}
    assert len(missing) == 16
    lost = failed(content)
    assert all("The grading ended before" in row["output"] for row in some(lost))
    assert "no verdict on 16 of the tests (210 points)" in content["output"]


def test_a_test_that_hangs_ends_with_the_grading(grader: Grader, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "tree", "STAYS:Quorum.Late")
    grader.run(1, tree, "--minutes", "0.03")
    assert "Quorum.Late" in grader.content()["extra_data"]["without_verdict"]


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "1e9", "soon"])
def test_an_end_that_is_none_is_refused(grader: Grader, tmp_path: Path, minutes: str) -> None:
    said = grader.run(2, write_submission(tmp_path / "tree"), "--minutes", minutes)
    assert f"'{minutes}' is no number of minutes (0.0001 to 1440)" in said.reason


def test_points_that_do_not_add_up_are_the_kits_fault(grader: Grader, kit: Kit) -> None:
    lab_yaml = kit.labs / "lab1-quorum-event" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("points: 100", "points: 90"))
    grader.grade(2)
    assert "add up to 100 points, lab.yaml says 90" in grader.said.err


def test_json_prints_the_document_and_nothing_else(grader: Grader, tmp_path: Path) -> None:
    said = grader.run(0, write_submission(tmp_path / "mine"), "--json")
    assert json.loads(said.out) == grader.content()


def test_a_mutant_is_the_reference_with_its_patch(grader: Grader, kit: Kit) -> None:
    path = kit.reference / "lab1-quorum-event/mutants" / "loses-late-replies.patch"
    header = "Description: d\nCaught-by: Quorum.Late\n"
    grader.run(1, write_patch(path, header, "FAIL:Quorum.Late"))
    assert grader.content()["score"] == 90
    path.write_text(f"{header}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-other\n+text\n")
    grader.run(2, path)


def test_an_invalid_document_is_refused() -> None:
    with pytest.raises(CannotDo, match=r"invalid results.json: score: "):
        results.validated(results.rejection("m", "d", DEVELOPMENT) | {"score": -1})


def _interrupting(program: Path) -> None:
    """Its tests interrupt the grade, and end no more."""
    body = "import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    listing = program.read_text().replace("name = options", f"{body}\nname = options", 1)
    write_program(program, listing.partition("\n")[2])


def test_an_interrupt_ends_children_and_writes_nothing(grader: Grader, kit: Kit) -> None:
    _interrupting(kit.binary("lab1_public_sealed"))
    try:
        assert grader.grade(130) == {}
    finally:
        process._stopping.clear()
    assert not process._groups
    assert sys.exc_info() == (None, None, None)


def test_an_interrupt_keeps_the_verdicts_before_it(grader: Grader, kit: Kit) -> None:
    _interrupting(kit.binary("lab2_public_sealed"))
    try:
        content = grader.grade(130, "", "")
    finally:
        process._stopping.clear()
    assert not process._groups
    assert content["score"] == 100, "lab 1's, and nothing of lab 2"
    assert content["extra_data"]["max_score"] == 210
    partial = "PARTIAL: the grading was interrupted in lab2."
    assert content["extra_data"]["partial"] == partial
    assert partial in content["output"]
    unknown = content["extra_data"]["without_verdict"]
    assert unknown["measurement"] == "the grading was interrupted"
    (measured,) = slow(content)
    assert measured["output"].startswith("The grading ended before this test did.")
    assert f"interrupted; {grader.results} is partial" in grader.said.err


def test_tests_that_need_a_failed_test_are_skipped_and_say_so(grader: Grader, kit: Kit) -> None:
    path = kit.labs / "lab2-raft" / "lab.yaml"
    points = "title: Slow followers, points: 100"
    path.write_text(path.read_text().replace(points, f"{points}, needs: [Raft.Elects]"))
    content = grader.grade(1, "", "FAIL:Raft.Elects")
    assert content["score"] == 100
    (skipped,) = slow(content)
    assert (skipped["score"], skipped["max_score"]) == (0, 100)
    assert skipped["output"] == "Skipped because Raft.Elects fails: Property of Elects."


def test_a_violated_invariant_voids_its_part_and_the_measurement(grader: Grader) -> None:
    content = grader.grade(1, "", "VIOLATES:Raft.Elects")
    assert content["score"] == 100
    (skipped,) = slow(content)
    assert (skipped["score"], skipped["max_score"]) == (0, 100)
    assert skipped["output"] == (
        "Scored 0: safety ('log matching') is violated, see the test 'Raft.Elects'"
    )
    (root,) = [test for test in rows(content) if test["extra_data"]["id"] == "Raft.Elects"]
    assert (
        "This violates safety ('log matching'), which costs all 10 points of this part and"
        " the 100 of"
    ) in root["output"]
    assert "2 of 7 lines lost points: 110 points in all." in content["output"]


def test_a_violation_is_told_once(grader: Grader) -> None:
    behaviour = "\n".join(
        f"VIOLATES:{name}\nALONE:{name}"
        for name in ("Quorum.Votes", "Quorum.Late", "Secret.Nesting")
    )
    content = grader.grade(1, behaviour)
    by_id = {test["extra_data"]["id"]: test.get("output", "") for test in rows(content)}
    assert by_id["Quorum.Votes"].startswith("x.cc:3\nlog matching violated at 0.1 s: odd")
    assert "\nThis violates safety" in by_id["Quorum.Votes"]
    assert by_id["Quorum.Late"].startswith("Violated as in Quorum.Votes: log matching.\nSee ")
    assert by_id["Secret.Nesting"].startswith(
        "Violated while this was tested: 'log matching', rule 1 of the handout.\nSee "
    )


def test_a_void_test_scores_zero_and_names_the_cause(grader: Grader) -> None:
    content = grader.grade(1, "VIOLATES:Secret.Nesting")
    assert content["score"] == 0
    by_id = {test["extra_data"]["id"]: test for test in rows(content)}
    void = by_id["Quorum.Late"]
    assert (void["score"], void["status"]) == (0, "failed")
    assert void["output"] == (
        "Scored 0: safety ('log matching') is violated, see the test 'Property of Nesting.'"
    )
    assert by_id["Secret.Nesting"]["output"].startswith(
        "Does not hold: Property of Nesting.\n"
        "Violated: 'log matching', rule 1 of the handout.\nThis violates safety"
    )


def test_a_hidden_test_tells_its_answer_and_why_it_could_not_be_built(grader: Grader) -> None:
    hidden = {
        "TOLD": "Does not hold: Property of Nesting.\nwords of the test, told\nSee ",
        "UNBUILT": "Not tested, because its situation does not come up: Property of Nesting.\n"
        "What prevents it: words of the test, unbuilt\nSee ",
    }
    for behaviour, output in hidden.items():
        content = grader.grade(1, f"FAIL:Secret.Nesting\n{behaviour}:Secret.Nesting")
        by_id = {test["extra_data"]["id"]: test for test in rows(content)}
        assert by_id["Secret.Nesting"]["output"].startswith(output)


def test_hidden_tests_have_seeds_of_the_course(grader: Grader, tmp_path: Path) -> None:
    """Public tests keep the seed that students run them with."""
    path = tmp_path / "cs1.key"
    key = course_key.make(path)
    said = grader.run(1, write_submission(tmp_path / "mine", "FAIL:Secret.Nesting"), "--key", path)
    content = grader.content()
    extra = [test["extra_data"] for test in rows(content)]
    seeds = {each["id"]: each["seed"] for each in extra if "seed" in each}
    derived = course_key.seed(key, "hidden test lab1 Secret.Nesting", 0)
    assert seeds["Secret.Nesting"] == str(derived)
    assert seeds["Quorum.Votes"] == "7"
    assert f"Seed {derived}." in said.out
    assert content["extra_data"]["course_key"] == key.fingerprint
    assert "evelopment key" not in said.out + content["output"]


def test_the_measurement_has_seeds_of_the_course(grader: Grader, tmp_path: Path) -> None:
    """The command draws the run, without the key."""
    path = tmp_path / "cs1.key"
    key = course_key.make(path)
    tree = write_submission(tmp_path / "mine", "", "WAITS_FOR_ALL")
    grader.run(1, tree, "--key", path)
    seed = course_key.seed(key, "measurement before", 0)
    output = slow(grader.content())[0]["output"]
    assert "See the run that shows it: ./kit replay lab2 slow:3/cpu-slow,before,low-j" in output
    assert f",1300.0/s --seed {seed}\n" in output  # 65 % of the capacity
