"""Grades one submission unattended.

A submission that cannot be built gets a results.json with 0 points and the compiler's output,
because students do not see stderr there. (`kit grade` writes no results.json in this case.) After
any other error there is no result, and Gradescope reports an autograder failure.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from failslow import console, course_key, results
from failslow.commands import grade
from failslow.errors import BadSubmission, CannotDo
from failslow.kit import Kit, this_kit


def main(argv: Sequence[str], kit: Kit | None = None) -> int:
    """`argv`: the submission's directory, and the directory for results.json. Returns 0 or 2."""
    submission, out = (Path(word) for word in argv)
    kit = kit or this_kit()
    try:
        key = course_key.take(kit)
        try:
            grade.run(kit, submission, out, key=key)
        except BadSubmission as error:
            results.write(out, results.rejection(str(error), error.detail, key))
    except CannotDo as error:
        console.error(str(error), error.detail)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
