"""`kit test LAB --slow`: the measured part on the student's own code."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from demands import some
from failslow.base.errors import CouldNotGrade
from failslow.base.kit import Kit, this_kit
from failslow.build.gtest import GradedTest, Outcome
from failslow.extras.commands import slow
from failslow.lab.labs import load_labs
from failslow.measurement.binary import without_verdict
from failslow.measurement.measure import Measurement
from failslow.measurement.runs import BEFORE, DEAD, LATENCY, NORMAL, Run
from failslow.measurement.settings import load_settings
from fakes import write_submission
from running import Expect


def test_rows_that_hold_tell_their_margins(expect: Expect, tmp_path: Path) -> None:
    out = expect(0, "test", "lab2", write_submission(tmp_path / "mine", "", ""), "--slow").out
    assert "6 of 6 measured rows hold, with one seed and 3 replicas." in out
    limits = "throughput 0 % (limit 5 %), latency 0 % (limit 5 %), p99 1.00x (limit 1.50x)."
    assert f"Within all limits: {limits}" in out.replace("\n", " ")


def test_the_words_of_the_measured_parts_tests_stand_below_the_rows(
    expect: Expect, kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FakeSims:
        def tests(self) -> list[GradedTest]:
            names = ("Raft.Beside", "Raft.Elects")
            return [GradedTest("", name, "", 0, f"Property of {name}.", False) for name in names]

        def run(self, test: GradedTest) -> Outcome:
            return Outcome((), told=f"words of {test.name}")

    monkeypatch.setattr(slow, "sims_of", lambda *_: FakeSims())
    measured = load_labs(kit).get("lab2").measurement
    assert measured is not None
    source = f'GRADED_TEST(Raft, Beside, "{measured.part}", 0, "x") {{}}\n'
    source += 'GRADED_TEST(Raft, Elects, "raft", 10, "x") {}\n'
    (kit.labs / "lab2-raft" / "tests").mkdir()
    (kit.labs / "lab2-raft" / "tests" / "a.cc").write_text(source)
    out = expect(0, "test", "lab2", write_submission(tmp_path / "mine", "", ""), "--slow").out
    assert out.splitlines()[-2:] == ["Property of Raft.Beside.", "words of Raft.Beside"]


def test_a_log_with_a_slow_mode_stands_beside_itself() -> None:
    fast = Run(5, "slow-disk", LATENCY, BEFORE, NORMAL, seed=1)
    slowed = replace(fast, fault=DEAD, places=(1, 2))
    sample = replace(without_verdict(CouldNotGrade("")), mean_ns=7_000_000, p99_ns=8_000_000)
    dead = replace(sample, mean_ns=16_000_000, p99_ns=20_000_000, slowly=1.0)
    samples = {fast: sample, slowed: dead}
    found = Measurement((), (), {}, (), {}, samples=samples)
    assert slow.beside_slow_mode(found)[1:] == [
        "7.0 ms on average beside 16.0 ms, and a p99 of 8.0 ms beside 20.0 ms"
    ]
    without = Measurement((), (), {}, (), {}, samples={fast: sample, slowed: sample})
    assert slow.beside_slow_mode(without) == []


def test_a_row_that_fails_names_the_wait(expect: Expect, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "", "WAITS_FOR_ALL")
    out = expect(1, "test", "lab2", tree, "--slow").out.replace("\n", " ")
    assert "0 of 6 measured rows hold" in out
    assert "The wait that cost the points: coroutine `replicate` of replica 0" in out
    assert re.search(r"See it: ./kit replay lab2 slow:3/cpu-slow,\S+/s --seed \d+", out)


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        ("MISBEHAVES", "Nothing can be measured: replica 1 died"),
        ("COMPLETES_NOTHING", "Nothing can be measured: lab2 completes no command"),
    ],
)
def test_what_does_not_work_is_not_measured(
    expect: Expect, tmp_path: Path, behaviour: str, says: str
) -> None:
    out = expect(
        1, "test", "lab2", write_submission(tmp_path / "mine", "", behaviour), "--slow"
    ).out
    assert says in out
    assert "First let the public tests pass: ./kit test lab2" in out


def test_bad_input_is_refused(expect: Expect, kit: Kit, tmp_path: Path) -> None:
    tree = write_submission(tmp_path / "mine", "", "")
    assert "lab1 has no measured part" in expect(2, "test", "lab1", tree, "--slow").reason
    for words in some((["Raft", tree], [tree, "--seeds", 2], [tree, "--watch"])):
        assert "no FILTER, --seeds" in expect(2, "test", "lab2", *words, "--slow").reason


def test_every_measured_lab_has_rows_to_try() -> None:
    measured = [lab for lab in load_labs(this_kit()).by_id.values() if lab.measurement is not None]
    assert measured
    for lab in measured:
        assert slow.fewest(load_settings(this_kit(), lab)).rows, lab.id
