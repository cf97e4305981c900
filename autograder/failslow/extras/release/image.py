"""`kit release image`: the image of students' containers, with the kit compiled.

The build sees the students' kit alone, which has passed the search for leaks. So the image has no
answer, no hidden test and no key.
"""

import os
import platform
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.release import processors, students
from failslow.extras.shared import engine, long_build

DOCKERFILE = "tools/containers/dev.Dockerfile"
STAGE = "prebuilt"
GLIBC = [2, 36]
"""The image's version. Students' libraries are compiled here, for this one at most."""

WORD = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
NAME = re.compile(
    rf"(?=.{{1,255}}$)(?:[a-z0-9][a-z0-9.-]*(?::[0-9]+)?/)?{WORD}(?:/{WORD})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?",
    re.ASCII,
)
"""An image, and maybe its registry and tag, as engines take them."""


def make(
    kit: Kit, tag: str, push: bool, given: students.Options, begins: students.Stage
) -> Sequence[str]:
    """Makes the image, and returns its platforms. CannotDo without an engine, before anything is
    built, and when a build or the registry fails. `tag`: as NAME. `given`: what
    students get; no handbook is needed."""
    name = engine.for_images()
    library, version = platform.libc_ver()
    if library == "glibc" and [*map(int, version.split("."))] > GLIBC:
        raise CannotDo(f"the image is of Debian 12, and glibc {version} is newer: release there")
    platforms, why = _platforms(name, push)
    if why:
        begins(f"for {platforms[0]} alone: {why}")
    with tempfile.TemporaryDirectory() as scratch:
        context = Path(scratch) / "kit"
        students.write(kit, context, given, begins)
        words = ["--file", DOCKERFILE, "--target", STAGE, "--tag", tag]
        if engine.NETWORK in os.environ:
            words += ["--network", os.environ[engine.NETWORK]]
        build = [name, "build"]
        if len(platforms) > 1:
            build = [name, "buildx", "build"]
            words += ["--platform", ",".join(platforms), "--push"]
        long_build.run([*build, *words, "."], context, {}, "Building the image")
    if push and len(platforms) == 1:
        long_build.run([name, "push", tag], kit.root, {}, "Pushing the image")
    return platforms


def _platforms(name: str, push: bool) -> tuple[list[str], str]:
    """The platforms of the image, this machine's first. If that is all: the reason."""
    served = [each.platform for each in processors.SERVED]
    others = [each.platform for each in processors.others()]
    own = [each for each in served if each not in others]
    if not own:
        raise CannotDo(f"students' kits are for {' and '.join(served)}, and this is neither")
    if not push:
        return own, "an image for several goes to a registry (--push)"
    try:
        builder = engine.ask(name, "buildx", "inspect", "--bootstrap") if name == "docker" else ""
    except CannotDo:
        builder = ""
    if not builder:
        return own, "docker buildx is not there"
    if re.search(r"^Driver: +docker$", builder, re.M):
        return own, "this builder makes no others (docker buildx create --use)"
    missing = [each for each in others if each not in re.split(r"[\s,*]+", builder)]
    if missing:
        return own, f"this builder does not know {' and '.join(missing)}"
    return [*own, *others], ""
