"""`kit similar`: the pairs of submissions of a lab that are too much alike, and a page of them."""

import html
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import BadSubmission, CannotDo
from failslow.base.kit import Kit
from failslow.extras.batch import folder, similarity
from failslow.extras.batch.similarity import Pair
from failslow.extras.shared.solution import check_out
from failslow.extras.slowness import html_report
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.reference import starting_files
from failslow.lab.submission import read_file, root_of, source_directory

THRESHOLD = 60
"""Per cent of the structure. In the trial on lab 2 copies share 76 % and more, and a solution that
was rewritten from another one 47 % (site/docs/instructors/results.md)."""

PAGES_MAX = 20
"""A page of a pair has about 3 MB."""

PAGE_NAME = "similar.html"
SOURCES = "sources"
PAIRS = "pairs"
HEADS = ("submission", "and", "structure", "text", "side by side")

INTRODUCTION = """<p>{lab}, without the starter: {pairs} pairs of {count} submissions share at least
{threshold} % of their structure. The share of the text says whether names were changed, too. A pair
is no proof: read both, and ask.</p>"""


def run(kit: Kit, directory: Path, lab: str, out: Path, threshold: int) -> int:
    """Replaces the files of an earlier run in `out`. 1 if pairs reach the threshold, in per cent,
    otherwise 0. CannotDo with fewer than two submissions of the lab."""
    check_out(out)
    labs = load_labs(kit)
    wanted = labs.get(lab)
    sources = (out / SOURCES).absolute()
    for each in (sources, out / PAIRS):
        shutil.rmtree(each, ignore_errors=True)
    names = _export(labs, wanted, directory, sources)
    if len(names) < 2:
        raise CannotDo(f"{directory} holds {len(names)} submissions of {lab}: two are needed")
    with tempfile.TemporaryDirectory(prefix="failslow-starter-") as scratch:
        starter = Path(scratch)
        _write(_given(kit, labs, wanted), starter)
        found = [
            pair
            for pair in similarity.pairs(sources, names, starter)
            if pair.structure * 100 >= threshold
        ]
        if found:
            shown = found[:PAGES_MAX]
            console.note(f"drawing {len(shown)} pairs ...")
            similarity.write_pages(shown, sources, starter, out / PAIRS)
    _write_page(out, found, lab=lab, count=len(names), threshold=threshold)
    for pair in found:
        print(f"{_per_cent(pair.structure)} {pair.a} and {pair.b} (text {_per_cent(pair.text)})")
    count = f"{len(found)} pairs of {len(names)} submissions"
    console.note(f"{count} share {threshold} % or more. Wrote {out / PAGE_NAME}")
    return 1 if found else 0


def _export(labs: Labs, lab: Lab, directory: Path, sources: Path) -> list[str]:
    """Writes the lab's files of each submission into a directory of its own. Returns the names of
    those that have any."""
    names = []
    for handed in folder.find(directory):
        try:
            with folder.tree_of(handed, labs) as tree:
                files = _own(labs, lab, tree)
        except BadSubmission as error:
            console.note(f"{handed.name}: left out: {error}")
            continue
        if files:
            _write(files, sources / handed.name)
            names.append(handed.name)
        else:
            console.note(f"{handed.name}: left out: no file of {lab.id}")
    return names


def _own(labs: Labs, lab: Lab, tree: Path) -> dict[str, bytes]:
    root = root_of(tree, labs)
    place = source_directory(root, lab)
    there = [name for name in lab.files if place and (place / name).exists()]
    return {name: read_file(root, place / name) for name in there if place}


def _given(kit: Kit, labs: Labs, lab: Lab) -> dict[str, bytes]:
    """What students of the lab begin with."""
    stubs = {name: kit.labs / lab.directory / "src" / name for name in lab.files}
    given = {name: path.read_bytes() for name, path in stubs.items() if path.is_file()}
    return given | starting_files(kit, labs, lab)


def _write(files: dict[str, bytes], to: Path) -> None:
    for name, content in files.items():
        atomic.write_text(to / name, content.decode("utf-8", "replace"))


def _write_page(out: Path, found: Sequence[Pair], lab: str, count: int, threshold: int) -> None:
    rows = [
        [
            html.escape(pair.a),
            html.escape(pair.b),
            _per_cent(pair.structure),
            _per_cent(pair.text),
            f'<a href="{PAIRS}/match_{at}.html">pair {at}</a>' if at <= PAGES_MAX else "",
        ]
        for at, pair in enumerate(found, 1)
    ]
    body = INTRODUCTION.format(lab=lab, pairs=len(found), count=count, threshold=threshold)
    body += html_report.table(HEADS, rows) if rows else ""
    page = html_report.PAGE.format(title="Similar submissions", body=body)
    atomic.write_text(out / PAGE_NAME, page)


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f} %"
