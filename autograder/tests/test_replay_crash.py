"""Replays: the crash of a test's process, found in its report."""

from pathlib import Path

from failslow.replay import crash
from failslow.replay.explanation import explain, in_words
from failslow.replay.recording import World
from recordings import Recording, read

REPORT = """The test process ended without a verdict: killed by signal 11.
crashed: a null pointer was followed
in a step of replica 1 at 0.000040 s, in coroutine 'apply'
  at lab2-raft/raft.cc:87 in Raft::Apply
  at lab2-raft/raft.cc:12 in a lambda in Raft::Start
The last steps before:
#1  0.000010 s  replica 1 is follower in term 1
"""


def test_a_crash_is_the_problem_of_its_world(tmp_path: Path) -> None:
    made = Recording()
    made.wait(40.25, 1, 6, name="apply")
    world = read(made, tmp_path / "record")
    other = World(seed=1, replicas=3)
    crash.mark([other, world], ("another failure", REPORT))
    assert other.first_problem() is None
    problem = world.first_problem()
    assert problem is not None
    assert (problem.problem, problem.when) == ("crash", 40_250)
    first, *_, last = problem.text.splitlines()
    assert first == "crashed: a null pointer was followed"
    assert last == "  at lab2-raft/raft.cc:12 in a lambda in Raft::Start"
    assert [step.event for step in explain(world)][1:] == world.waits


def test_a_crash_after_the_last_record_is_at_its_own_time() -> None:
    world = World(seed=1, replicas=3, end=17)
    crash.mark([world], (REPORT,))
    assert world.end == world.notes[0].when == 40_000


def test_a_crash_outside_of_a_step_marks_nothing() -> None:
    world = World(seed=1, replicas=3)
    crash.mark([world], ("The test process ended without a verdict: exit code 3.\naborted",))
    crash.mark([], (REPORT,))
    assert world.first_problem() is None


def test_the_explanation_is_told_in_words(tmp_path: Path) -> None:
    world = read(Recording(), tmp_path / "record")
    assert in_words(world) == []
    crash.mark([world], (REPORT,))
    assert in_words(world) == [
        "What led to it, backwards:\n",
        "  1. The process crashes in this step.\n"
        "       0.000040 s  crashed: a null pointer was followed\n",
    ]
