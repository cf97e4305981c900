"""The score and the survivors, in words and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from failslow.mutation.grading import COUNTED, KILLED, Graded, Population, Verdict


@dataclass(frozen=True)
class Report:
    """Of one run: `sample` is None if every change was graded."""

    lab: str
    seed: int
    sample: int | None
    population: Population
    graded: tuple[Graded, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(each.verdict is verdict for each in self.graded)

    @property
    def killed(self) -> int:
        return sum(each.verdict in KILLED for each in self.graded)

    @property
    def survivors(self) -> list[Graded]:
        """By place. A change without a verdict is among them: no test has noticed it."""
        missed = (Verdict.SURVIVED, Verdict.NO_VERDICT)
        found = [each for each in self.graded if each.verdict in missed]
        return sorted(found, key=lambda each: (each.change.file, each.change.start))

    @property
    def score(self) -> float:
        """In percent of the changes that count; 100 if none does."""
        killed, survived = self.killed, len(self.survivors)
        return 100.0 * killed / (killed + survived) if killed + survived else 100.0


def document(report: Report) -> dict[str, Any]:
    """Holds nothing that depends on the machine."""
    return {
        "lab": report.lab,
        "seed": report.seed,
        "sample": report.sample,
        "population": len(report.population.changes),
        "equivalent": report.population.equivalent,
        "killed": report.killed,
        "killed_later": report.count(Verdict.KILLED_LATER),
        "survived": len(report.survivors),
        "not_compiled": report.count(Verdict.NOT_COMPILED),
        "same_program": report.count(Verdict.SAME_PROGRAM),
        "score": round(report.score, 1),
        "operators": _by_operator(report.graded),
        "survivors": [
            {
                "file": each.change.file,
                "line": each.change.line,
                "function": each.change.function,
                "operator": each.change.operator,
                "before": each.change.before,
                "after": each.change.after,
                "nearest": each.test,
            }
            for each in report.survivors
        ],
    }


def _by_operator(graded: Sequence[Graded]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for each in graded:
        if each.verdict in COUNTED:
            row = counts.setdefault(each.change.operator, {"killed": 0, "survived": 0})
            row["killed" if each.verdict in KILLED else "survived"] += 1
    return dict(sorted(counts.items()))


def lines(report: Report) -> list[str]:
    """Each survivor with its place, its change and its nearest test; the score last."""
    text = []
    for each in report.survivors:
        change = each.change
        text.append(f"{change.file}:{change.line} {change.operator}: {change.shown}")
        is_missed = each.verdict is Verdict.SURVIVED
        what = f"the nearest test is {each.test}" if is_missed else f"no verdict: {each.test} died"
        text.append(f"    in {change.function or change.file}; {what}")
    text.append(
        f"{report.lab}: score {report.score:.1f} %: {report.killed} killed,"
        f" {report.count(Verdict.KILLED_LATER)} of them by later labs,"
        f" {len(report.survivors)} survived"
    )
    text.append(
        f"Not counted: {report.count(Verdict.NOT_COMPILED)} that do not compile,"
        f" {report.count(Verdict.SAME_PROGRAM)} that change no program,"
        f" {report.population.equivalent} recorded as equivalent"
    )
    return text
