"""The expected time of a step: from the last run, and from what is done in this one."""

from pathlib import Path

import pytest

from failslow.base import pace
from failslow.base.pace import Pace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "paces.json"


def test_without_an_earlier_run_this_one_says_what_is_left(file: Path) -> None:
    assert Pace(file, "Testing").left_s(0, 10, 0.0) is None
    assert Pace(None, "Testing").left_s(0, 10, 0.0) is None
    assert Pace(file, "Testing").left_s(2, 10, 6.0) == pytest.approx(24)


def test_the_last_run_says_it_at_first_and_this_one_more_and_more(file: Path) -> None:
    Pace(file, "Testing").keep(20, 40.0)
    again = Pace(file, "Testing")
    assert again.left_s(0, 10, 0.0) == 20
    assert again.left_s(5, 10, 30.0) == (6 + 2) / 2 * 5
    assert again.left_s(10, 10, 60.0) == 0
    assert Pace(file, "Building").left_s(0, 10, 0.0) is None


def test_a_run_without_work_changes_nothing(file: Path) -> None:
    Pace(file, "Testing").keep(20, 40.0)
    Pace(file, "Testing").keep(20, 0.1)
    Pace(file, "Testing").keep(0, 40.0)
    assert Pace(file, "Testing").left_s(0, 1, 0.0) == 2


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"Testing": "soon"}'])
def test_a_file_that_makes_no_sense_is_none(file: Path, text: str) -> None:
    file.write_text(text)
    step = Pace(file, "Testing")
    assert step.left_s(0, 10, 0.0) is None
    step.keep(1, 2.0)
    assert Pace(file, "Testing").left_s(0, 10, 0.0) == 20


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (0.4, ""), (40.2, "about 40 s left"), (150.0, "about 2 min left")],
)
def test_a_time_is_told_in_words(seconds: float | None, words: str) -> None:
    assert pace.in_words(seconds) == words
