"""`./kit bench calibrate`: measures, fits, predicts, compares."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from failslow import atomic, cmake, console
from failslow.bench import page
from failslow.calibration import device, fit, measure, profile, section, tables
from failslow.calibration.compare import Comparison
from failslow.calibration.measure import Row
from failslow.calibration.predict import predict
from failslow.calibration.profile import Costs
from failslow.calibration.workloads import FITTED, VALIDATED, Set, Workload
from failslow.errors import CannotDo
from failslow.kit import Kit

PROGRAMS = ("lab2_real", "put_load", "predict_raft", "calibrate_disk", "calibrate_wakeup")
PROFILE = "machine.json"


@dataclass(frozen=True)
class Options:
    """`out`: the directory for machine.json, the calibrated profile, and the page of results."""

    out: Path
    json: bool = False


def run(kit: Kit, options: Options) -> int:
    """0 when every prediction is close enough, 1 otherwise.

    CannotDo when the machine cannot be measured: too few cores, or other work on them.
    """
    cmake.build(kit, targets=PROGRAMS)
    fitted, validated = _measure(kit)
    costs = find_costs(kit, fitted)
    path = _write(options.out, profile.build(costs))
    comparisons = _compare(kit, path, validated)
    if options.json:
        print(json.dumps(_as_json(costs, comparisons)))
    else:
        out = console.stdout()
        out.print(tables.costs(costs))
        out.print(tables.comparisons(comparisons))
        out.print(f"The profile: {path}", soft_wrap=True)
    _refuse_disturbed([*fitted, *validated])
    where = page.write(options.out, section.section(costs, comparisons))
    if not options.json:
        console.stdout().print(f"All results so far, with plots: {where}", soft_wrap=True)
    return 0 if all(each.passed for each in comparisons) else 1


def _measure(kit: Kit) -> tuple[list[Row], list[Row]]:
    """In turns, so that neither has the machine's better minutes."""
    rows: dict[Workload, Row] = {}
    with console.progress("Measuring") as advance:

        def measure_all(loads: Iterable[Workload]) -> None:
            for each in loads:
                advance(len(rows), len(FITTED) + len(VALIDATED), each.describe())
                rows[each] = measure.measure(kit, each)

        def open_loops(of: Set) -> list[Workload]:
            return of.open_loops(rows[of.capacity].puts_per_second)

        measure_all(alternate(FITTED.closed, VALIDATED.closed))
        fitted, validated = open_loops(FITTED), open_loops(VALIDATED)
        measure_all(alternate(fitted, validated))
    return (
        [rows[each] for each in (*FITTED.closed, *fitted)],
        [rows[each] for each in (*VALIDATED.closed, *validated)],
    )


def alternate(first: Sequence[Workload], second: Sequence[Workload]) -> list[Workload]:
    pairs = zip_longest(first, second)
    return [each for pair in pairs for each in pair if each is not None]


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


def _write(directory: Path, content: dict[str, profile.Section]) -> Path:
    path = directory / PROFILE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        atomic.write_text(path, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise CannotDo(f"cannot write the profile: {error}") from error
    return path


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
