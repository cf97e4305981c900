"""clang-tidy over the sources of the release build, with the list of .clang-tidy."""

import json
import sys
from pathlib import Path

from failslow.base import console, parallel, process
from failslow.extras.check.step import Context, Counts

TOOL = Path(sys.executable).parent / "clang-tidy"
# GCC made the build's database: clang does not know all of its options, nor its headers' cache.
OF_GCC = ("-Wno-unknown-warning-option", "-Wno-ignored-gch")


def run(context: Context) -> Counts:
    """Counts a file as failed when clang-tidy reports something in it."""
    build = context.kit.preset("release")
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = sorted({Path(entry["file"]) for entry in database} - {*build.rglob("*.cc")})
    argv = [str(TOOL), "--quiet", "-p", str(build), *(f"--extra-arg={each}" for each in OF_GCC)]

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
