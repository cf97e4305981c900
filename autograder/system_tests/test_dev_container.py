"""From a clone of the students' kit to a verdict, in the image of `kit release image`, as an editor
opens it: by the dev containers' own command line. It needs a Docker engine and npm.

Seconds depend on the machine, so the test counts what is compiled: nothing of the kit.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.check.suites import NO_DEV_CONTAINER
from failslow.extras.shared import engine

OPENER = "@devcontainers/cli@0.89.0"
IMAGE = "failslow-check:dev-container"
CLONE = "course"
STUDENT = 1000
"""The user id in the image."""

pytestmark = pytest.mark.full


def run(*argv: str | Path, code: int = 0) -> str:
    done = process.run(argv)
    assert done.exit_code == code, done.output + done.errors
    return done.output


@pytest.fixture(scope="module")
def opened(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The container in which an editor has opened a clone."""
    if os.getuid() != 0 or not engine.answers() or not shutil.which("npx"):
        pytest.skip(NO_DEV_CONTAINER)
    run(kit.root / "tools" / "containers" / "make-base")
    scratch = tmp_path_factory.mktemp("course")
    released, clone, program = scratch / "released", scratch / CLONE, kit.root / "kit"
    run(program, "release", "image", "--tag", IMAGE)
    run(program, "release", "students", released, "--image", IMAGE, "--without-handbook")
    run("git", "clone", "--quiet", released, clone)
    run("chown", "--recursive", f"{STUDENT}:{STUDENT}", clone)
    up = run("npx", "--yes", OPENER, "up", "--workspace-folder", clone)
    container = json.loads(up.splitlines()[-1])["containerId"]
    try:
        yield container
    finally:
        opened_image = engine.docker("inspect", "--format", "{{.Config.Image}}", container).strip()
        engine.docker("rm", "--force", container)
        engine.docker("image", "rm", *{opened_image, IMAGE})


def test_nothing_of_the_kit_is_compiled_for_the_first_verdict(opened: str) -> None:
    inside = ["docker", "exec", "--user", "student", "--workdir", f"/workspaces/{CLONE}", opened]
    counts = dict(line.split("\t") for line in run(*inside, "ccache", "--print-stats").splitlines())
    assert int(counts["direct_cache_hit"]) > 0
    assert counts["cache_miss"] == "0", counts
    assert " public tests passed" in run(*inside, "./kit", "test", "lab1", code=1)  # the starter
