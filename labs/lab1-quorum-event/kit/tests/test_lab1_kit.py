"""Lab 1's oral questions: the steps of a script."""

from pathlib import Path

from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.lab.labs import load_labs
from recordings import Recording
from test_oral import run_of

KIT = this_kit()
(step,) = lab_kits.oral_kinds_of(KIT, load_labs(KIT).get("lab1"))


def test_steps_of_a_script_are_answered_by_looks(tmp_path: Path) -> None:
    made = Recording(replicas=1)
    for when, text in enumerate(
        ("make quorum A, of 2", "look at quorum A", "make quorum A, of 3", "make promise B",
         "add promise B to quorum A", "make promise B ready", "look at quorum A"),
        start=1,
    ):  # fmt: skip
        words = {"text": f"#{when}  leader: {text}  ->  done", "vote": "", "wrong": False}
        made.add("mark", 90, at=when * 1000, replica=0, **words)
    found = {each.about: each for each in step(run_of(made, tmp_path))}
    assert [*found] == ["#2", "#5", "#6", "#7"]
    assert "#7 look at quorum A" in found["#6"].answer[0], "B votes in A"
    assert "#3 make quorum A" in found["#7"].answer[0], "#1 has made another one"
