"""`kit replay LAB slow:ROW`: one measured run, drawn."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.shared import sims
from failslow.lab.labs import load_labs
from fakes import SLOW_FOLLOWER, write_program, write_submission
from running import Expect

RECORDS = """
if "record" in options:
    world = dict(do="world", w=1, t=0, seed=7, replicas=3)
    open(options["record"], "w").write(json.dumps(world) + "\\n")
"""


Mine = Callable[[str], Path]


@pytest.fixture
def mine(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mine:
    """A submission, and the program of its runs, which behaves as the words say."""

    def write(behaviour: str) -> Path:
        body = SLOW_FOLLOWER.replace('open(options["replica"]).read()', repr(behaviour)) + RECORDS
        program = write_program(tmp_path / "lab2_measured_sim", body)
        monkeypatch.setattr(
            sims, "measured_of", lambda *_: sims.Sims(lab2, {"lab2_measured": program})
        )
        return write_submission(tmp_path / "mine", "", "")

    lab2 = load_labs(kit).get("lab2")
    return write


def test_the_run_is_drawn_beside_the_one_without_the_fault(
    expect: Expect, mine: Mine, tmp_path: Path
) -> None:
    tree = mine("WAITS_FOR_ALL")
    out = tmp_path / "out"
    said = expect(0, "replay", "lab2", "slow:3/net-slow", tree, "--out", out)
    assert re.search(r"With net-slow\S*: 100 of 1300 commands a second, latency 20.0 ms", said.out)
    assert "Without a fault: 2000 of 1300 commands a second, latency 1.0 ms" in said.out
    page = (out / "replay.html").read_text(encoding="utf-8")
    assert "slow:3/net-slow" in page and "A measured run" in page


def test_a_rate_needs_no_capacity(expect: Expect, mine: Mine, tmp_path: Path) -> None:
    name = "slow:3/net-slow,flapping,none,900/s"
    tree = mine("")
    said = expect(0, "replay", "lab2", name, tree, "--seed", 5, "--out", tmp_path).out
    assert "Without a fault: 2000 of 900 commands a second" in said
    assert "With" not in said.replace("Without", "")


def test_a_submission_that_misbehaves_fails(expect: Expect, mine: Mine, tmp_path: Path) -> None:
    tree = mine("MISBEHAVES")
    name = "slow:3/cpu-slow,900/s"
    assert "replica 1 died" in expect(1, "replay", "lab2", name, tree, "--out", tmp_path).err


def test_a_run_needs_a_capacity(expect: Expect, mine: Mine, tmp_path: Path) -> None:
    tree = mine("COMPLETES_NOTHING")
    said = expect(2, "replay", "lab2", "slow:3/cpu-slow", tree, "--out", tmp_path)
    assert "nothing is committed without a fault" in said.reason


def test_bad_input_is_refused(expect: Expect, mine: Mine, tmp_path: Path) -> None:
    more = [mine(""), "--out", tmp_path]
    assert "lab1 has no measured part" in expect(2, "replay", "lab1", "slow:3/x", *more).reason
    assert "no measured row '3/x'" in expect(2, "replay", "lab2", "slow:3/x", *more).reason
    shrunk = expect(2, "replay", "lab2", "slow:3/cpu-slow", *more, "--shrink")
    assert "--shrink is for tests" in shrunk.reason
