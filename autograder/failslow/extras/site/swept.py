"""The parts of the page "Slow faults, mapped", from the committed results of a sweep.

`./kit faults sweep --simulated` makes them. A page asks for parts in double braces; see PARTS.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from failslow.extras.faults import findings, sweep, sweep_page
from failslow.extras.faults.sweep import Row

RESULTS = Path("docs/assets/sweep.json")
"""Below the handbook's directory. Weaker faults stand before stronger ones."""
WANTED = re.compile(r"\{\{ swept\.(\w+)(?:\.(\w+))? \}\}")


def fill(site: Path, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""
    rows = sweep.results(site / RESULTS)

    def part(found: re.Match[str]) -> str:
        if found[1] == "style":
            return sweep_page.STYLE
        mine = [row for row in rows if row.point.system == found[2]]
        others = [row for row in rows if row.point.system != found[2]]
        return PARTS[found[1]](found[2], mine, others)

    return WANTED.sub(part, markdown)


def _findings(name: str, rows: Sequence[Row], others: Sequence[Row]) -> str:
    found = findings.of(rows, others)
    return sweep_page.judged(name, found) + sweep_page.unjudged({name: found})


PARTS: dict[str, Callable[[str, Sequence[Row], Sequence[Row]], str]] = {
    "map": lambda name, rows, _: sweep_page.heat(name, rows),
    "runs": lambda name, rows, _: sweep_page.over_time(name, rows),
    "short": lambda name, rows, _: sweep_page.brief([(name, rows)]),
    "findings": _findings,
}
