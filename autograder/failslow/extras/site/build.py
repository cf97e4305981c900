"""Builds the handbook with MkDocs."""

import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit

LOGGED = re.compile(r"^(DEBUG|INFO|WARNING|ERROR) +- +", re.M)
AFTER_COMPLAINTS = re.compile(r"^(?:Aborted with|Traceback)", re.M)

# Material prints a page about the future of MkDocs at each start otherwise.
ENVIRONMENT = {"NO_MKDOCS_2_WARNING": "true"}


FOR_STUDENTS = "FAILSLOW_HANDBOOK_FOR_STUDENTS"
"""Set in the environment of the hooks when pages of instructors and maintainers are left out, to
the ids of the labs that are left out, too."""

ADDRESS = "FAILSLOW_HANDBOOK_URL"
"""Set for mkdocs.yml when the pages are for a server."""


def build(kit: Kit, url: str = "") -> list[str]:
    """Builds into kit.handbook; returns the errors of the site, one sentence or more each.

    `url`: of the start page's directory on a server. Without it the page for an unknown address
    (404.html) has links that are right at the top of a host alone.
    A site with errors leaves the earlier handbook unchanged. CannotDo when MkDocs is missing or
    dies.
    """
    return _build_into(kit, kit.handbook, {**ENVIRONMENT, ADDRESS: url})


def build_for_students(
    kit: Kit, final: Path, url: str = "", left_out: Iterable[str] = ()
) -> list[str]:
    """Builds into `final`, without the pages of instructors and maintainers, and of the labs
    with the ids `left_out`."""
    readers = {FOR_STUDENTS: " ".join(left_out)}
    return _build_into(kit, final, {**ENVIRONMENT, ADDRESS: url, **readers})


def _build_into(kit: Kit, final: Path, environment: Mapping[str, str]) -> list[str]:
    kit.build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=kit.build) as scratch:
        built = Path(scratch) / "site"
        problems = _mkdocs(kit, built, environment)
        if not problems:
            shutil.rmtree(final, ignore_errors=True)
            built.rename(final)
    return problems


def serve(kit: Kit, port: int) -> Generator[str | int, None, None]:
    """Output lines of MkDocs' server for authors, then its exit code. Loopback only."""
    address = f"--dev-addr=127.0.0.1:{port}"
    return process.lines(_argv(kit, "serve", address), cwd=kit.root, env=ENVIRONMENT)


def _mkdocs(kit: Kit, to: Path, environment: Mapping[str, str]) -> list[str]:
    argv = _argv(kit, "build", "--strict", f"--site-dir={to}")
    done = process.run(argv, cwd=kit.root, env=environment, merge_errors=True)
    if done.exit_code < 0 or "No module named mkdocs" in done.output:
        raise CannotDo(f"MkDocs gave no site: {done.how_it_ended()}", done.output)
    if done.exit_code == 0:
        return []
    return complaints(done.output) or [done.output.strip() or "MkDocs failed without a word"]


def complaints(output: str) -> list[str]:
    """MkDocs' warnings and errors, each with the lines that belong to it."""
    _, *told = LOGGED.split(AFTER_COMPLAINTS.split(output)[0])
    by_level = zip(told[::2], told[1::2], strict=True)
    return [text.strip() for level, text in by_level if level in ("WARNING", "ERROR")]


def _argv(kit: Kit, command: str, *arguments: str) -> list[str | Path]:
    config = f"--config-file={kit.site / 'mkdocs.yml'}"
    return [sys.executable, "-I", "-m", "mkdocs", command, config, *arguments]
