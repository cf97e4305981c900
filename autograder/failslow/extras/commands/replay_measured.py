"""`kit replay LAB slow:3/net-slow`: one measured run, drawn with its fault, waits and answers.

The submission is in the process of the run, so its waits are seen. The run is the same as with
sealed replicas: its trace hash is equal.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from failslow.base import console, machine
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build.gtest import GradedTest, Outcome
from failslow.extras.commands import replay
from failslow.extras.commands.slow import public_seed
from failslow.extras.replay import one_test
from failslow.extras.shared import sims
from failslow.extras.shared.solution import check_out, submission_in
from failslow.lab.labs import load_labs
from failslow.measurement.binary import Program, Sample, measure_once
from failslow.measurement.formatting import seconds
from failslow.measurement.measure import Meter
from failslow.measurement.run_names import PREFIX, Named, parse
from failslow.measurement.runs import CAPACITY, NORMAL, Plan
from failslow.measurement.settings import Settings, load_settings


def run(kit: Kit, wanted: replay.Request) -> int:
    """Replays a measured run; replay.run gets everything else. 1 if the submission misbehaves in
    the run: whether a row holds needs more runs than one."""
    if not wanted.test.startswith(PREFIX):
        return replay.run(kit, wanted)
    machine.check_linux("replay of a measured run")
    check_out(wanted.out)
    labs = load_labs(kit)
    lab = labs.get(wanted.lab)
    if lab.measurement is None:
        raise CannotDo(f"{lab.id} has no measured part")
    if wanted.shrink:
        raise CannotDo("a measured run has one fault: --shrink is for tests")
    settings = load_settings(kit, lab)
    named = parse(wanted.test, settings, public_seed, wanted.seed)
    with submission_in(kit, labs, wanted.directory or kit.labs, lab.id) as submission:
        found = sims.measured_of(kit, labs, lab, submission)
    (binary,) = found.binaries.values()
    program = Program(binary, lab.measurement.roles, replica=Path("none"))
    rate = named.rate or _rate(program, settings, named)
    with tempfile.TemporaryDirectory(prefix="failslow-replay-") as scratch:
        record = Path(scratch) / "record"
        sample = measure_once(program, named.run, rate, f"--record={record}")
        problem = sample.violation or sample.error or ""
        outcome = Outcome((problem,) if problem else (), seed=str(named.run.seed))
        test = _as_a_test(wanted.test, named)
        one_test.write_drawing(wanted.out, found, test, outcome, record)
    console.stdout().print(_in_words(named, rate, sample), markup=False, soft_wrap=True)
    if named.run.fault != NORMAL:
        normal = replace(named, run=named.run.with_fault(NORMAL))
        without = measure_once(program, normal.run, rate)
        console.stdout().print(_in_words(normal, rate, without), markup=False, soft_wrap=True)
    replay.keep(kit, wanted, outcome)
    for text in outcome.failures:
        console.note(text)
    return 1 if outcome.failures else 0


def _rate(program: Program, settings: Settings, named: Named) -> float:
    """That of the run's load, by the submission's own capacity."""
    if named.run.load == CAPACITY:
        return settings.rates.capacity_rate
    load = (named.run.mix, named.run.replicas)
    plan = Plan(settings.drawn(public_seed), public_seed, 1)
    meter = Meter(program, settings.rates, [load])
    with console.progress("Measuring the capacity") as advance:
        meter.measure_capacity(plan, advance)
    if not meter.capacities[load]:
        raise CannotDo("nothing is committed without a fault: first let the public tests pass")
    return meter.rate_of(named.run)


def _as_a_test(name: str, named: Named) -> GradedTest:
    words = f"A measured run: {named.run}"
    return GradedTest("measured", name.partition(",")[0], "", 0, words, hidden=False)


def _in_words(named: Named, rate: float, sample: Sample) -> str:
    fault = "Without a fault" if named.run.fault == NORMAL else f"With {named.run.fault}"
    return (
        f"{fault}: {sample.throughput:.0f} of {rate:.0f} commands a second, latency"
        f" {seconds(sample.mean_ns)} on average, 99th percentile {seconds(sample.p99_ns)},"
        f" the longest {seconds(sample.longest_ns)}."
    )
