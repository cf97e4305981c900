"""`kit debug` as a student uses it: a breakpoint in their file is hit, and the sanitizers pass a
correct test and name the line of a mistake."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from failslow import console, process
from failslow.check.step import Context, Counts
from failslow.kit import Kit
from failslow.process import Completed

LAB = "lab1"
TEST = "QuorumEvent.FirstVoteStands"
PLACE = "QuorumEvent::VoteYes"
FILE = "lab1-quorum-event/quorum_event.cc"
BEGIN = f"void {PLACE}(int voter) {{"
MISTAKE = "int* gone = new int(voter); delete gone; voter = *gone;"


def run(context: Context) -> Counts:
    """On the reference. gdb gets no commands, so it ends where it stops first."""
    counts = Counts()
    kit = context.kit
    with console.progress("Debugging a test"), _mistaken(kit) as (mistaken, line):
        stopped = _debug(kit, kit.reference, "--break", PLACE)
        sanitized = _debug(kit, kit.reference, "--asan")
        found = _debug(kit, mistaken, "--asan")
    hit = f"Breakpoint 1, depfast::{PLACE}" in stopped.output and FILE in stopped.output
    counts.expect(hit, f"kit debug: {PLACE} is no place that gdb stops at\n{stopped.output}")
    counts.expect(
        sanitized.exit_code == 0 and f"{TEST} passed under the sanitizers" in sanitized.output,
        f"kit debug --asan: {sanitized.how_it_ended()}\n{sanitized.output}",
    )
    named = f"{Path(FILE).name}:{line}"
    counts.expect(
        found.exit_code == 1 and "heap-use-after-free" in found.output and named in found.output,
        f"kit debug --asan does not name {named}: {found.how_it_ended()}\n{found.output}",
    )
    return counts


def _debug(kit: Kit, tree: Path, *options: str) -> Completed:
    argv = [kit.root / "kit", "debug", LAB, TEST, tree, *options]
    return process.run(argv, merge_errors=True)


@contextmanager
def _mistaken(kit: Kit) -> Iterator[tuple[Path, int]]:
    """A submission that reads memory after it is freed, and the line that does."""
    with tempfile.TemporaryDirectory() as made:
        tree = Path(made)
        shutil.copytree((kit.reference / FILE).parent, (tree / FILE).parent)
        text = (tree / FILE).read_text(encoding="utf-8")
        before, begin, after = text.partition(BEGIN)
        (tree / FILE).write_text(f"{before}{begin} {MISTAKE}{after}", encoding="utf-8")
        yield tree, before.count("\n") + 1
