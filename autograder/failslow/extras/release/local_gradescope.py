"""`kit grade --as gradescope`: a grading by the file that an instructor uploads.

The file is unpacked as the platform unpacks it. Its setup.sh builds it once, and its run_autograder
grades, in a container of the platform's smallest size. Without a Docker engine it is a plain tree.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.release import gradescope
from failslow.extras.release.assignment import Assignment
from failslow.extras.shared import engine, long_build
from failslow.extras.shared.guard import guarded
from failslow.grade import results
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Labs

CPUS, MEMORY = "0.5", "768m"
"""The limits of Gradescope's smallest container."""
BASE = "debian:bookworm-slim"
AUTOGRADER = "AUTOGRADER"
"""The environment variable by which Gradescope's scripts find a tree elsewhere."""
BUILT = ".built"
NO_RESULT = "the grader left no result: the platform would say that the autograder failed"


def grade(
    kit: Kit, labs: Labs, tree: Path, assignment: Assignment, key: CourseKey
) -> dict[str, Any]:
    """The platform's view of results.json. CannotDo when the grader leaves none.

    `tree`: as for `collect`. Requires: this process has one thread.
    """
    program = gradescope.program(kit)
    settings = gradescope.settings(kit, assignment, key)
    digest = _digest(program)
    with ExitStack() as stack:
        submission = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "submission"
        _copy_labs(labs, tree, submission)
        if engine.answers():
            left = _in_container(digest, program, settings, submission)
        else:
            console.note("No Docker engine answers: a plain tree, without the platform's limits")
            left = _in_plain_tree(kit, digest, program, settings, submission)
    return results.validated(json.loads(left))


def _digest(entries: Mapping[str, Entry]) -> str:
    digest = hashlib.sha256()
    for name, entry in sorted(entries.items()):
        digest.update(f"{name}\0{entry.executable}\0{len(entry.content)}\0".encode())
        digest.update(entry.content)
    return digest.hexdigest()[:16]


def _copy_labs(labs: Labs, tree: Path, submission: Path) -> None:
    """Copies the labs unchanged: the grader says what may be handed in."""
    if not tree.is_dir():
        raise CannotDo(f"no such directory: {tree}")
    submission.mkdir()
    for lab in labs.by_id.values():
        if (tree / lab.directory).is_dir():
            shutil.copytree(tree / lab.directory, submission / lab.directory, symlinks=True)


def _unpack(entries: Mapping[str, Entry], root: Path) -> None:
    for name, entry in entries.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.content)
        path.chmod(0o755 if entry.executable else 0o644)


# ---- in a container ----


def _in_container(
    digest: str, program: Mapping[str, Entry], settings: Mapping[str, Entry], submission: Path
) -> bytes:
    image = f"failslow-autograder:{digest}"
    if not engine.has_image(image):
        _build_image(image, program)
    limits = ["--cpus", CPUS, "--memory", MEMORY, "--memory-swap", MEMORY, "--network", "none"]
    container = engine.docker("create", *limits, image, "/autograder/run_autograder").strip()
    with tempfile.TemporaryDirectory() as scratch, guarded(lambda: _remove(container)):
        source = Path(scratch) / "source"
        _unpack(settings, source)
        engine.docker("cp", f"{source}/.", f"{container}:/autograder/source")
        engine.docker("cp", f"{submission}/.", f"{container}:/autograder/submission")
        with console.progress(f"Grading with {CPUS} processors and {MEMORY} of memory"):
            graded = process.run(["docker", "start", "--attach", container], merge_errors=True)
        if graded.exit_code != 0:
            raise CannotDo(NO_RESULT, graded.output)
        engine.docker("cp", f"{container}:/autograder/results/{results.FILE_NAME}", scratch)
        return (Path(scratch) / results.FILE_NAME).read_bytes()


def _build_image(image: str, program: Mapping[str, Entry]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        _unpack(program, Path(scratch))
        words = ["--tag", image, "--build-arg", f"BASE={BASE}"]
        if engine.NETWORK in os.environ:
            words += ["--network", os.environ[engine.NETWORK]]
        long_build.run(["docker", "build", *words, "."], Path(scratch), {}, "Building the image")


def _remove(container: str) -> None:
    engine.docker("rm", "--force", container)


# ---- in a plain tree ----


def _in_plain_tree(
    kit: Kit,
    digest: str,
    program: Mapping[str, Entry],
    settings: Mapping[str, Entry],
    submission: Path,
) -> bytes:
    trees = kit.build / "as-gradescope"
    root = trees / digest
    source, left = root / "source", root / "results"
    here = {AUTOGRADER: str(root)}
    if not (root / BUILT).exists():
        shutil.rmtree(trees, ignore_errors=True)
        _unpack(program, source)
        long_build.run([source / "setup.sh"], source, here, "Building the autograder")
        (root / BUILT).touch()
    _unpack(settings, source)  # the grader has emptied the key before
    for path in (left, root / "submission"):
        shutil.rmtree(path, ignore_errors=True)
    left.mkdir()
    shutil.copytree(submission, root / "submission", symlinks=True)
    with console.progress("Grading"):
        graded = process.run([source / "run_autograder"], cwd=root, env=here, merge_errors=True)
    if graded.exit_code != 0:
        raise CannotDo(NO_RESULT, graded.output)
    return (left / results.FILE_NAME).read_bytes()
