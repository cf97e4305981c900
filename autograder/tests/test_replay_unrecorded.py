"""Replays: the problems that a record lacks."""

from pathlib import Path

from failslow.extras.replay import unrecorded
from failslow.extras.replay.explanation import explain, in_words
from failslow.extras.replay.recording import Note, World
from recordings import Recording, read, script

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
    made.wait(20, 1, 6, name="apply")
    made.woke(40.25, 1, 6)
    world = read(made, tmp_path / "record")
    other = World(seed=1, replicas=3)
    unrecorded.add([other, world], ("another failure", REPORT), True)
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
    unrecorded.add([world], (REPORT,), True)
    assert world.end == world.notes[0].when == 40_000


def test_a_crash_outside_of_a_step_and_a_passed_test_mark_nothing() -> None:
    world = World(seed=1, replicas=3)
    unrecorded.add([world], (), False)
    said = "The test process ended without a verdict: exit code 3.\naborted"
    unrecorded.add([world], (said,), True)
    unrecorded.add([], (REPORT,), True)
    assert (world.first_problem(), world.notes) == (None, [])


def test_the_explanation_is_told_in_words(tmp_path: Path) -> None:
    world = read(Recording(), tmp_path / "record")
    assert in_words(world) == []
    unrecorded.add([world], (REPORT,), True)
    assert in_words(world) == [
        "What led to it, backwards:\n",
        "  1. The process crashes in this step.\n"
        "       0.000040 s  crashed: a null pointer was followed\n",
    ]


def test_a_failure_after_the_last_cluster_is_at_its_end() -> None:
    worlds = [World(seed=1, replicas=3, end=5), World(seed=1, replicas=3, end=7)]
    unrecorded.add(worlds, ("labs/x_test.cc:51\nstep #2 goes wrong", "b"), False)
    assert worlds[0].notes == []
    assert worlds[1].notes == [Note(7, "step #2 goes wrong", "failure")]
    unrecorded.add(worlds, ("another",), False)
    assert len(worlds[1].notes) == 1


def test_a_script_that_goes_wrong_fails_at_the_wrong_step_of_the_last_one(tmp_path: Path) -> None:
    made = script()
    made.lines[2]["wrong"] = True
    made.lines.pop()  # the failure came after the cluster
    world = read(made, tmp_path / "record")
    unrecorded.add([world, World(seed=1, replicas=1)], ("step #4 goes wrong",), False)
    assert world.notes == [Note(40_000, "step #4 goes wrong", "failure")]
    assert explain(world)[0].event == world.marks[3]
