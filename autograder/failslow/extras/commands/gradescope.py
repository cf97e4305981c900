"""Grades one submission unattended, or builds what grading needs. The uploaded file has no other
program.

A submission that cannot be built gets a results.json with 0 points and the compiler's output,
because students do not see stderr there. (`kit grade` writes no results.json in this case.) After
any other error there is no result, and Gradescope reports an autograder failure.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from failslow.base import console
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.build import cmake
from failslow.extras.commands import grade
from failslow.extras.release import assignment, run_budget
from failslow.grade import results
from failslow.lab import course_key
from failslow.lab.labs import load_labs

BUILD = "build"
"""The only word of the command line that builds."""


def main(argv: Sequence[str], kit: Kit | None = None) -> int:
    """`argv`: BUILD, or the submission's directory and that for results.json. Returns 0 or 2."""
    kit = kit or this_kit()
    try:
        if argv == [BUILD]:
            cmake.build(kit, targets=[cmake.GRADING])
            return 0
        submission, out = (Path(word) for word in argv)
        assigned = assignment.load(kit)
        budget = run_budget.of(assigned.runs_a_day, submission)
        if budget and not budget.graded:
            results.write(out, budget.kept_result())
            return 0
        key = course_key.take(kit)
        try:
            lab = load_labs(kit).get(assigned.lab).id if assigned.lab else None
            minutes = assigned.grading_minutes
            grade.run(kit, grade.Options(submission, out, lab, key=key, minutes=minutes))
        except BadSubmission as error:
            results.write(out, results.rejection_of(kit, error, key))
        if budget:
            budget.add_to(out)
    except CannotDo as error:
        console.error(str(error), error.detail)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
