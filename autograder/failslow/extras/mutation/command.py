"""`kit check --mutate LAB`: the share of small mistakes in the reference that the tests notice."""

from collections import Counter

from failslow.base import console, parallel
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.mutation.changes import Change, shuffled
from failslow.extras.mutation.trial import Trial, Verdict
from failslow.lab.labs import load_labs

COUNTED = (Verdict.KILLED, Verdict.SURVIVED)


def run(kit: Kit, lab_id: str, sample: int | None, seed: int) -> int:
    """0 when the tests notice every change that is graded, 1 otherwise.

    `sample`: the number of changes that count, drawn by `seed`; None for all.
    """
    labs = load_labs(kit)
    lab = labs.get(lab_id)
    cmake.build(kit, targets=[cmake.GRADING])
    trial = Trial(kit, labs, lab)
    candidates = shuffled(trial.changes(), seed)
    trial.begin()
    graded = _grade(trial, candidates, sample, lab.id)
    for line in _report(lab.id, len(candidates), graded):
        console.stdout().print(line, markup=False, soft_wrap=True)
    return 1 if Verdict.SURVIVED in graded.values() else 0


def _grade(
    trial: Trial, candidates: list[Change], sample: int | None, lab_id: str
) -> dict[Change, Verdict]:
    """The first `sample` of the candidates that count, and those between that do not."""
    graded: dict[Change, Verdict] = {}
    left = candidates
    missing = len(left) if sample is None else sample
    with console.progress(f"Grading changes of {lab_id}") as advance:
        while left and missing > 0:
            batch, left = left[:missing], left[missing:]
            verdicts = parallel.run_all(batch, trial.grade, advance, lambda each: each.file)
            graded |= zip(batch, verdicts, strict=True)
            counted = sum(verdict in COUNTED for verdict in graded.values())
            missing = len(left) if sample is None else sample - counted
    return graded


def _report(lab_id: str, candidates: int, graded: dict[Change, Verdict]) -> list[str]:
    """Each survivor with its line before and after; the score last."""
    survivors = [change for change, verdict in graded.items() if verdict is Verdict.SURVIVED]
    lines = [str(each) for each in sorted(survivors, key=lambda each: (each.file, each.line))]
    count = Counter(graded.values())
    killed, survived = count[Verdict.KILLED], count[Verdict.SURVIVED]
    score = 100 * killed / (killed + survived) if killed + survived else 100.0
    return [
        *lines,
        f"{lab_id}: score {score:.1f} %: {killed} killed, {survived} survived, of {candidates}"
        " changes",
        f"Not counted: {count[Verdict.NOT_COMPILED]} that do not compile,"
        f" {count[Verdict.SAME_PROGRAM]} that change no program",
    ]
