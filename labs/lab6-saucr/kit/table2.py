"""Table 2 of document 003 beside ours, and the bars of ours. Pure functions of the results."""

from collections.abc import Iterator, Mapping
from typing import Any

from failslow.extras.for_labs import reproduction

from .published import DISK, GAPS, MEMORY, SAUCR, SYSTEMS, TABLE_2, VR

OUTCOMES = {
    "total": "total",
    "correct": "correct",
    "unavailable": "unavailable",
    "lost": "data loss",
}
LOSES = {5: (0.25, 0.54), 7: (0.20, 0.46)}
"""The shares of sequences, least and most, in which a log in memory loses commands. The document's
are 50 and 41 %; losses are possible in 54 and 45 % of ours."""

Cell = Mapping[str, Any]


def table(results: reproduction.Results) -> reproduction.Table:
    rows: list[tuple[str, ...]] = []
    for cell in results["cells"]:
        printed = TABLE_2[cell["system"], cell["replicas"], cell["scenario"]]
        figures = [f"{getattr(printed, name)} / {cell[name]}" for name in OUTCOMES]
        differ = "model" if cell["system"] == VR else str(cell["differ"])
        nodes = str(cell["replicas"])
        rows.append((SYSTEMS[cell["system"]], nodes, cell["scenario"], *figures, differ))
    every = results["scale"]["every"]
    return reproduction.Table(
        title="Table 2 of document 003 / ours" + (f", every {every}th sequence" * (every > 1)),
        heads=("system", "nodes", "crashes", *OUTCOMES.values(), "not as its model"),
        rows=rows,
        note=_note(results),
    )


def _note(results: reproduction.Results) -> str:
    must = [
        f"{cell['certain']} and {cell['possible']} of {cell['replicas']} replicas"
        for cell in results["cells"]
        if (cell["system"], cell["scenario"]) == (MEMORY, GAPS)
    ]
    return (
        "A log in memory must lose commands in some sequences, and may in others:"
        f" {', '.join(must)}. Whether it does depends on the replica that is elected."
    )


def missed(results: reproduction.Results) -> list[str]:
    """A sentence for each bar that these results miss."""
    return [sentence for cell in results["cells"] for sentence in _missed(cell)]


def _missed(cell: Cell) -> Iterator[str]:
    of = f"{SYSTEMS[cell['system']]}, {cell['replicas']} nodes, {cell['scenario']}"
    total = cell["total"]
    if cell["differ"]:
        yield f"{of}: {cell['differ']} of {total} differ from the ideal model: {cell['example']}"
    if cell["broken"]:
        yield f"{of}: {cell['broken']} of {total} break a rule of SAUCR: {cell['example']}"
    must_all = cell["system"] == DISK or (cell["system"], cell["scenario"]) == (SAUCR, GAPS)
    if must_all and cell["correct"] != total:
        yield f"{of}: {cell['correct']} of {total} are correct, and all must be"
    if cell["system"] == MEMORY:
        least, most = LOSES[cell["replicas"]]
        if not least <= cell["lost"] / total <= most:
            shares = (cell["lost"] / total, least, most)
            lost, low, high = map(reproduction.percent, shares)
            yield f"{of}: {lost} lose data, not {low} to {high}"
