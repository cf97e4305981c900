"""The table of mistakes and the points of the measured part that they keep.

It shows the latest results that were committed: the output of `./kit check --mutants --json`.
"""

import json
from pathlib import Path
from typing import Any

RESULTS = Path("docs/assets/kept.json")


def table(site: Path) -> str:
    """In Markdown, one line for each measured mutant. `site`: the handbook's sources."""
    content = json.loads((site / RESULTS).read_text(encoding="utf-8"))
    lines = ["| mistake | points kept |", "| --- | --- |"]
    lines += [
        f"| {mutant['description']} | {kept['points']:g} of {kept['of']:g} |"
        for mutant in content["mutants"]
        for kept in measured(mutant)
    ]
    return "\n".join(lines)


def measured(mutant: dict[str, Any]) -> list[dict[str, float]]:
    """Its share of measured parts; empty for a mutant that was not measured."""
    return [kept for of, kept in mutant["kept"].items() if of != mutant["name"].partition("/")[0]]
