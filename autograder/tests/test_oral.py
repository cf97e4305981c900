"""`kit questions`: each kind finds its situation in a run, and answers from the recording."""

import random
from pathlib import Path
from typing import Any

import pytest

from demands import some
from failslow.base.kit import Kit
from failslow.build.gtest import GradedTest, Options, Outcome
from failslow.extras.oral import kinds, runs, sheet
from failslow.extras.oral.kinds import Question
from failslow.extras.oral.runs import Run
from failslow.extras.shared.sims import Sims
from failslow.lab.labs import load_labs
from failslow.lab.shown import Shown
from failslow.lab.submission import Submission
from recordings import Recording, read, two_votes
from running import Expect

SHOWS = (Shown("role", 1, 1, ("follower", "leader")),)


def named_test(name: str) -> GradedTest:
    return GradedTest("lab2_public", name, "raft", 10, "Property.", hidden=False)


def run_of(made: Recording, path: Path, *failures: str, name: str = "Raft.Elects") -> Run:
    made.lines.sort(key=lambda line: line["t"])
    world = read(made, path / "record")
    return Run(named_test(name), Outcome(failures, seed="7"), world, SHOWS)


def call(made: Recording, when: float, receiver: int, answer: float) -> None:
    """Replica 0 asks, and reads the answer at the time `answer`."""
    asked = made.send(when, 0, receiver, call=f"to {receiver}")
    told = made.send(answer - 10, receiver, 0, kind="reply", call=f"to {receiver}")
    for fate in ("arrive", "read"):
        made.fate(fate, when + 10, asked)
        made.fate(fate, answer, told)


def replication(slow: tuple[int, ...] = (2,)) -> Recording:
    """Leader 0 waits for 2 of 3, and a request to replica 1 is lost later. `slow`: of a fault."""
    made = Recording()
    made.add("fault", 50, kind="net-slow", replicas=[*slow], text="net-slow 1 ms from 0.000 s")
    made.wait(100, 0, 5, needed=2, total=3, event="QuorumEvent 2 of 3 (0 yes)")
    call(made, 100, 1, answer=150)
    call(made, 100, 2, answer=300)
    made.woke(150, 0, 5)
    for when, replica, role in ((10, 0, 0), (110, 1, 0), (150, 0, 1), (5_000, 0, 0)):
        made.add("saw", when, replica=replica, kind=1, values=[0, role])
    made.fate("lose", 340, made.send(330, 0, 1))
    made.fate("arrive", 420, made.send(410, 0, 1))
    made.fate("lose", 440, made.send(430, 0, 2))
    return made


def only(found: Any) -> Question:  # noqa: ANN401
    (question,) = found
    return question


def test_a_wait_is_answered_by_those_that_were_read_during_it(tmp_path: Path) -> None:
    asked = only(kinds.wait(run_of(replication(), tmp_path)))
    assert "At 0.000100 s coroutine `replicate` of replica 0" in asked.text
    assert asked.answer[0].startswith("It ends at 0.000150 s, ready")
    assert asked.answer[0].endswith("it reads answers of replica 1.")


def test_a_fault_is_answered_by_waits_without_its_replicas(tmp_path: Path) -> None:
    def answer(*slow: int) -> list[str]:
        return [q.answer[0] for q in kinds.fault(run_of(replication(slow), tmp_path))]

    assert answer(2) == ["1 of 1 such waits end so."]
    assert answer(1) == ["0 of 1 such waits end so."], "its answer is needed"
    assert answer(1, 2) == [], "no quorum stands this"


def test_a_lost_request_is_answered_by_the_next_that_arrives(tmp_path: Path) -> None:
    asked = only(kinds.loss(run_of(replication(), tmp_path)))
    assert "at 0.000330 s is lost" in asked.text
    assert asked.answer[1].startswith("0.000410 s")
    made = replication()
    made.lines = [line for line in made.lines if line["t"] < 400_000]
    assert only(kinds.loss(run_of(made, tmp_path))).answer[1].startswith("None")


def test_a_state_is_answered_by_a_step_just_before_it(tmp_path: Path) -> None:
    asked = only(kinds.state(run_of(replication(), tmp_path)))
    assert "At 0.000150 s replica 0 shows role: leader." in asked.text
    assert asked.answer[0].endswith("(read at 0.000150 s)")


def test_a_failure_and_a_cause_go_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(two_votes(), tmp_path, "a violation")
    assert "first vote" in " ".join(only(kinds.failure(run)).answer)
    assert "sends RequestVote reply" in only(kinds.cause(run)).text, "others begin with a pause"
    monkeypatch.setattr(kinds, "PAUSE_NS", -1)
    asked = next(q for q in kinds.cause(run) if "At 0.000130 s replica 0 sends" in q.text)
    assert "RequestVote reply" in asked.answer[0]
    assert "TimeoutEvent" in asked.answer[-1]
    assert [*kinds.failure(run_of(two_votes(), tmp_path))] == [], "of a passed test"


def test_a_sheet_has_five_kinds_of_as_many_tests_as_can_be(tmp_path: Path) -> None:
    made = [run_of(replication(), tmp_path, name=f"Raft.T{number}") for number in range(5)]
    failed = [run_of(two_votes(), tmp_path, "a violation", name=f"Raft.F{n}") for n in range(5)]
    assert sheet.choose([made[0], *failed], random.Random(1))[0][1].kind == kinds.FAILURE
    assert len(sheet.choose(made[:1], random.Random(1))) == sheet.QUESTIONS
    for asked in some(sheet.choose(made, random.Random(seed)) for seed in range(3)):
        assert len({question.kind for _, question in asked}) == sheet.QUESTIONS
        assert len({run.test.name for run, _ in asked}) == 5
    text = sheet.markdown("lab2", "mine", asked)
    assert text.count("./kit replay lab2 Raft.") == 5
    assert all("\n- ".join(question.answer) in text for _, question in some(asked))


def test_equal_files_have_equal_runs_and_others_do_not(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sims, seeds = Sims(load_labs(kit).get("lab2"), {}), list[int]()

    def recorded(_: Sims, test: GradedTest, options: Options) -> Outcome:
        assert options.record and options.seed
        replication().write(options.record)
        seeds.append(options.seed)
        return Outcome((), seed=str(options.seed))

    monkeypatch.setattr(Sims, "tests", lambda _: [named_test("Raft.Elects")])
    monkeypatch.setattr(Sims, "run", recorded)
    mine, yours, other = {"a.cc": b"// a"}, {"a.cc": b"// b"}, {"b.cc": b"// a"}
    for files, number in ((mine, 1), (mine, 1), (mine, 2), (yours, 1), (other, 1)):
        chance = runs.chance_of(Submission((sims.lab,), files), number)
        assert "Raft.Elects" in only(runs.record(sims, chance, tmp_path, lambda *_: None)).page
    assert seeds[0] == seeds[1]
    assert len({*seeds}) == 4


def test_too_few_situations_are_one_line(simulated: Kit, expect: Expect, tmp_path: Path) -> None:
    said = expect(2, "questions", "lab1", simulated.reference, "--out", tmp_path / "out")
    assert "have situations for" in said.reason
    assert not (tmp_path / "out").exists()
