"""What two submissions have in common beside the starter, by compare50.

compare50 reads C++ with a lexer, cleans the tokens in one way per pass, and cuts them into
overlapping runs of 25. A share is the part of the shorter submission's runs that the other one has,
too: it does not depend on the order of functions, nor on what a copy adds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

RUNS_MIN = 50
"""A submission with fewer runs of its own counts as one with this number: a few lines in common are
no copy."""


@dataclass(frozen=True)
class Pair:
    """Two submissions and their shares, 0 to 1. `structure`: tokens without names, numbers, texts
    and comments. `text`: tokens as they are written, without spaces."""

    a: str
    b: str
    structure: float
    text: float


def pairs(directory: Path, names: Sequence[str], starter: Path) -> list[Pair]:
    """Each two of `names`, directories in `directory`; the most similar structure first. `starter`:
    a directory. All hold UTF-8 files and nothing else."""
    from compare50 import passes

    shares: list[dict[tuple[str, str], float]] = []
    for each in (passes.structure, passes.text):
        given = _runs(starter, each)
        own = {name: _runs(directory / name, each) - given for name in names}
        shares.append({(a, b): _share(own[a], own[b]) for a, b in combinations(names, 2)})
    structure, text = shares
    found = [Pair(a, b, structure[a, b], text[a, b]) for a, b in structure]
    return sorted(found, key=lambda pair: (-pair.structure, -pair.text, pair.a, pair.b))


def write_pages(found: Sequence[Pair], directory: Path, starter: Path, out: Path) -> None:
    """`out`/match_N.html for the pair at place N, from 1: both side by side, with what they have in
    common in color. Requires: `out` does not exist, and `found` is as `pairs` sorts it."""
    import compare50
    from compare50 import _renderer, passes

    results = {}
    for each in (passes.structure, passes.text):
        given = {*_submission(starter, each)}
        read: Mapping[str, Any] = {
            name: _submission(directory / name, each) for pair in found for name in (pair.a, pair.b)
        }
        scores = [compare50.Score(read[pair.a], read[pair.b], pair.structure) for pair in found]
        results[each] = compare50.compare(scores, given, each)
    _renderer.render(results, out)
    (out / "index.html").unlink()  # it draws a graph with colors alone
    for page in out.iterdir():
        page.write_text(page.read_text("utf-8").replace(f"{directory}/", ""), "utf-8")


def _share(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / max(RUNS_MIN, min(len(a), len(b)))


def _runs(directory: Path, each: Any) -> frozenset[int]:  # noqa: ANN401 - compare50 has no types
    """The hashes of all runs of tokens. (compare50's own score takes a sample of them, which
    depends on the process.)"""
    from compare50.comparators._winnowing import CompareIndex

    index = CompareIndex(each.comparator.k)
    for file in _submission(directory, each):
        index.include(file)
    return frozenset(index.keys())


def _submission(directory: Path, each: Any) -> Any:  # noqa: ANN401
    import compare50
    from compare50._data import Preprocessor

    files = [path.relative_to(directory) for path in _files(directory)]
    return compare50.Submission(directory, files, preprocessor=Preprocessor(each.preprocessors))


def _files(directory: Path) -> Iterator[Path]:
    yield from sorted(path for path in directory.rglob("*") if path.is_file())
