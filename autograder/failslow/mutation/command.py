"""`kit check --mutate LAB`: how many small mistakes in the reference do the tests notice?"""

import json

from failslow import cmake, console
from failslow.check.step import Context, Counts
from failslow.kit import Kit
from failslow.labs import load_labs
from failslow.mutation import change, report
from failslow.mutation.grading import Grader
from failslow.mutation.report import Report


def run(kit: Kit, lab_id: str, sample: int | None, seed: int, as_json: bool) -> int:
    """0 when the tests notice every change that is graded, 1 otherwise.

    `sample`: the number of changes that count, drawn by `seed`; None for all.
    """
    labs = load_labs(kit)
    lab = labs.get(lab_id)
    cmake.build(kit, targets=[cmake.GRADING])
    grader = Grader(kit, labs, lab)
    population = grader.population()
    graded = grader.grade(change.shuffled(population.changes, seed), sample)
    result = Report(lab.id, seed, sample, population, tuple(graded))
    if as_json:
        print(json.dumps(report.document(result), indent=1))
    else:
        for line in report.lines(result):
            console.stdout().print(line, markup=False, soft_wrap=True)
    return 1 if result.survivors else 0


def recorded_equivalents(context: Context) -> Counts:
    """Each recorded equivalent is still a change of its lab's reference."""
    labs = load_labs(context.kit)
    counts = Counts()
    for lab in labs.by_id.values():
        # One for the lab, which may have no entry, and one for each entry.
        counts.passed += 1 + Grader(context.kit, labs, lab).population().equivalent
    return counts
