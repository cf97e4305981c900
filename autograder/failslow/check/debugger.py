"""`kit debug` as a student uses it: a breakpoint in their file is hit, a test runs sanitized."""

from failslow import console, process
from failslow.check.step import Context, Counts

LAB = "lab1"
TEST = "QuorumEvent.FirstVoteStands"
PLACE = "QuorumEvent::VoteYes"
FILE = "lab1-quorum-event/quorum_event.cc"


def run(context: Context) -> Counts:
    """On the reference. gdb gets no commands, so it ends where it stops first."""
    counts = Counts()
    kit = context.kit
    argv = [kit.root / "kit", "debug", LAB, TEST, kit.reference]
    with console.progress("Debugging a test"):
        stopped = process.run([*argv, "--break", PLACE], merge_errors=True)
        sanitized = process.run([*argv, "--asan"], merge_errors=True)
    hit = f"Breakpoint 1, depfast::{PLACE}" in stopped.output and FILE in stopped.output
    counts.expect(hit, f"kit debug: {PLACE} is no place that gdb stops at\n{stopped.output}")
    counts.expect(
        sanitized.exit_code == 0 and f"{TEST} passed under the sanitizers" in sanitized.output,
        f"kit debug --asan: {sanitized.how_it_ended()}\n{sanitized.output}",
    )
    return counts
