"""A batch that is killed goes on where it was: nothing is graded twice, and nothing is lost."""

import csv
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from failslow import console, process, waiting
from failslow.batch import job
from failslow.batch.command import LEDGER
from failslow.batch.summary import CSV_NAME
from failslow.check.step import Context, Counts
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.mutants import load_alternatives, load_mutants, materialised
from failslow.submission import source_directory

LAB = "lab1"
SUBMISSIONS = 100
HALF_S = 3600.0
"""A timeout: only a batch that hangs reaches it."""
ENDED_S = 30.0


def run(context: Context) -> Counts:
    """Lab 1 of many students: our solution, the other right ones and the mutants, each with words
    of its student."""
    counts = Counts()
    folder, out = context.scratch / "handed-in", context.scratch / "graded"
    designs = _hand_in(context.kit, folder)
    cores = len(os.sched_getaffinity(0))
    argv = [context.kit.root / "kit", "grade", "--batch", folder, "--lab", LAB, "--out", out]
    argv += ["--jobs", str(cores)]
    ledger = out / LEDGER
    with console.progress("Grading half of a batch") as advance, process.background(argv):

        def is_half_done() -> bool:
            done = len(_entries(ledger))
            advance(done, SUBMISSIONS, "")
            return done >= SUBMISSIONS // 2

        half = waiting.until(is_half_done, HALF_S)
    counts.expect(half, "half of the submissions are not graded in time")
    before = _entries(ledger)
    counts.expect(len(before) < SUBMISSIONS, "the batch had ended before it was killed")
    alone = waiting.until(lambda: not [*_gradings(context.kit)], ENDED_S)
    counts.expect(alone, f"gradings outlive their batch: {[*_gradings(context.kit)]}")
    with console.progress("Grading the other half"):
        done = process.run(argv, merge_errors=True)
    counts.expect(done.exit_code == 0, f"the second run: {done.how_it_ended()}: {done.output}")
    after = _entries(ledger)
    again = [name for name, written in before.items() if after.get(name) != written]
    counts.expect(not again, f"graded twice: {', '.join(again)}")
    counts.expect(len(after) == SUBMISSIONS, f"{len(after)} of {SUBMISSIONS} are in the ledger")
    _check_rows(out, designs, counts)
    counts.remarks.append(f"{len(before)} of {SUBMISSIONS} were graded when the batch was killed")
    return counts


def _hand_in(kit: Kit, folder: Path) -> dict[str, str]:
    """The design of each submission, by its name."""
    labs = load_labs(kit)
    lab = labs.get(LAB)
    patches = [each for each in (*load_alternatives(kit), *load_mutants(kit)) if each.lab == LAB]
    contents = {"reference": _sources(kit.reference, lab.directory, lab.files)}
    for each in patches:
        with materialised(kit, labs, each) as tree:
            source = source_directory(tree, lab)
            assert source is not None
            contents[each.path.stem] = _sources(source.parent, source.name, lab.files)
    designs = {}
    for number in range(SUBMISSIONS):
        name, design = f"student-{number:03}", [*contents][number % len(contents)]
        for file, content in contents[design].items():
            path = folder / name / lab.directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content + f"// {name}\n".encode())
        designs[name] = design
    return designs


def _sources(tree: Path, directory: str, files: tuple[str, ...]) -> dict[str, bytes]:
    return {file: (tree / directory / file).read_bytes() for file in files}


def _entries(ledger: Path) -> dict[str, int]:
    """When each result was written. One that cannot be read is none."""
    found = {}
    for path in ledger.glob("*.json"):
        with suppress(OSError, ValueError):
            json.loads(path.read_text(encoding="utf-8"))
            found[path.name] = path.stat().st_mtime_ns
    return found


def _gradings(kit: Kit) -> Iterator[int]:
    """The processes that grade for a batch of this checkout."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if job.__name__.encode() in words and (entry / "cwd").readlink() == kit.root:
                yield int(entry.name)


def _check_rows(out: Path, designs: Mapping[str, str], counts: Counts) -> None:
    with (out / CSV_NAME).open(encoding="utf-8", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    scores = defaultdict(set)
    for name, design in designs.items():
        row = rows.get(name)
        counts.expect(bool(row and row["score"] and not row["remark"]), f"{name} has the row {row}")
        if row:
            scores[design].add(row["score"])
    for design, found in scores.items():
        counts.expect(len(found) == 1, f"{design} has several scores: {', '.join(sorted(found))}")
