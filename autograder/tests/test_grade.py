"""`kit grade` from the command line, against fakes: exit codes, results.json, reports."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from failslow import process, results
from failslow.errors import CannotDo
from failslow.kit import Kit
from fakes import write_patch, write_program, write_submission

RunKit = Callable[..., int]


def grade(run_kit: RunKit, tree: Path, *more: object) -> tuple[int, dict[str, Any]]:
    out = tree.parent / "out"
    code = run_kit("grade", tree, "--out", out, "--seeds", 1, *more)
    path = out / "results.json"
    return code, json.loads(path.read_text()) if path.exists() else {}


def test_full_marks(run_kit: RunKit, tmp_path: Path) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "", ""))
    assert code == 0
    assert content["score"] == content["extra_data"]["max_score"] == 210
    assert [test["number"] for test in content["tests"]][:5] == ["1.1", "1.2", "1.3", "1.4", "2.1"]
    assert results.validated(content) == content


def test_two_grades_differ_in_nothing_but_time(run_kit: RunKit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "", "")
    first, second = grade(run_kit, tree)[1], grade(run_kit, tree)[1]
    del first["execution_time"], second["execution_time"]
    assert first == second


def test_a_lost_test_costs_its_points(run_kit: RunKit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Quorum.Late")
    code, content = grade(run_kit, tree)
    assert code == 1
    assert content["score"] == 90
    (failed,) = [test for test in content["tests"] if test["status"] == "failed"]
    assert "expected: 2 votes" in failed["output"]


def test_a_hidden_test_shows_only_its_property(run_kit: RunKit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "FAIL:Secret.Nesting")
    _, content = grade(run_kit, tree)
    (failed,) = [test for test in content["tests"] if test["status"] == "failed"]
    assert "Property of Nesting." in failed["output"]
    assert "handouts/lab1-quorum-event.md" in failed["output"]
    extra = failed.pop("extra_data")
    assert "Secret" not in json.dumps(failed)
    assert "expected" not in json.dumps(failed)
    assert extra["id"] == "Secret.Nesting"
    assert "expected: 2 votes" in extra["detail"]


def test_waiting_for_all_loses_the_measurement_and_says_why(
    run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "", "WAITS_FOR_ALL"))
    assert code == 1
    assert content["score"] == 110
    slow = [test for test in content["tests"] if "Slow follower" in test["name"]]
    assert len(slow) == 6
    assert all(test["score"] == 0 for test in slow)
    assert all("`replicate`" in test["output"] for test in slow)
    assert "With the CPU of 1 of 3 replicas at 5 %" in capsys.readouterr().out


def test_misbehaviour_in_the_measurement_scores_zero(run_kit: RunKit, tmp_path: Path) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "", "MISBEHAVES"))
    assert code == 1
    assert content["score"] == 110
    assert "replica 1 died" in json.dumps(content["tests"])


def test_nondeterminism_voids_the_lab_and_shows_where(run_kit: RunKit, tmp_path: Path) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "NONDETERMINISTIC"))
    assert code == 1
    assert content["score"] == 0
    first = content["tests"][0]
    assert first["status"] == "failed"
    assert "run 1:  deliver from 1" in first["output"]
    assert "run 2:  deliver from 2" in first["output"]
    assert all(test["output"].startswith("Scored 0") for test in content["tests"][1:])


@pytest.mark.parametrize("behaviour", ["SEGFAULT", "EXIT3", "NORESULT", "LIES"])
def test_could_not_grade_leaves_an_earlier_grade_alone(
    run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str], behaviour: str
) -> None:
    earlier = tmp_path / "out" / "results.json"
    earlier.parent.mkdir()
    earlier.write_text('{"score": 90}')
    tree = write_submission(tmp_path / "mine", f"{behaviour}:Quorum.Late")
    code, content = grade(run_kit, tree)
    assert code == 2
    assert content == {"score": 90}
    assert complaints(capsys) == 1


def test_a_measurement_without_a_result_is_no_grade(
    run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "", "METER_DIES"))
    assert (code, content) == (2, {})
    assert complaints(capsys) == 1


def test_a_submission_that_does_not_compile(
    run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "SYNTAX"))
    assert (code, content) == (2, {})
    assert not (tmp_path / "out").exists()
    assert complaints(capsys) == 1


def test_points_that_do_not_add_up_are_the_kits_fault(
    run_kit: RunKit, kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab_yaml = kit.labs / "lab1-quorum-event" / "lab.yaml"
    lab_yaml.write_text(lab_yaml.read_text().replace("points: 100", "points: 90"))
    assert grade(run_kit, write_submission(tmp_path / "mine"))[0] == 2
    assert "add up to 100 points, lab.yaml says 90" in capsys.readouterr().err


def test_json_prints_the_document_and_nothing_else(
    run_kit: RunKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, content = grade(run_kit, write_submission(tmp_path / "mine"), "--json")
    assert json.loads(capsys.readouterr().out) == content


def test_a_mutant_is_the_reference_with_its_patch(run_kit: RunKit, kit: Kit) -> None:
    path = kit.mutants / "lab1" / "loses-late-replies.patch"
    header = "Description: d\nCaught-by: Quorum.Late\n"
    code, content = grade(run_kit, write_patch(path, header, "FAIL:Quorum.Late"))
    assert code == 1
    assert content["score"] == 90
    path.write_text(f"{header}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-other\n+text\n")
    assert grade(run_kit, path)[0] == 2


def test_an_invalid_document_is_refused() -> None:
    with pytest.raises(CannotDo, match=r"invalid results.json: score: "):
        results.validated(results.rejection("m", "d") | {"score": -1})


def test_an_interrupt_ends_children_and_writes_nothing(
    run_kit: RunKit, kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    program = kit.binary("lab1_public_sealed")
    listing = program.read_text().replace("name = options", f"{body}\nname = options", 1)
    write_program(program, listing.partition("\n")[2])
    try:
        code, content = grade(run_kit, write_submission(tmp_path / "mine"))
    finally:
        process._stopping.clear()
    assert (code, content) == (130, {})
    assert not process._groups
    assert sys.exc_info() == (None, None, None)


def complaints(capsys: pytest.CaptureFixture[str]) -> int:
    return sum(line.startswith("kit: ") for line in capsys.readouterr().err.splitlines())


def test_what_follows_from_a_failure_is_skipped_and_says_so(
    run_kit: RunKit, kit: Kit, tmp_path: Path
) -> None:
    path = kit.labs / "lab2-raft" / "lab.yaml"
    slow = "title: Slow followers, points: 100"
    path.write_text(path.read_text().replace(slow, f"{slow}, needs: [Raft.Elects]"))
    code, content = grade(run_kit, write_submission(tmp_path / "mine", "", "FAIL:Raft.Elects"))
    assert code == 1
    assert content["score"] == 100
    (skipped,) = [test for test in content["tests"] if "Slow follower" in test["name"]]
    assert (skipped["score"], skipped["max_score"]) == (0, 100)
    assert skipped["output"] == "Skipped because Raft.Elects fails: Property of Elects."
