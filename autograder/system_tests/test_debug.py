"""`kit debug` as a student uses it: a breakpoint in their file is hit, and the sanitizers pass a
correct test and name the line of a mistake."""

import shutil
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.base.process import Completed

LAB = "lab1"
TEST = "QuorumEvent.FirstVoteStands"
PLACE = "QuorumEvent::VoteYes"
FILE = "lab1-quorum-event/quorum_event.cc"
BEGIN = f"void {PLACE}(int voter) {{"
MISTAKE = "int* gone = new int(voter); delete gone; voter = *gone;"

pytestmark = pytest.mark.full


def debug(kit: Kit, tree: Path, *options: str) -> Completed:
    argv = [kit.root / "kit", "debug", LAB, TEST, tree, *options]
    return process.run(argv, merge_errors=True)


def test_gdb_stops_at_a_place_in_the_students_file(kit: Kit) -> None:
    """It gets no commands, so it ends where it stops first."""
    output = debug(kit, kit.reference, "--break", PLACE).output
    assert f"Breakpoint 1, depfast::{PLACE}" in output and FILE in output


def test_a_correct_test_passes_under_the_sanitizers(kit: Kit) -> None:
    done = debug(kit, kit.reference, "--asan")
    assert done.exit_code == 0, done.output
    assert f"{TEST} passed under the sanitizers" in done.output


def test_the_sanitizers_name_the_line_of_a_mistake(kit: Kit, tmp_path: Path) -> None:
    shutil.copytree((kit.reference / FILE).parent, (tmp_path / FILE).parent)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    before, begin, after = text.partition(BEGIN)
    (tmp_path / FILE).write_text(f"{before}{begin} {MISTAKE}{after}", encoding="utf-8")
    line = before.count("\n") + 1
    done = debug(kit, tmp_path, "--asan")
    assert done.exit_code == 1, done.output
    assert "heap-use-after-free" in done.output
    assert f"{Path(FILE).name}:{line}" in done.output
