"""`kit grade`: builds a submission, grades it, prints the tables and writes results.json."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from failslow import cmake, console, course_key, results
from failslow.course_key import CourseKey
from failslow.errors import CannotDo
from failslow.grading import Scope, grade
from failslow.kit import Kit
from failslow.labs import Labs, load_labs
from failslow.mutants import materialised, patched_in
from failslow.report import print_grade
from failslow.submission import Submission, collect


def run(
    kit: Kit,
    directory: Path,
    out: Path,
    lab: str | None = None,
    as_json: bool = False,
    seeds: int | None = None,
    key: CourseKey | None = None,
) -> int:
    """0 for full marks, 1 for points lost. results.json is written last, in one step.

    Without a `key` the grader looks for one.
    """
    check_out(out)
    key = key or course_key.find(kit)
    labs = load_labs(kit)
    with submission_in(kit, labs, directory, lab) as submission:
        cmake.build(kit, targets=[cmake.GRADING])
        started = time.monotonic()
        graded = grade(kit, labs, submission, Scope(seeds=seeds), key)
    content = results.document(graded, time.monotonic() - started)
    path = results.write(out, content)
    if as_json:
        print(results.as_text(content), end="")
    else:
        print_grade(console.stdout(), graded)
    console.note(f"Wrote {path}")
    return 0 if graded.full_marks else 1


def check_out(out: Path) -> None:
    """CannotDo when --out names something else than a directory."""
    if out.exists() and not out.is_dir():
        raise CannotDo(f"--out: {out} is not a directory")


@contextmanager
def submission_in(kit: Kit, labs: Labs, directory: Path, only: str | None) -> Iterator[Submission]:
    """The submission in a directory. For a mutant or an alternative: the patched reference.

    Only the lab of a mutant or an alternative is graded: a broken lab 1 would also fail lab 2.
    """
    patched = patched_in(directory)
    if patched is None:
        yield collect(kit, labs, directory, only)
        return
    console.note(f"{type(patched).__name__} {patched.name}: {patched.description}")
    with materialised(kit, labs, patched) as tree:
        yield collect(kit, labs, tree, only or patched.lab)
