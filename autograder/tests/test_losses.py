"""The losses of a lab on one screen."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from failslow.grade import losses
from failslow.grade.model import TestRow

LONG = "\n".join(f"line {number} of the reason" for number in range(30))


def lost(name: str, points: float = 4, cause: str = "", output: str = LONG) -> TestRow:
    return TestRow(
        lab="lab2",
        test_id=name,
        title=f"Property of {name}",
        part="2a",
        score=0.0,
        max_score=points,
        passed=False,
        hidden=False,
        output=f"{output}\nSee handouts/lab2.md",
        cause=cause,
    )


def brief(rows: Sequence[TestRow], reserved: int = 10) -> list[str]:
    console = Console(file=io.StringIO(), width=110)
    losses.print_brief(console, rows, reserved)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


MANY = [lost(f"Raft.{number:02}", number + 1) for number in range(39)]
ALIKE = [lost(f"slow {number}", cause="your leader slept in `replicate`") for number in range(12)]


@pytest.mark.parametrize("rows", [MANY, ALIKE, [*MANY, *ALIKE], MANY[:1], MANY[:3]])
@pytest.mark.parametrize("reserved", [8, 12])
def test_fits_one_screen(rows: list[TestRow], reserved: int) -> None:
    assert len(brief(rows, reserved)) <= losses.SCREEN_LINES - reserved


def test_the_most_points_come_first_and_the_rest_is_counted() -> None:
    lines = brief(MANY)
    assert "Property of Raft.38" in lines[1]
    assert lines[2] == "line 0 of the reason"
    shown = sum("Property of" in line for line in lines)
    assert f"{39 - shown} more lines lost" in lines[-1]


def test_every_lost_point_is_shown_or_counted() -> None:
    lines = brief(MANY)
    counted = float(lines[-1].partition(" lost ")[2].split()[0])
    shown = sum(row.max_score for row in MANY if any(row.title in line for line in lines))
    assert shown + counted == sum(row.max_score for row in MANY)


def test_one_cause_is_told_once_with_one_reason() -> None:
    rows = [replace(row, missed="throughput fell by 93 %") for row in ALIKE]
    lines = brief(rows)
    assert lines[1].endswith("12 lines lost 48 points: your leader slept in `replicate`")
    assert lines[2] == "  0/4  Property of slow 0: throughput fell by 93 %"
    assert "  and 6 more" in lines
    assert lines.count("line 0 of the reason") == 1


def test_a_reason_that_is_cut_says_so_and_still_names_the_handout() -> None:
    lines = brief([lost("Raft.Long", output="\n".join([LONG, LONG]))])
    assert lines[-2:] == ["... (--verbose prints all)", "See handouts/lab2.md"]


def test_a_long_line_counts_as_the_lines_that_it_takes() -> None:
    rows = [lost(f"Raft.{number}", output="word " * 400) for number in range(9)]
    height = sum(max(1, -(-len(line) // 110)) for line in brief(rows))
    assert height <= losses.SCREEN_LINES - 10 + losses.LEAST_LINES


def test_of_one_cause_a_public_line_has_the_reason() -> None:
    hidden = replace(ALIKE[0], hidden=True, detail="secret")
    assert "secret" not in "".join(brief([hidden, ALIKE[1]]))


def test_of_a_hidden_line_the_instructor_sees_the_failure() -> None:
    lines = brief(
        [replace(lost("Raft.Hidden", output="Does not hold"), hidden=True, detail="term 3")]
    )
    assert lines[2:5] == ["Does not hold", "term 3", "See handouts/lab2.md"]
