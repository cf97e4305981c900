"""`kit grade`: builds a submission, grades it, prints the tables and writes results.json."""

import time
from pathlib import Path

from failslow import (
    assignment,
    cmake,
    console,
    course_key,
    deadline,
    given_code,
    platform_twin,
    result_text,
    results,
    walls,
)
from failslow.assignment import Assignment
from failslow.commands.solution import check_out, submission_in, tree_in
from failslow.course_key import CourseKey
from failslow.grading import Scope, grade
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.recipe import load_recipe
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
    given = given_code.load(directory) if given_code.is_given_mutant(directory) else None
    tree, only = (kit.reference, given.lab) if given else (directory, lab)
    with submission_in(kit, labs, tree, only) as submission:
        cmake.build(kit, targets=[cmake.GRADING])
        recipe = given_code.recipe_with(kit, given, load_recipe(kit)) if given else None
        standing = walls.of_this_machine(kit)
        if lacking := walls.remark(standing):  # before the compiler, which has walls, too
            console.note(lacking)
        started = time.monotonic()
        graded = grade(
            kit, labs, submission, Scope(seeds=seeds, isolate=True, end=end), key, recipe
        )
    content = results.document(graded, time.monotonic() - started, standing)
    path = results.write(out, content)
    if as_json:
        print(result_text.as_text(content), end="")
    else:
        print_grade(console.stdout(), graded)
    if unknown := results.without_verdict(graded):
        console.note(unknown)
    console.note(f"Wrote {path}")
    return 0 if graded.full_marks else 1


def as_gradescope(
    kit: Kit,
    directory: Path,
    out: Path,
    lab: str | None = None,
    as_json: bool = False,
    key: CourseKey | None = None,
    minutes: int = assignment.MINUTES,
) -> int:
    """As `run`, by the file of an assignment. Also 1 for a submission that does not compile."""
    check_out(out)
    labs = load_labs(kit)
    with tree_in(kit, labs, directory, lab) as (tree, only):
        assigned = Assignment(labs.get(only).id if only else None, minutes)
        key = key or course_key.find(kit)
        content = platform_twin.grade(kit, labs, tree, assigned, key)
    path = results.write(out, content)
    most = content["extra_data"].get("max_score")
    if as_json:
        print(result_text.as_text(content), end="")
    elif most is None:
        print(content["output"])
    else:
        print(f"{content['score']:g} of {most:g} points")
    console.note(f"Wrote {path}")
    return 0 if content["score"] == most else 1
