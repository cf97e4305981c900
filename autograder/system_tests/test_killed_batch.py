"""A batch that is killed goes on where it was: nothing is graded twice, and nothing is lost.

Nothing that a killed grader has started goes on."""

import csv
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.batch import job
from failslow.extras.batch.command import RESULTS
from failslow.extras.batch.summary import CSV_NAME
from failslow.extras.shared import waiting
from failslow.lab.labs import load_labs
from failslow.lab.mutants import load_alternatives, load_mutants, materialised
from failslow.lab.submission import source_directory

LAB = "lab1"
SUBMISSIONS = 100
HALF_S = 3600.0
"""A timeout: only a batch that hangs reaches it."""
ENDED_S = 30.0


@pytest.mark.full
def test_a_killed_batch_goes_on_where_it_was(kit: Kit, tmp_path: Path) -> None:
    folder, out = tmp_path / "handed-in", tmp_path / "graded"
    designs = hand_in(kit, folder)
    cores = len(os.sched_getaffinity(0))
    argv = [kit.root / "kit", "grade", "--batch", folder, "--lab", LAB, "--out", out]
    argv += ["--jobs", str(cores)]
    results = out / RESULTS
    with process.background(argv):
        assert waiting.until(lambda: len(entries(results)) >= SUBMISSIONS // 2, HALF_S)
    before = entries(results)
    assert len(before) < SUBMISSIONS, "the batch had ended before it was killed"
    assert waiting.until(lambda: not [*gradings(kit)], ENDED_S), "gradings outlive their batch"
    done = process.run(argv, merge_errors=True)
    assert done.exit_code == 0, done.output
    after = entries(results)
    assert len(after) == SUBMISSIONS
    assert {name: after[name] for name in before} == before, "some are graded twice"
    expect_rows(out, designs)


def test_a_test_ends_with_its_grader(kit: Kit) -> None:
    """It is in a session of its own: no signal to the grader's group reaches it."""
    argv = [str(kit.binary("lab1_public_sim")), "--gtest_repeat=1000000"]
    grader = f"from failslow.base import process as p; p.run({argv}, env=p.ends_with_this())"
    with process.background([sys.executable, "-c", grader]) as pid:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        assert waiting.until(lambda: children.read_text().strip() != "", ENDED_S)
        test = Path("/proc") / children.read_text().strip()
        program = Path(argv[0]).name
        assert waiting.until(lambda: program in (test / "cmdline").read_text(), ENDED_S)
        os.kill(pid, signal.SIGKILL)
        assert waiting.until(lambda: not test.exists(), ENDED_S), "the test outlives its grader"


def hand_in(kit: Kit, folder: Path) -> dict[str, str]:
    """Lab 1 of many students: our solution, the other right ones and the mutants, each with words
    of its student. The design of each submission, by its name."""
    labs = load_labs(kit)
    lab = labs.get(LAB)
    patches = [each for each in (*load_alternatives(kit), *load_mutants(kit)) if each.lab == LAB]
    contents = {"reference": sources(kit.reference, lab.directory, lab.files)}
    for each in patches:
        with materialised(kit, labs, each) as tree:
            source = source_directory(tree, lab)
            assert source is not None
            contents[each.path.stem] = sources(source.parent, source.name, lab.files)
    designs = {}
    for number in range(SUBMISSIONS):
        name, design = f"student-{number:03}", [*contents][number % len(contents)]
        for file, content in contents[design].items():
            path = folder / name / lab.directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content + f"// {name}\n".encode())
        designs[name] = design
    return designs


def sources(tree: Path, directory: str, files: tuple[str, ...]) -> dict[str, bytes]:
    return {file: (tree / directory / file).read_bytes() for file in files}


def entries(results: Path) -> dict[str, int]:
    """When each result was written. One that cannot be read is none."""
    found = {}
    for path in results.glob("*.json"):
        with suppress(OSError, ValueError):
            json.loads(path.read_text(encoding="utf-8"))
            found[path.name] = path.stat().st_mtime_ns
    return found


def gradings(kit: Kit) -> Iterator[int]:
    """The processes that grade for a batch of this checkout."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if job.__name__.encode() in words and (entry / "cwd").readlink() == kit.root:
                yield int(entry.name)


def expect_rows(out: Path, designs: dict[str, str]) -> None:
    """Equal designs have equal scores."""
    with (out / CSV_NAME).open(encoding="utf-8", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert len(designs) == SUBMISSIONS
    scores = defaultdict(set)
    for name, design in designs.items():
        assert rows[name]["score"] and not rows[name]["remark"], rows[name]
        scores[design].add(rows[name]["score"])
    assert {design: len(found) for design, found in scores.items()} == dict.fromkeys(scores, 1)
