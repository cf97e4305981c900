"""`./kit bench calibrate`: measures, fits, predicts, compares."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path

from failslow import atomic, cmake, console
from failslow.bench import page
from failslow.calibration import device, fit, load_run, profile, section, tables
from failslow.calibration.compare import Comparison
from failslow.calibration.load_run import Row
from failslow.calibration.predict import predict
from failslow.calibration.profile import Costs
from failslow.calibration.workloads import FITTED, VALIDATED, Set, Workload
from failslow.kit import Kit

PROGRAMS = ("lab2_real", "put_load", "predict_raft", "calibrate_disk", "calibrate_wakeup")
PROFILE = "machine.json"
ROUNDS = 3
"""Of a load that is compared: the mean latency of one run may be off by a fifth, when replicas
happen to compact together."""


def run(kit: Kit, out: Path, as_json: bool = False) -> int:
    """0 when every prediction is close enough, 1 otherwise.

    `out`: the directory for machine.json, the calibrated profile, and the page of results.
    CannotDo when the machine cannot be measured: too few cores, or other work on them.
    """
    cmake.build(kit, targets=PROGRAMS)
    fitted, validated = _measure(kit)
    costs = find_costs(kit, fitted)
    path = out / PROFILE
    atomic.write_text(path, json.dumps(profile.build(costs), indent=2) + "\n")
    comparisons = _compare(kit, path, validated)
    if as_json:
        print(json.dumps(_as_json(costs, comparisons)))
    else:
        stdout = console.stdout()
        stdout.print(tables.costs(costs))
        stdout.print(tables.comparisons(comparisons))
        stdout.print(f"The profile: {path}", soft_wrap=True)
    _refuse_disturbed([*fitted, *validated])
    where = page.write(out, section.section(costs, comparisons))
    if not as_json:
        console.stdout().print(f"All results so far, with plots: {where}", soft_wrap=True)
    return 0 if all(each.passed for each in comparisons) else 1


def _measure(kit: Kit) -> tuple[list[Row], list[Row]]:
    """Those to fit and those to compare in turns, so that neither have the machine's better
    minutes."""
    fitted: list[Row] = []
    validated: list[Row] = []
    with console.progress("Measuring") as advance:

        def measure_all(to_fit: Sequence[Workload], to_compare: Sequence[Workload]) -> None:
            for number, each in alternate(to_fit, to_compare):
                done = len(fitted) + len(validated)
                advance(done, len(FITTED) + len(VALIDATED), each.describe())
                if number == 0:
                    fitted.append(load_run.measure(kit, each))
                else:
                    validated.append(_typical([load_run.measure(kit, each) for _ in range(ROUNDS)]))

        measure_all(FITTED.closed, VALIDATED.closed)
        measure_all(_open_loops(FITTED, fitted), _open_loops(VALIDATED, validated))
    return fitted, validated


def _open_loops(loads: Set, closed: Sequence[Row]) -> list[Workload]:
    (capacity,) = (row for row in closed if row.workload == loads.capacity)
    return loads.open_loops(capacity.puts_per_second)


def _typical(rounds: Sequence[Row]) -> Row:
    """The one with the median of the mean latencies; a disturbed one only if all are."""
    good = [row for row in rounds if not row.disturbed] or rounds
    return sorted(good, key=lambda row: row.mean)[len(good) // 2]


def alternate(first: Sequence[Workload], second: Sequence[Workload]) -> list[tuple[int, Workload]]:
    """One of each in turn, with the number of the list that it is from, 0 or 1."""
    pairs = zip_longest(first, second)
    return [(i, each) for pair in pairs for i, each in enumerate(pair) if each is not None]


def find_costs(kit: Kit, rows: list[Row]) -> Costs:
    with console.progress("Measuring disk and wake-ups"):
        disk, wakeup = device.disk(kit), device.wakeup(kit)
    return Costs(
        loop=fit.thread_costs(rows, fit.LOOP, lambda replica: replica.loop),
        disk_thread=fit.thread_costs(rows, fit.DISK, lambda replica: replica.disk),
        client=fit.client_costs(rows),
        disk=disk,
        wakeup=wakeup,
        overhead=profile.overhead(rows),
    )


def _compare(kit: Kit, path: Path, rows: list[Row]) -> list[Comparison]:
    comparisons = []
    with console.progress("Simulating") as advance:
        for row in rows:
            advance(len(comparisons), len(rows), row.workload.describe())
            comparisons.append(Comparison(row, predict(kit, path, row.workload)))
    return comparisons


def _refuse_disturbed(rows: list[Row]) -> None:
    foreign = [row.foreign for row in rows if row.disturbed]
    if foreign:
        raise device.busy_machine(max(foreign))


def _as_json(costs: Costs, comparisons: list[Comparison]) -> dict[str, object]:
    return {
        "costs": asdict(costs),
        "profile": profile.build(costs),
        "comparisons": [
            {
                "workload": asdict(each.row.workload),
                "measured": {name: getattr(each.row, name) for name in tables.FIGURES},
                "predicted": asdict(each.prediction),
                "throughput_ratio": each.throughput,
                "latency_ratio": each.latency,
                "foreign": each.row.foreign,
                "passed": each.passed,
            }
            for each in comparisons
        ],
    }
