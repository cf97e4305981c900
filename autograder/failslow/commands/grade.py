"""`kit grade`: builds a submission, grades it, prints the tables and writes results.json."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from failslow import cmake, console, results
from failslow.errors import CannotDo
from failslow.grading import Grade, Scope, grade
from failslow.kit import Kit
from failslow.labs import Labs, load_labs
from failslow.mutants import materialised, patched_in
from failslow.report import print_grade
from failslow.submission import Submission, collect


@dataclass(frozen=True)
class Request:
    directory: Path
    out: Path
    lab: str | None = None
    as_json: bool = False
    seeds: int | None = None


def run(kit: Kit, request: Request) -> int:
    """0 for full marks, 1 for points lost. results.json is written last, in one step."""
    if request.out.exists() and not request.out.is_dir():
        raise CannotDo(f"--out: {request.out} is not a directory")
    labs = load_labs(kit)
    with submission_in(kit, labs, request.directory, request.lab) as submission:
        cmake.build(kit, targets=[cmake.GRADING])
        started = time.monotonic()
        graded = grade(kit, labs, submission, Scope(seeds=request.seeds))
    content = results.document(graded, time.monotonic() - started)
    path = results.write(request.out, content)
    _show(graded, content, request.as_json)
    console.note(f"Wrote {path}")
    return 0 if graded.full_marks else 1


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


def _show(graded: Grade, content: dict[str, object], as_json: bool) -> None:
    if as_json:
        print(results.as_text(content), end="")
    else:
        print_grade(console.stdout(), graded)
