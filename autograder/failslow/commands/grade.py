"""`kit grade`: builds a submission, grades it, prints the tables and writes results.json."""

import time
from pathlib import Path

from failslow import cmake, console, course_key, deadline, result_text, results, walls
from failslow.commands.solution import check_out, submission_in
from failslow.course_key import CourseKey
from failslow.grading import Scope, grade
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.report import print_grade


def run(
    kit: Kit,
    directory: Path,
    out: Path,
    lab: str | None = None,
    as_json: bool = False,
    seeds: int | None = None,
    key: CourseKey | None = None,
    minutes: float | None = None,
) -> int:
    """0 for full marks, 1 for points lost. results.json is written last, in one step.

    Without a `key` the grader looks for one. `minutes`: the grading ends then, with what it has.
    """
    end = deadline.NONE if minutes is None else deadline.after(minutes * 60)
    check_out(out)
    key = key or course_key.find(kit)
    labs = load_labs(kit)
    with submission_in(kit, labs, directory, lab) as submission:
        cmake.build(kit, targets=[cmake.GRADING])
        standing = walls.of_this_machine(kit)
        started = time.monotonic()
        graded = grade(kit, labs, submission, Scope(seeds=seeds, isolate=True, end=end), key)
    content = results.document(graded, time.monotonic() - started, standing)
    path = results.write(out, content)
    if as_json:
        print(result_text.as_text(content), end="")
    else:
        print_grade(console.stdout(), graded)
    for remark in (walls.remark(standing), results.without_verdict(graded)):
        if remark:
            console.note(remark)
    console.note(f"Wrote {path}")
    return 0 if graded.full_marks else 1
