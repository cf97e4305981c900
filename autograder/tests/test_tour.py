"""`kit tour`: the tests of the handbook's example, one by one."""

import re
from pathlib import Path

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.extras.commands import tour
from fakes import TEST_BINARY, write_program
from running import Expect

SLOW = "Notes.ASlowFollowerDelaysNobody"


def write_notes(kit: Kit, behaviour: str = "") -> None:
    program = kit.preset("release") / "bin" / tour.PROGRAM
    program.parent.mkdir(parents=True, exist_ok=True)
    write_program(program, TEST_BINARY.format(tests=[]) + f"\n# {behaviour}\n")


def test_its_tests_are_those_of_the_example() -> None:
    source = this_kit().root / "framework" / "testkit" / "notes" / "notes_test.cc"
    names = re.findall(r"^TEST\(Notes, (\w+)\)", source.read_text(), re.M)
    assert [f"Notes.{name}" for name in names] == list(tour.TESTS)


def test_all_are_run(kit: Kit, expect: Expect) -> None:
    write_notes(kit)
    assert "4 of 4 tests passed" in expect(0, "tour").out
    write_notes(kit, f"FAIL:{SLOW}")
    out = expect(1, "tour").out
    assert f"FAILED {SLOW}" in out
    assert "3 of 4 tests passed" in out


def test_one_is_printed_and_drawn(kit: Kit, expect: Expect, tmp_path: Path) -> None:
    write_notes(kit, f"FAIL:{SLOW}")
    said = expect(1, "tour", SLOW, "--out", tmp_path / "out")
    assert "2 vote" in said.out
    assert f"{SLOW} failed with seed 7" in said.err
    assert f"{SLOW} failed" in (tmp_path / "out" / "replay.html").read_text()


@pytest.mark.parametrize("behaviour", ["SEGFAULT", "EXIT3"])
def test_an_example_that_dies_fails(kit: Kit, expect: Expect, behaviour: str) -> None:
    write_notes(kit, f"{behaviour}:{SLOW}")
    assert "3 of 4 tests passed" in expect(1, "tour").out
    assert "ended without a verdict" in expect(1, "tour", SLOW, "--out", kit.root / "out").err


def test_an_unknown_test_is_refused(expect: Expect) -> None:
    assert expect(2, "tour", "Notes.None").reason.startswith("kit: the tour has no test")
