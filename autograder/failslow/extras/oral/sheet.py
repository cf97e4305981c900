"""The sheet of an oral examination: five questions of five kinds, with answers for staff."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

from failslow.extras.oral.kinds import FAILURE, KINDS, Kind, Question
from failslow.extras.oral.runs import Run

QUESTIONS = 5

Asked = tuple[Run, Question]


def choose(runs: Sequence[Run], chance: random.Random, more: Sequence[Kind] = ()) -> list[Asked]:
    """One question of each of at most five kinds, a failure first, from as many tests as can be.
    `more`: kinds of the lab's own."""
    found: dict[str, dict[str, list[Asked]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for question in (question for make in (*KINDS, *more) for question in make(run)):
            found[question.kind][run.test.name].append((run, question))
    # Kinds of few tests choose first.
    order = sorted(found, key=lambda kind: (kind != FAILURE, len(found[kind]), kind))[:QUESTIONS]
    used: Counter[str] = Counter()
    asked = []
    for by_test in (found[kind] for kind in order):
        least = min(used[name] for name in by_test)
        name = chance.choice([name for name in by_test if used[name] == least])
        used[name] += 1
        about = chance.choice(sorted({question.about for _, question in by_test[name]}))
        asked.append(chance.choice([each for each in by_test[name] if each[1].about == about]))
    return asked


def markdown(lab: str, directory: str, asked: Sequence[Asked]) -> str:
    """For staff: the answers stand below each question."""
    lines = [
        f"# {lab}: questions on {directory}\n",
        "The runs are the submission's own, and the pages beside this file show them. Keep the"
        " answers from students.\n",
    ]
    for number, (run, question) in enumerate(asked, start=1):
        answer = "\n".join(f"- {line}" for line in question.answer)
        lines += [
            f"## {number}. {title(run)}\n\n{question.text}\n\n{question.then}\n",
            f"Answer, from the recording in `{run.test.name}.html`:\n\n{answer}\n",
            f"```\n./kit replay {lab} {run.test.name} {directory} --seed {run.outcome.seed}\n```\n",
        ]
    return "\n".join(lines)


def title(run: Run) -> str:
    return f"Your run of {run.test.name} with seed {run.outcome.seed}"
