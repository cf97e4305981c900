"""clang-tidy over the sources of the release build, with the list of .clang-tidy."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from failslow.base import console, parallel, process
from failslow.extras.check.step import Context, Counts
from failslow.extras.shared import compile_database

TOOL = Path(sys.executable).parent / "clang-tidy"
# GCC made the build's database: clang does not know all of its options. GCC's library uses what it
# calls deprecated.
OF_GCC = ("-Wno-unknown-warning-option", "-Wno-deprecated-declarations")


def _once(entries: Iterable[compile_database.Entry]) -> Iterable[compile_database.Entry]:
    """One compilation of each source, none of a submission's: CMake does not know its headers."""
    first: dict[str, compile_database.Entry] = {}
    for entry in entries:
        if not any("_submission.dir/" in word for word in entry["arguments"]):
            first.setdefault(entry["file"], entry)
    return first.values()


def run(context: Context) -> Counts:
    """Counts a file as failed when clang-tidy reports something in it."""
    build = context.kit.preset("release")
    database = [*_once(compile_database.of_cmake(build))]
    sources = (Path(entry["file"]) for entry in database)
    files = sorted(source for source in sources if not source.is_relative_to(build))
    alone = context.scratch / "tidy"
    alone.mkdir()
    (alone / compile_database.NAME).write_text(json.dumps(database), encoding="utf-8")
    argv = [str(TOOL), "--quiet", "-p", str(alone), *(f"--extra-arg={each}" for each in OF_GCC)]

    def complaint(file: Path) -> str:
        done = process.run([*argv, file], cwd=context.kit.root, merge_errors=True)
        return "" if done.exit_code == 0 else done.output

    counts = Counts()
    with console.progress("clang-tidy") as advance:
        complaints = parallel.run_all(files, complaint, advance)
    for file, said in zip(files, complaints, strict=True):
        counts.expect(
            not said, f"{file.relative_to(context.kit.root)}: clang-tidy\n{said}".rstrip()
        )
    return counts
