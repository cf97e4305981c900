"""Attacks against the grader: what counts as a gain."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.check import attacks
from failslow.lab.labs import load_labs
from failslow.lab.mutants import MUTANTS, path_of
from fakes import write_patch, write_submission
from running import Expect

HEADER = "// Wants it all.\n// Stopped-by: {}\n"


def write_attack(kit: Kit, name: str, stopped_by: str, body: str = "") -> None:
    """An attack on lab 1, whose starter fails one test of 40 points."""
    if not (kit.labs / "lab1-quorum-event" / "src").exists():
        write_submission(kit.root / "starter", "FAIL:Quorum.Votes")
        (kit.root / "starter" / "lab1-quorum-event").rename(kit.labs / "lab1-quorum-event" / "src")
    path = kit.attacks / "lab1" / f"{name}.cc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER.format(stopped_by) + body)


def problems(kit: Kit) -> str:
    (judged,) = attacks.judge_all(kit, attacks.load(kit))
    return "; ".join(judged.problems)


def test_an_attack_that_gains_nothing(kit: Kit, expect: Expect) -> None:
    write_attack(kit, "futile", "1 vote")
    said = expect(0, "check", "--attacks")
    assert "lab1/futile" in said.out
    assert "nothing" not in said.out


def test_an_attack_that_is_stopped_by_something_else(kit: Kit, expect: Expect) -> None:
    write_attack(kit, "odd", "a wall of straw")
    said = expect(1, "check", "--attacks")
    assert "'a wall of straw' is not why it lost" in said.out


def test_an_attack_that_does_not_compile_has_no_points(kit: Kit) -> None:
    write_attack(kit, "broken", "unqualified-id", "SYNTAX\n")
    assert problems(kit) == ""


def test_more_points_than_the_base_are_a_gain(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    write_attack(kit, "rich", "1 vote")
    monkeypatch.setattr(attacks, "_base", lambda *_: 10.0)
    assert problems(kit) == "60 points, its base has 10"


def test_a_grader_that_fails_is_a_gain(kit: Kit) -> None:
    write_attack(kit, "deadly", "1 vote", "// SEGFAULT:Quorum.Late\n")
    assert "the grader failed: Quorum.Late gave no verdict" in problems(kit)


def test_words_of_a_hidden_test_are_a_gain() -> None:
    attack = attacks.Attack("lab1", "curious", "", "not there", Path())
    ended = attacks.Ended(0.0, "line 3: GRADED_TEST(Secret); not there", 200.0)
    assert [*attacks._gains(attack, ended, 0.0)] == [
        "its author reads a hidden test",
        "it took 200 s",
    ]


def test_files_and_processes_that_stay_are_a_gain(kit: Kit, tmp_path: Path) -> None:
    out = tmp_path / "attacked"
    out.mkdir()
    assert [*attacks._left_behind(kit, out)] == []
    (out / "daemon").touch()
    assert [*attacks._left_behind(kit, out)] == ["it left daemon behind"]


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("FAIL:Quorum.Votes", ""), ("FAIL:Quorum.Late", "90 points, its base has 60")],
)
def test_a_patch_is_graded_beside_the_mutant_that_it_names(
    kit: Kit, behaviour: str, said: str
) -> None:
    mutant = "Description: A mistake.\nCaught-by: Quorum.Votes"
    write_patch(
        kit.reference / "lab1-quorum-event/mutants" / "honest.patch", mutant, "FAIL:Quorum.Votes"
    )
    sly = "Description: Wants it all.\nStopped-by: 1 vote\nBase: honest"
    write_patch(kit.attacks / "lab1" / "sly.patch", sly, behaviour)
    assert problems(kit) == said


def test_a_patch_names_its_base(kit: Kit) -> None:
    path = kit.attacks / "lab1" / "sly.patch"
    write_patch(path, "Description: Wants it all.\nStopped-by: 1 vote", "")
    with pytest.raises(CannotDo, match=r"sly\.patch: no line 'Base: \.\.\.'"):
        attacks.load(kit)


def test_an_attack_says_what_it_tries(kit: Kit) -> None:
    write_attack(kit, "silent", "1 vote")
    (kit.attacks / "lab1" / "silent.cc").write_text("int x;\n")
    with pytest.raises(CannotDo, match="does not begin with what it tries"):
        attacks.load(kit)


def test_every_attack_of_the_kit_is_on_a_lab() -> None:
    labs = load_labs(this_kit())
    found = attacks.load(this_kit())
    assert found
    assert all(labs.get(each.lab) and each.what.endswith(".") for each in found)
    for each in found:
        assert not each.base or path_of(this_kit(), MUTANTS, f"{each.lab}/{each.base}").is_file()


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("--full", "exclude each other"),
        ("--quick", "exclude each other"),
        ("--mutants", "exclude each other"),
        ("--json", "--json goes with --mutants"),
    ],
)
def test_attacks_go_alone(expect: Expect, other: str, reason: str) -> None:
    assert reason in expect(2, "check", "--attacks", other).err
