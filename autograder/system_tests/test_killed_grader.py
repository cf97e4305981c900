"""Nothing that a killed grader has started goes on."""

import os
import signal
import sys
from pathlib import Path

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.shared import waiting

ENDED_S = 30.0


def test_a_test_ends_with_its_grader(kit: Kit) -> None:
    """It is in a session of its own: no signal to the grader's group reaches it."""
    argv = [str(kit.binary("lab1_public_sim")), "--gtest_repeat=1000000"]
    grader = f"from failslow.base import process as p; p.run({argv}, env=p.ends_with_this())"
    with process.background([sys.executable, "-c", grader]) as pid:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        assert waiting.until(lambda: children.read_text().strip() != "", ENDED_S)
        test = Path("/proc") / children.read_text().strip()
        program = Path(argv[0]).name
        assert waiting.until(lambda: program in (test / "cmdline").read_text(), ENDED_S)
        os.kill(pid, signal.SIGKILL)
        assert waiting.until(lambda: not test.exists(), ENDED_S), "the test outlives its grader"
