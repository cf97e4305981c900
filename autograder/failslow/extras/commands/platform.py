"""Grades one submission in an image of PrairieLearn or Autolab. The image starts no other program.

The grade is Gradescope's, in the platform's format. Students read what this program prints: the
grader's own words, which name hidden tests, are dropped. After an error of the grader there is no
result, and the platform reports that grading failed.
"""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from failslow.base import atomic
from failslow.base.errors import BadSubmission
from failslow.base.kit import Kit, this_kit
from failslow.extras.batch import folder
from failslow.extras.batch.folder import Handed
from failslow.extras.commands import gradescope
from failslow.extras.release import assignment, convert
from failslow.grade import results
from failslow.lab import course_key
from failslow.lab.labs import Labs, load_labs

AUTOLAB = "autolab"


def main(argv: Sequence[str], kit: Kit | None = None) -> int:
    """`argv`: "prairielearn", the zip file and the directory for results.json; or AUTOLAB and the
    zip file, for standard output. Returns 0 or 2."""
    kit = kit or this_kit()
    platform, handed, *out = argv
    labs = load_labs(kit)
    content = _graded(kit, labs, Path(handed))
    if content is None:
        print("The grader failed. Tell your instructor: ./kit grade has the reason.")
        return 2
    if platform == AUTOLAB:
        assigned = assignment.load(kit).lab
        graded = [labs.get(assigned)] if assigned else [*labs.by_id.values()]
        print(f"{content['output']}\n{convert.autolab(content, labs, graded)}", end="")
    else:
        atomic.write_text(Path(*out) / results.FILE_NAME, convert.prairielearn(content, labs))
    return 0


def _graded(kit: Kit, labs: Labs, handed: Path) -> dict[str, Any] | None:
    """None after an error of the grader."""
    try:
        with (
            folder.tree_of(Handed(handed.stem, handed), labs) as tree,
            tempfile.TemporaryDirectory(prefix="failslow-platform-") as scratch,
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            if gradescope.main([str(tree), scratch], kit) != 0:
                return None
            text = Path(scratch, results.FILE_NAME).read_text("utf-8")
            content: dict[str, Any] = json.loads(text)
            return content
    except BadSubmission as error:
        return results.rejection(str(error), "", course_key.find(kit))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
