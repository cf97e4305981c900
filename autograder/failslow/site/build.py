"""Builds the handbook: the reference from the headers, then MkDocs, then a look at the pages."""

import re
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

from failslow import process
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.site import pages, reference

LOG_LINE = re.compile(r"^(?P<level>DEBUG|INFO|WARNING|ERROR) +- +(?P<text>.*)")
ABORTED = re.compile(r"^Aborted with ")

# Material prints a page about the future of MkDocs at each start otherwise: the decision record
# on the handbook says what we make of it.
ENVIRONMENT = {"NO_MKDOCS_2_WARNING": "true"}


def build(kit: Kit) -> list[str]:
    """Builds into kit.handbook; returns what is wrong with the site, one sentence or more each.

    A site with errors leaves the handbook that was built before as it is. CannotDo when the
    tools are missing or die.
    """
    generate_reference(kit)
    kit.build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=kit.build) as scratch:
        built = Path(scratch) / "site"
        problems = _mkdocs(kit, built) or pages.check(built)
        if not problems:
            shutil.rmtree(kit.handbook, ignore_errors=True)
            built.rename(kit.handbook)
    return problems


def generate_reference(kit: Kit) -> None:
    reference.generate(kit.headers, kit.site / "docs" / "reference")


def serve(kit: Kit, port: int) -> Generator[str | int, None, None]:
    """Output lines of MkDocs' server for authors, then its exit code. Loopback only."""
    generate_reference(kit)
    address = f"--dev-addr=127.0.0.1:{port}"
    return process.lines(_argv(kit, "serve", address), cwd=kit.root, env=ENVIRONMENT)


def _mkdocs(kit: Kit, to: Path) -> list[str]:
    argv = _argv(kit, "build", "--strict", f"--site-dir={to}")
    done = process.run(argv, cwd=kit.root, env=ENVIRONMENT, merge_errors=True)
    if done.exit_code < 0 or "No module named mkdocs" in done.output:
        raise CannotDo(f"MkDocs gave no site: {done.how_it_ended()}", done.output)
    problems = complaints(done.output)
    if done.exit_code != 0 and not problems:
        problems = [done.output.strip() or f"MkDocs ended with {done.how_it_ended()}"]
    return problems


def complaints(output: str) -> list[str]:
    """MkDocs' warnings and errors, each with the lines that belong to it."""
    found: list[list[str]] = []
    ours = False
    for line in output.splitlines():
        logged = LOG_LINE.match(line)
        if logged is not None:
            ours = logged["level"] in ("WARNING", "ERROR")
            found += [[logged["text"]]] if ours else []
        elif ours and line.strip() and not ABORTED.match(line):
            found[-1].append(line)
    return ["\n".join(_without_traceback(lines)) for lines in found]


def _without_traceback(lines: list[str]) -> list[str]:
    """What was said before it: a missing snippet is an exception to MkDocs."""
    begins = (number for number, line in enumerate(lines) if line.startswith("Traceback"))
    return lines[: next(begins, len(lines))]


def _argv(kit: Kit, command: str, *arguments: str) -> list[str | Path]:
    config = f"--config-file={kit.site / 'mkdocs.yml'}"
    return [sys.executable, "-I", "-m", "mkdocs", command, config, *arguments]
