"""Replays: the messages that carry a script of lab 1."""

from pathlib import Path

from failslow.extras.replay import scripts
from recordings import Recording, read, script


def test_a_script_is_told_by_its_steps_alone(tmp_path: Path) -> None:
    made = script()
    made.add("method", 0, id=8, name="RunScript")
    made.add("method", 0, id=9, name="Ask")
    made.send(5, 1000, 0, method=8)
    made.send(60, 0, 1000, method=8, kind="reply")
    made.send(6, 0, 1, method=9)
    made.wait(5, 0, 1, name="RunScript")
    made.wait(6, 1, 1, name="Ask")
    world = read(made, tmp_path / "record")
    (asked,) = [m.contents for m in world.messages if m.type == "Ask request"]
    scripts.put_in_words([world])
    assert [(m.type, m.contents) for m in world.messages] == [
        ("RunScript request", "the script, whose steps stand below in words"),
        ("RunScript reply", "what came of each step, as it stands above"),
        ("Ask request", asked),
    ]
    assert [wait.name for wait in world.waits] == ["Ask"]


def test_messages_of_other_labs_stay(tmp_path: Path) -> None:
    made = Recording()
    made.send(5, 1000, 0)
    made.add("mark", 6, at=6, replica=0, text="fast mode", vote="yes", wrong=False)
    world = read(made, tmp_path / "record")
    (before,) = [m.contents for m in world.messages]
    scripts.put_in_words([world])
    assert [m.contents for m in world.messages] == [before]
