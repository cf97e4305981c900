"""`kit release prairielearn`, `autolab` and `classroom50`: an assignment for another platform.

PrairieLearn and Autolab grade in an image of ours: the files of a Gradescope assignment, and
another program that grades. None of these was run on its platform. Documents: as of convert.py,
with PrairieLearn's infoQuestion.json, Tango's vmms/Dockerfile of 2024-09-15, and Classroom 50's
wiki/Autograding-Basics.md of 2026-08-20.
"""

import hashlib
import io
import json
import re
import tarfile
import uuid
from collections.abc import Mapping
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.base.zip_file import Entry
from failslow.extras.release import gradescope
from failslow.extras.release.assignment import Assignment
from failslow.lab.course_key import CourseKey
from failslow.lab.labs import Lab, load_labs

PROGRAM = "failslow.extras.commands.platform"
SOURCE = "/autograder/source"
HANDED_IN = "submission.zip"

DOCKERFILE = f"""\
# It holds the hidden tests: keep the image private. Build it by: docker build --tag NAME .
ARG BASE={{base}}
FROM ${{{{BASE}}}}
COPY . {SOURCE}
RUN apt-get update && bash {SOURCE}/setup.sh && rm -rf /var/lib/apt/lists/*
"""

TANGO = """\
# The grader runs as this user of Tango's image, on Ubuntu 22.04.
RUN chown -R autograde:autograde /autograder
"""

QUESTION = """\
<pl-question-panel>
  <p>Hand in the file that <code>./kit submit {lab}</code> makes.</p>
  <pl-file-upload file-names="{file}"></pl-file-upload>
</pl-question-panel>
<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
</pl-submission-panel>
"""

# The archive has the key, and the compiler could be told to include it.
MAKEFILE = f"""\
all:
\t@tar xf autograde.tar && rm autograde.tar
\t@mv course.key {SOURCE}/
\t@mv assignment.json {SOURCE}/autograder/gradescope/
\t@{SOURCE}/.venv/bin/python -I -m {PROGRAM} autolab {HANDED_IN}
"""

PUBLIC_TEST = re.compile(r'^GRADED_TEST\(\s*(\w+)\s*,\s*(\w+)\s*,\s*"[\w-]+"\s*,\s*(\d+)', re.M)
BUILD_SECONDS = 600
TEST_SECONDS = 120
"""Classroom 50 allows 600 s at most, and 100 tests."""


def prairielearn(kit: Kit, out: Path, assignment: Assignment, image: str, key: CourseKey) -> None:
    """`out`/question and `out`/image. Requires: `assignment` has a lab. CannotDo if `out` exists or
    cannot be written."""
    lab = load_labs(kit).get(str(assignment.lab))
    seed = hashlib.sha256(f"failslow {lab.id}".encode()).digest()
    info = {
        "uuid": str(uuid.UUID(bytes=seed[:16], version=4)),
        "title": f"{lab.id}: {lab.title}",
        "topic": "Fail-slow faults",
        "type": "v3",
        "gradingMethod": "External",
        "singleVariant": True,
        "showCorrectAnswer": False,
        "partialCredit": True,
        "externalGradingOptions": {
            "enabled": True,
            "image": image,
            "entrypoint": [
                *(f"{SOURCE}/.venv/bin/python", "-I", "-m", PROGRAM),
                *("prairielearn", f"/grade/student/{HANDED_IN}", "/grade/results"),
            ],
            "timeout": assignment.minutes * 60,
        },
    }
    files = _image(kit, assignment, DOCKERFILE.format(base="debian:bookworm-slim"))
    settings = gradescope.settings(kit, assignment, key)
    files |= {f"image/{name}": entry for name, entry in settings.items()}
    files["question/info.json"] = _json(info)
    files["question/question.html"] = Entry(QUESTION.format(lab=lab.id, file=HANDED_IN).encode())
    _write(files, out)


def autolab(kit: Kit, out: Path, assignment: Assignment, key: CourseKey) -> None:
    """`out`/assessment, its two files, and `out`/image. Otherwise as `prairielearn`."""
    settings = gradescope.settings(kit, assignment, key)
    archive = {Path(name).name: entry.content for name, entry in settings.items()}
    files = _image(kit, assignment, DOCKERFILE.format(base="autograding_image") + TANGO)
    files["assessment/autograde-Makefile"] = Entry(MAKEFILE.encode())
    files["assessment/autograde.tar"] = Entry(_tar(archive))
    _write(files, out)


def classroom50(kit: Kit, out: Path, lab: Lab, image: str | None) -> int:
    """`out`/tests.json, the public tests with their points, and `out`/runtime.json if there is an
    image. Returns the number of tests. CannotDo as of `prairielearn`."""
    sources = sorted((kit.labs / lab.directory / "tests").glob("*.cc"))
    declared = [each for path in sources for each in PUBLIC_TEST.findall(path.read_text("utf-8"))]
    build = f"./kit test {lab.id} >/dev/null; test $? -le 1"
    tests = [_test("setup", build, BUILD_SECONDS, 0)] + [
        _test(f"{suite}.{name}", f"./kit test {lab.id} {suite}.{name}", TEST_SECONDS, int(points))
        for suite, name, points in declared
    ]
    files = {"tests.json": _json(tests)}
    if image:
        files["runtime.json"] = _json({"container": {"image": image, "user": "root"}})
    _write(files, out)
    return len(declared)


def _test(name: str, command: str, seconds: int, points: int) -> dict[str, object]:
    return {"name": name, "type": "run", "run": command, "timeout": seconds, "points": points}


def _image(kit: Kit, assignment: Assignment, dockerfile: str) -> dict[str, Entry]:
    files = gradescope.program(kit, assignment.lab, PROGRAM)
    files["Dockerfile"] = Entry(dockerfile.encode())
    return {f"image/{name}": entry for name, entry in files.items()}


def _json(content: object) -> Entry:
    return Entry(f"{json.dumps(content, indent=2)}\n".encode())


def _tar(files: Mapping[str, bytes]) -> bytes:
    """Members have no time and no owner."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _write(files: Mapping[str, Entry], out: Path) -> None:
    """For the owner alone: most hold hidden tests and the key."""
    if out.exists():
        raise CannotDo(f"{out} exists: remove it, or name another directory")
    for name, entry in files.items():
        mode = 0o700 if entry.executable else 0o600
        atomic.write_bytes(out / name, entry.content, mode)
