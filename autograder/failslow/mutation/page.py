"""The scores as the handbook shows them, from what `kit check --mutate LAB --json` printed."""

import json
from pathlib import Path
from typing import Any


def table(directory: Path) -> str:
    """A row for each lab with a score, in Markdown."""
    rows = [
        "| lab | changes | graded | killed | of these later | survived | equivalent | score |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for score in _scores(directory):
        graded = score["killed"] + score["survived"]
        numbers = (
            score["population"] + score["equivalent"],
            graded,
            score["killed"],
            score["killed_later"],
            score["survived"],
            score["equivalent"],
            f"{score['score']:.1f} %",
        )
        rows.append(f"| {score['lab']} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(rows)


def operators(directory: Path) -> str:
    """A row for each operator: killed of graded, in each lab with a score."""
    scores = _scores(directory)
    names = sorted({name for score in scores for name in score["operators"]})
    rows = ["| operator | " + " | ".join(score["lab"] for score in scores) + " |"]
    rows.append("| --- |" + " ---: |" * len(scores))
    for name in names:
        rows.append(f"| {name} | " + " | ".join(_killed(score, name) for score in scores) + " |")
    return "\n".join(rows)


def _killed(score: dict[str, Any], operator: str) -> str:
    counts = score["operators"].get(operator)
    if counts is None:
        return "-"
    return f"{counts['killed']} of {counts['killed'] + counts['survived']}"


def _scores(directory: Path) -> list[dict[str, Any]]:
    """By lab."""
    return [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(directory.glob("*.json"))
    ]
