"""The progress of a stage without a terminal."""

import json
from pathlib import Path

import pytest

from failslow.base import console


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(console.time, "monotonic", clock)
    return clock


def test_a_short_stage_has_one_line(clock: Clock, capfd: pytest.CaptureFixture[str]) -> None:
    with console.progress("Testing") as advance:
        clock.now = 3.0
        advance(2, 2, "b")
    assert capfd.readouterr().err == "Testing (2): 3.0 s\n"


def test_a_long_stage_says_what_is_left(clock: Clock, capfd: pytest.CaptureFixture[str]) -> None:
    with console.progress("Testing") as advance:
        for done, clock.now in ((1, 10.0), (2, 20.0), (3, 30.0), (4, 40.0), (5, 50.0)):
            advance(done, 5, "a")
    assert capfd.readouterr().err.splitlines() == [
        "Testing: 2 of 5, about 30 s left",
        "Testing: 4 of 5, about 10 s left",
        "Testing (5): 50.0 s",
    ]


def test_the_next_run_expects_the_time_of_the_last(
    clock: Clock, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "paces.json"
    with console.progress("Testing", file) as advance:
        clock.now = 50.0
        advance(5, 5, "a")
    assert json.loads(file.read_text()) == {"Testing": 10.0}
    capfd.readouterr()
    with console.progress("Testing", file) as advance:
        clock.now += console.LINE_EVERY_S
        advance(0, 4, "a")
    assert "Testing: 0 of 4, about 40 s left" in capfd.readouterr().err


def test_a_stage_without_work_may_be_left_out(
    clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    with console.progress("Building", even_if_empty=False):
        pass
    assert capfd.readouterr().err == ""


def test_a_failed_stage_has_no_last_line(
    clock: Clock, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "paces.json"
    with pytest.raises(ValueError, match="broken"), console.progress("Building", file) as advance:
        advance(1, 2, "a")
        raise ValueError("broken")
    assert capfd.readouterr().err == ""
    assert not file.exists()
