"""Kits of single labs: how they are loaded, what they may import, and checks that they ask for."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from failslow.base.kit import Kit, this_kit
from failslow.build.gtest import Outcome
from failslow.extras import for_labs, lab_kits
from failslow.extras.bench.figures import Figure
from failslow.extras.check import seeds, sweep
from failslow.extras.check.step import Context
from failslow.extras.site import benchmarked
from failslow.lab.labs import load_labs
from fakes import graded, write_test_binary

NAMES_MAX = 10
SCOPE = "Raft.EverySchedule"


def our_imports(path: Path) -> Iterator[tuple[str, str]]:
    """The imports of the kit's package: modules and names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("failslow"):
            yield from ((node.module or "", each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if each.name.startswith("failslow"))


def test_a_labs_kit_imports_ten_names_and_nothing_else() -> None:
    labs = this_kit().labs
    files = [*labs.glob("*/kit.py"), *labs.glob("*/kit/*.py")]
    found = {(each.relative_to(labs), *one) for each in files for one in our_imports(each)}
    assert found
    wrong = [
        f"{file}: {module}.{name}"
        for file, module, name in sorted(found)
        if module != for_labs.__name__ or name not in for_labs.__all__
    ]
    assert wrong == []
    assert {name for _, _, name in found} == set(for_labs.__all__)
    assert len(for_labs.__all__) <= NAMES_MAX


def test_a_kit_may_be_a_package(kit: Kit) -> None:
    lab = load_labs(kit).get("lab2")
    assert lab_kits.load(kit, lab) is None
    package = kit.labs / lab.directory / "kit"
    package.mkdir()
    (package / "__init__.py").write_text("from . import other\nMANY_SEEDS = other.TESTS\n")
    (package / "other.py").write_text('TESTS = ("Raft.Elects",)\n')
    found = lab_kits.load(kit, lab)
    assert found is not None and found.MANY_SEEDS == ("Raft.Elects",)


@pytest.mark.parametrize(
    ("failures", "complete", "problem"),
    [
        ((), True, ""),
        (("a log differs",), True, f"{SCOPE} fails with 2 deviations: a log differs"),
        ((), False, f"{SCOPE} ends before all schedules have run"),
    ],
)
def test_a_deep_scope_runs_with_more_deviations(
    kit: Kit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failures: tuple[str, ...],
    complete: bool,
    problem: str,
) -> None:
    def run(_: Path, test: str, options: object) -> Outcome:
        assert (test, getattr(options, "bound", 0)) == (SCOPE, 2)
        explored = json.dumps({"complete": complete, "runs": [1, 20, 300]})
        return Outcome(failures, explored=explored)

    monkeypatch.setattr(seeds.gtest, "run_test", run)
    monkeypatch.setattr(seeds, "_many_of", lambda *_: seeds.Counts())
    monkeypatch.setattr(seeds, "_graded", lambda _: seeds.gtest.list_all({"s": program}))
    program = write_test_binary(tmp_path / "s_sim", [graded(SCOPE, 10, part="raft")])
    own = SimpleNamespace(DEEP_SCOPES={SCOPE: 2})
    monkeypatch.setattr(lab_kits, "every", lambda _: iter([(None, own)]))
    counts = seeds.many(Context(kit, True, tmp_path))
    assert counts.problems == ([problem] if problem else [])
    assert counts.remarks == [f"{SCOPE}: 321 schedules"]


@pytest.mark.parametrize(("value", "passed"), [(1.23456789, 1), (1.3, 0)])
def test_the_handbooks_benchmarks_of_labs_are_made_again(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float, passed: int
) -> None:
    path = kit.site / benchmarked.RESULTS
    path.parent.mkdir(parents=True)
    path.write_text('{"one": {"figures": [{"name": "puts", "value": 1.2346}]}}')
    own = SimpleNamespace(made_again=lambda _: {"one": [Figure("puts", value, "")]})
    monkeypatch.setattr(lab_kits, "every", lambda _: iter([(None, own)]))
    counts = sweep.benchmarks_of_labs(Context(kit, True, tmp_path))
    assert (counts.passed, counts.failed) == (passed, 1 - passed)
