"""The reference stays fast with every slow fault, and the handbook's results are today's."""

import json
from dataclasses import replace
from pathlib import Path

from failslow.base import records
from failslow.extras import lab_kits
from failslow.extras.bench import slow
from failslow.extras.bench.slow import Options
from failslow.extras.check.step import Context, Counts
from failslow.extras.faults import catalogue, simulated, sweep
from failslow.extras.reproduction import results
from failslow.extras.reproduction.reproduction import Reproduction, command, results_path
from failslow.extras.site import benchmarked, measured, reproduced, swept

SEEDS = 50
CELLS_APART, REPLICAS = 20, 3


def reference(context: Context) -> Counts:
    """One check for each number of replicas and fault."""
    (found,) = slow.measure(context.kit, Options(seeds=SEEDS)).measured
    counts = Counts()
    for cell in found.cells:
        problems = slow.missed(replace(found, cells=[cell]), slow.BARS)
        counts.expect(not problems, "\n".join(problems))
    return counts


def committed(context: Context) -> Counts:
    """One check for each file of results: its command gives the same again."""
    counts = Counts()
    for path in sorted((context.kit.site / measured.RESULTS).glob("*.json")):
        text = path.read_text(encoding="utf-8")
        options = Options.from_json(json.loads(text)["options"])
        again = slow.as_text(slow.measure(context.kit, options))
        counts.expect(again == text, _not_made(path, f"{options.command()} --json"))
    return counts


def simulated_cells(context: Context) -> Counts:
    """One check for every CELLS_APART-th cell of the handbook's sweep: it is the same again."""
    path = context.kit.site / swept.RESULTS
    wanted = [sweep.from_json(each) for each in json.loads(path.read_text("utf-8"))["cells"]]
    wanted = wanted[::CELLS_APART]
    known, counts = catalogue.load(context.kit), Counts()
    for lab in dict.fromkeys(cell.point.system for cell in wanted):
        mine = [cell for cell in wanted if cell.point.system == lab]
        system = simulated.system(context.kit, lab, None, REPLICAS, seeds=1)
        for cell, again in zip(mine, simulated.made(system, known, mine), strict=True):
            same = replace(again, series=cell.series) == cell
            counts.expect(same, f"{path.name}: {cell.point} is not what it says")
    return counts


def reproduced_results(context: Context) -> Counts:
    """The results of `kit reproduce` are the same again, and those of labs by their names."""
    path = context.kit.site / reproduced.RESULTS
    text = path.read_text(encoding="utf-8")
    scale = results.Scale(**json.loads(text)["scale"])
    counts = Counts()
    again = results.as_text(results.measure(context.kit, scale))
    counts.expect(again == text, _not_made(path, scale.command()))
    for name, each in lab_kits.reproductions(context.kit).items():
        counts.add(of_a_lab(context, name, each))
    return counts


def of_a_lab(context: Context, name: str, each: Reproduction) -> Counts:
    path = results_path(context.kit, name)
    text = path.read_text(encoding="utf-8")
    quick = each.is_quick(json.loads(text))
    counts = Counts()
    again = records.text(each.measure(context.kit, quick))
    counts.expect(again == text, _not_made(path, command(name, quick)))
    return counts


def _not_made(path: Path, line: str) -> str:
    return f"{path.name} is not what its command gives: {line} > {path}"


def benchmarks_of_labs(context: Context) -> Counts:
    """A part of the results of labs' own benchmarks is the same again."""
    committed = json.loads((context.kit.site / benchmarked.RESULTS).read_text(encoding="utf-8"))
    counts = Counts()
    for _, module in lab_kits.every(context.kit):
        if made_again := getattr(module, "made_again", None):
            for key, figures in made_again(context.kit).items():
                said = {each["name"]: each["value"] for each in committed[key]["figures"]}
                for each in figures:
                    # The committed figures are rounded.
                    value = json.loads(records.text({"": each.value}))[""]
                    stale = f"{benchmarked.RESULTS}: {each.name} is not what it says"
                    counts.expect(value == said.get(each.name), stale)
    return counts
