"""The knowledge of one lab: the optional module `labs/LAB/kit.py`, or package `labs/LAB/kit/`.

It is loaded by path, and imports for_labs alone of this package. A package may have tests/, which
`kit check` runs. All names in it are optional:
- BENCHMARKS: by name, functions from a Kit to a Section, for `kit bench NAME`;
- LONG_BENCHMARKS: the same, of those that take minutes: they run only if they are named;
- made_again(kit): by benchmark, figures that the handbook's results must have;
- REPRODUCTIONS: by name, a Reproduction for `kit reproduce NAME`;
- SLOW_RUNS: by role, the SlowRuns of `kit faults run --target ROLE`;
- oral_questions(marks): for `kit questions`, the fields of Questions (oral/kinds.py), from the
  times and texts of a run's marks;
- NAMES_FAULTY_STEPS: True if each mutant that a test catches names the step of its replay;
- MANY_SEEDS: names of graded tests that `kit check --full` runs with many seeds;
- many_seeds(kit, seeds): the same for a program of the lab's own; a problem, or "", of each check;
- DEEP_SCOPES: graded tests of every schedule, and the deviations that `kit check --full` allows.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from failslow.base.kit import Kit
from failslow.extras.bench.figures import Section
from failslow.extras.faults.slow_runs import SlowRuns
from failslow.extras.oral import kinds
from failslow.extras.oral.kinds import Kind
from failslow.extras.reproduction.reproduction import Reproduction
from failslow.lab.labs import Lab, load_labs

FILE, PACKAGE = "kit.py", "kit/__init__.py"


def load(kit: Kit, lab: Lab) -> ModuleType | None:
    """None for a lab without one."""
    for name in (FILE, PACKAGE):
        path = kit.labs / lab.directory / name
        if path.is_file():
            return _module(path, f"failslow_kit_of_{lab.id}")
    return None


def every(kit: Kit) -> Iterator[tuple[Lab, ModuleType]]:
    """The modules of all labs that have one, by id."""
    for lab in load_labs(kit).by_id.values():
        if module := load(kit, lab):
            yield lab, module


def benchmarks(kit: Kit, kind: str = "BENCHMARKS") -> dict[str, Callable[[Kit], Section]]:
    """`kind`: or LONG_BENCHMARKS."""
    found: dict[str, Callable[[Kit], Section]] = {}
    for _, module in every(kit):
        found |= getattr(module, kind, {})
    return found


def reproductions(kit: Kit) -> dict[str, Reproduction]:
    found: dict[str, Reproduction] = {}
    for _, module in every(kit):
        found |= getattr(module, "REPRODUCTIONS", {})
    return found


def slow_runs_of(kit: Kit, lab: Lab) -> dict[str, SlowRuns]:
    """By role; empty for most labs."""
    found: dict[str, SlowRuns] = getattr(load(kit, lab), "SLOW_RUNS", {})
    return found


def oral_kinds_of(kit: Kit, lab: Lab) -> Sequence[Kind]:
    """None for most labs."""
    make = getattr(load(kit, lab), "oral_questions", None)
    return (kinds.of_marks(make),) if make else ()


def names_faulty_steps(kit: Kit) -> set[str]:
    """The ids of the labs whose mutants do."""
    return {lab.id for lab, module in every(kit) if getattr(module, "NAMES_FAULTY_STEPS", False)}


@cache
def _module(path: Path, name: str) -> ModuleType:
    within = [str(path.parent)] if path.name == Path(PACKAGE).name else None
    spec = spec_from_file_location(name, path, submodule_search_locations=within)
    assert spec is not None and spec.loader is not None, "it is a file of Python"
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
