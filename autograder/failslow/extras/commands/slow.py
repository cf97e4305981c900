"""`kit test LAB --slow`: the measured part of a lab on the student's own code, with one seed.

The seeds are public. A grade draws its own from the course's key, and has more of them, more
replicas and other strengths of the faults.
"""

import hashlib
from pathlib import Path

from failslow.base import console, machine
from failslow.base.console import FAILED, PASSED, SKIPPED
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import build_submission
from failslow.build.recipe import given, load_recipe
from failslow.extras.shared import test_names
from failslow.extras.shared.sims import sims_of
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.submission import Submission, collect
from failslow.measurement.binary import binary_of
from failslow.measurement.formatting import seconds
from failslow.measurement.measure import Measurement, Options, measure
from failslow.measurement.runs import DEAD, LATENCY, NORMAL
from failslow.measurement.scoring import Row
from failslow.measurement.settings import Settings, load_settings

SEEDS = 1


def run(kit: Kit, lab: str, directory: Path | None = None) -> int:
    """0 when every row holds, 1 when one does not; CannotDo for a lab without a measured part."""
    machine.check_linux("test --slow")
    labs = load_labs(kit)
    measured = labs.get(lab)
    if measured.measurement is None:
        raise CannotDo(f"{lab} has no measured part")
    settings = fewest(load_settings(kit, measured))
    submission = collect(kit, labs, directory or kit.labs, lab)
    replica = _replica(kit, labs, measured, submission)
    options = Options(SEEDS, with_ungraded=False)
    found = measure(kit, measured, replica, settings, public_seed, options)
    beside = [*beside_slow_mode(found), *_told_by_tests(kit, labs, measured, submission)]
    code = _print(measured, settings.drawn(public_seed), found)
    for line in beside:
        console.stdout().print(line, markup=False, soft_wrap=True)
    return code


def fewest(settings: Settings) -> Settings:
    """The rows of the smallest cluster alone: lab 6 has none of three replicas."""
    replicas = min(row.replicas for row in settings.rows)
    return settings.brief(lambda row: row.replicas == replicas)


def beside_slow_mode(found: Measurement) -> list[str]:
    """The log in fast mode beside itself in slow mode, which a dead minority causes: each entry is
    synced there. Empty for a log that has no slow mode, or never enters it."""
    lines = []
    for run, dead in found.samples.items():
        normal = found.samples.get(run.with_fault(NORMAL))
        if (run.fault, run.load) != (DEAD, LATENCY) or normal is None:
            continue
        if dead.slowly > normal.slowly:
            lines.append(
                f"{seconds(normal.mean_ns)} on average beside {seconds(dead.mean_ns)}, and a p99 of"
                f" {seconds(normal.p99_ns)} beside {seconds(dead.p99_ns)}"
            )
    title = "Your log with all replicas up, beside itself where it syncs each entry (two are dead):"
    return [title, *lines] if lines else []


def _told_by_tests(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> list[str]:
    """The words of the public tests of the measured part, such as other detectors' results."""
    assert lab.measurement is not None
    declared = test_names.declared(kit.labs / lab.directory / "tests")
    names = [name for name, part in declared.items() if part == lab.measurement.part]
    if not names:
        return []
    sims = sims_of(kit, labs, lab, submission)
    wanted = [test for test in sims.tests() if test.name in names]
    return [f"{test.description}\n{sims.run(test).told}" for test in wanted]


def _replica(kit: Kit, labs: Labs, lab: Lab, submission: Submission) -> Path:
    cmake.configure(kit)
    recipe = load_recipe(kit)
    target = recipe.replica(lab)
    cmake.build(kit, targets=[binary_of(lab), *given(kit, [target])])
    return build_submission(kit, labs, submission, recipe, [target]) / target.name


def public_seed(purpose: str, index: int) -> int:
    """From 0 to 2^63 - 1, the same for everybody."""
    digest = hashlib.sha256(f"public {purpose}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _print(lab: Lab, settings: Settings, found: Measurement) -> int:
    out = console.stdout()
    errors = [row.error for row in found.rows]
    if len(set(errors)) == 1 and errors[0] is not None:
        # Without a run without a fault there is nothing to compare.
        out.print(f"Nothing can be measured: {errors[0]}", markup=False, soft_wrap=True)
        return _first_the_tests(lab)
    if not all(found.capacities.values()):
        out.print(f"Nothing can be measured: {lab.id} completes no command without a fault.")
        return _first_the_tests(lab)
    for row, told in zip(found.rows, found.reports, strict=True):
        out.print(f"{_verdict(row)} [bold]{settings.describe(row.graded)}[/bold]")
        lines = [*told.text.splitlines(), *([f"See it: {told.replay}"] if told.replay else [])]
        out.print("".join(f"  {line}\n" for line in lines), markup=False, soft_wrap=True)
    passed = sum(row.passed for row in found.rows)
    replicas = found.rows[0].graded.replicas
    out.print(
        f"{passed} of {len(found.rows)} measured rows hold, with one seed and {replicas} replicas."
        " A grade has more seeds, more replicas and other strengths."
    )
    return 0 if passed == len(found.rows) else 1


def _first_the_tests(lab: Lab) -> int:
    console.stdout().print(f"First let the public tests pass: ./kit test {lab.id}")
    return 1


def _verdict(row: Row) -> str:
    return PASSED if row.passed else SKIPPED if row.is_void else FAILED
