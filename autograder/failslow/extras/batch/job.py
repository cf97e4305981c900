"""One grading of a batch, in a process of its own: a crash costs one submission.

As a program: reads a job from a file in the directory that it is given, and writes results.json
there. It ends with the process whose id it is given.
"""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from failslow.base import deadline, process
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.build import sandbox
from failslow.extras.batch import folder
from failslow.extras.batch.folder import Handed
from failslow.grade import results
from failslow.grade.model import Scope
from failslow.grade.runner import grade
from failslow.lab import course_key
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import collect

MINUTES = 40.0
"""No grading takes longer, unless it hangs."""

FILE_NAME = "job.json"

GRACE_S = 120.0
"""For the end of a grading, after its minutes."""

PR_SET_PDEATHSIG = 1
INTERRUPTED = 130


@dataclass(frozen=True)
class Job:
    """Paths as strings, because a job travels. `secret`: of the course key, in hexadecimal.
    `cores`: those that this grading may use; empty for all."""

    root: str
    name: str
    path: str
    lab: str | None
    seeds: int | None
    minutes: float
    secret: str
    cores: tuple[int, ...] = ()


@dataclass(frozen=True)
class Done:
    """`result`: the document, or None if there is none; then `error` says why, in one line."""

    result: dict[str, Any] | None
    error: str = ""


def run(job: Job) -> Done:
    """Grades in a child process. Never raises: an error of one job must not end the others.

    The caller's Python has the kit of `job.root`.
    """

    with TemporaryDirectory(prefix="failslow-batch-") as scratch:
        argv = [sys.executable, "-I", "-m", "failslow.extras.batch.job", scratch, str(os.getpid())]
        try:
            (Path(scratch) / FILE_NAME).write_text(json.dumps(asdict(job)), encoding="utf-8")
            done = process.run(argv, cwd=Path(job.root), timeout_s=job.minutes * 60 + GRACE_S)
            written = Path(scratch) / results.FILE_NAME
            if done.exit_code == 0 and not done.timed_out:
                return Done(json.loads(written.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            return Done(None, f"{type(error).__name__}: {error}")
    said = done.errors.strip().splitlines()
    return Done(None, f"{done.how_it_ended()}: {said[-1] if said else 'it said nothing'}")


def grade_one(kit: Kit, job: Job) -> dict[str, Any]:
    """The document: of a rejection, too. CannotDo if the kit is at fault."""
    key = course_key.CourseKey(bytes.fromhex(job.secret))
    labs = load_labs(kit)
    end = deadline.after(job.minutes * 60)
    of: Sequence[Lab] = [labs.get(job.lab)] if job.lab else []
    try:
        with folder.tree_of(Handed(job.name, Path(job.path)), labs) as tree:
            submission = collect(kit, labs, tree, job.lab)
        of = submission.labs
        graded = grade(kit, labs, submission, Scope(seeds=job.seeds, isolate=True, end=end), key)
    except BadSubmission as error:
        rejection = results.rejection_of(kit, error, key)
        points = sum(part.points for lab in of for part in lab.parts)
        return rejection | {"extra_data": {**rejection["extra_data"], "points": points}}
    return results.document(graded, 0.0, sandbox.of_this_machine(kit))


def main(scratch: Path, batch: int) -> int:
    """`batch`: the process that this grading is for."""
    file = scratch / FILE_NAME
    words = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()  # it has the secret of the course
    job = Job(**{**words, "cores": tuple(words["cores"])})
    if job.cores:
        os.sched_setaffinity(0, job.cores)
    try:
        _end_with(batch)
        results.write(scratch, grade_one(Kit(Path(job.root)), job))
    except CannotDo as error:
        print(f"{error} {error.detail}".replace("\n", " "), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        process.stop_all()
        return INTERRUPTED
    return 0


def _end_with(batch: int) -> None:
    """A batch that is killed leaves no grading that takes the cores of the one that goes on."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != batch:  # it was killed before it could be heard
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
