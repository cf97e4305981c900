"""`kit similar`: copies of a lab are found, and other solutions are not."""

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from demands import some
from disguises import DISGUISES
from failslow.base.kit import Kit, this_kit
from failslow.extras.batch import similar, similarity
from failslow.extras.batch.similarity import Pair
from failslow.lab import mutants
from failslow.lab.labs import load_labs
from fakes import write_submission
from running import Expect

LAB = "lab2"
REFERENCE = "reference"
TUNED = "fast"
ALTERNATIVE = "alternative"
COPIED = (
    REFERENCE,
    TUNED,
    f"{ALTERNATIVE} loop-per-follower",
    f"{ALTERNATIVE} stream-per-follower",
    f"{ALTERNATIVE} one-sync-at-a-time",
    f"{ALTERNATIVE} syncs-in-phase",
)
OTHERS = {"lab5": "copilot", "lab6": "saucr"}
"""Programs that nobody copied from a Raft: solutions of other labs."""

Row = tuple[str, Callable[[Pair], bool]]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """All pairs of 48 programs: 16 solutions of lab 2, 30 disguised copies, solutions of others."""
    kit, out = this_kit(), tmp_path_factory.mktemp("trial")
    labs = load_labs(kit)
    lab = labs.get(LAB)
    shutil.copytree(kit.fast / lab.directory, out / TUNED)
    for other, name in OTHERS.items():
        for file in (f"{name}.h", f"{name}.cc"):
            _copy(kit.reference / labs.get(other).directory / file, out / name / file)
    for file in lab.files:
        _copy(kit.reference / lab.directory / file, out / REFERENCE / file)
    for each in [each for each in mutants.load_alternatives(kit) if each.lab == LAB]:
        with mutants.materialised(kit, labs, each) as tree:
            for file in lab.files:
                _copy(tree / lab.directory / file, out / f"{ALTERNATIVE} {each.path.stem}" / file)
    for source in COPIED:
        for name, disguise in DISGUISES.items():
            copy = out / f"{source}, {name}"
            copy.mkdir()
            for path in (out / source).iterdir():
                chance = random.Random(f"{source} {name} {path.name}")
                (copy / path.name).write_text(disguise(path.read_text(), chance))
    names = sorted(path.name for path in out.iterdir())
    assert len(names) == 1 + 1 + 14 + 2 + 30
    return similarity.pairs(out, names, kit.labs / lab.directory / "src")


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, to)


def _family(name: str) -> str:
    """What the program was written from."""
    first = re.split(r"[ ,]", name)[0]
    return REFERENCE if first == ALTERNATIVE else first


def _is_copy(pair: Pair, disguise: str) -> bool:
    return any({pair.a, pair.b} == {each, f"{each}, {disguise}"} for each in COPIED)


def _of_families(*names: str) -> Callable[[Pair], bool]:
    return lambda pair: sorted((_family(pair.a), _family(pair.b))) == sorted(names)


def _rows() -> list[Row]:
    copies: list[Row] = [
        (f"copies, {name}", lambda pair, name=name: _is_copy(pair, name)) for name in DISGUISES
    ]
    written = _of_families(REFERENCE, REFERENCE)
    return [
        *copies,
        ("reference and alternatives", lambda pair: written(pair) and "," not in pair.a + pair.b),
        ("reference or an alternative, and the tuned Raft", _of_families(REFERENCE, TUNED)),
        (
            "a Raft, and a solution of lab 5 or 6",
            lambda pair: len({_family(pair.a), _family(pair.b)} & {*OTHERS.values()}) == 1,
        ),
    ]


def test_no_copy_is_missed_and_no_other_solution_is_found(trial: list[Pair]) -> None:
    for name in some(DISGUISES):
        copies = [pair for pair in trial if _is_copy(pair, name)]
        assert len(copies) == len(COPIED)
        assert all(100 * pair.structure >= similar.THRESHOLD for pair in copies), name
    found = [pair for pair in trial if 100 * pair.structure >= similar.THRESHOLD]
    assert all(_family(pair.a) == _family(pair.b) for pair in some(found))


def test_the_page_has_the_table_of_the_trial(trial: list[Pair]) -> None:
    page = (this_kit().root / "site/docs/instructors/results.md").read_text()
    for name, belongs in some(_rows()):
        pairs = [pair for pair in trial if belongs(pair)]
        shares = [_range([getattr(pair, each) for pair in pairs]) for each in ("structure", "text")]
        assert f"| {name} | {len(pairs)} | {' | '.join(shares)} |" in page


def _range(shares: list[float]) -> str:
    low, high = (f"{100 * each:.0f}" for each in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _expressions(seed: int) -> str:
    """Functions that share little structure with those of another seed."""
    operators = random.Random(seed).choices("+-*/%&|^", k=100)
    lines = (" b ".join(operators[at : at + 10]) for at in range(0, 100, 10))
    return "".join(
        f"int Sum{at}(int b) {{ return b {line} b; }}\n" for at, line in enumerate(lines)
    )


@pytest.fixture
def handed(tmp_path: Path) -> Path:
    """Two copies, one of them as a zip file; another one; a starter; and no submission."""
    code, other = (_expressions(seed) for seed in (1, 2))
    directory = tmp_path / "handed-in"
    for name, text in {"ann": code, "ben": code.replace("b", "c"), "cem": other}.items():
        write_submission(directory / name, f"\n{text}")
    write_submission(directory / "dan")
    (directory / "eve").mkdir()
    shutil.make_archive(str(directory / "ben"), "zip", directory / "ben")
    shutil.rmtree(directory / "ben")
    return directory


def test_pairs_are_printed_and_drawn(
    kit: Kit, expect: Expect, handed: Path, tmp_path: Path
) -> None:
    for _ in range(2):  # over the files of the first time
        said = expect(1, "similar", handed, "--lab", "lab1", "--out", tmp_path / "out")
    assert said.out == "100 % ann and ben (text 0 %)\n"
    assert "eve: left out: no file of lab1" in said.err
    page = (tmp_path / "out" / similar.PAGE_NAME).read_text()
    assert "<td>ann</td><td>ben</td><td>100 %</td>" in page
    (drawn,) = (tmp_path / "out" / similar.PAIRS).iterdir()
    assert f'href="{similar.PAIRS}/{drawn.name}"' in page
    assert drawn.read_text().count("Sum3") == 4, "two submissions in two passes"
    assert str(tmp_path) not in drawn.read_text()


def test_what_is_given_is_no_copy(kit: Kit, expect: Expect, handed: Path, tmp_path: Path) -> None:
    lab = load_labs(kit).get("lab1")
    shutil.copytree(handed / "ann" / lab.directory, kit.labs / lab.directory / "src")
    (handed / "zoe.zip").write_text("no zip file")
    said = expect(0, "similar", handed, "--lab", "lab1", "--out", tmp_path / "out")
    assert said.out == ""
    assert "zoe: left out: zoe.zip is no zip file" in said.err
    assert "0 pairs of 4 submissions share 60 % or more" in said.err
    for name in ("ann", "cem", "dan"):
        shutil.rmtree(handed / name)
    said = expect(2, "similar", handed, "--lab", "lab1", "--out", tmp_path / "out")
    assert "holds 1 submissions of lab1" in said.reason
