"""The parts of the page "Slow faults, mapped", from the committed results of a sweep.

`./kit faults sweep --simulated` makes them. A page asks for parts in double braces; see PARTS.
"""

import json
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from failslow.extras.faults import sweep, sweep_page
from failslow.extras.faults.sweep import Row

RESULTS = Path("docs/assets/sweep.json")
"""Below the handbook's directory. Weaker faults stand before stronger ones."""
WANTED = re.compile(r"\{\{ swept\.(\w+)(?:\.(\w+))? \}\}")


def fill(site: Path, markdown: str) -> str:
    """The page with all parts that it asks for. KeyError for a part that does not exist."""
    rows = read(site / RESULTS)

    def part(found: re.Match[str]) -> str:
        if found[1] == "style":
            return sweep_page.STYLE
        mine = [row for row in rows if row.point.system == found[2]]
        others = [row for row in rows if row.point.system != found[2]]
        return PARTS[found[1]](found[2], mine, others)

    return WANTED.sub(part, markdown)


def read(path: Path) -> list[Row]:
    content = json.loads(path.read_text(encoding="utf-8"))
    cells = [sweep.from_json(each) for each in content["cells"]]
    return [Row(point, tuple(members)) for point, members in groupby(cells, lambda cell: cell.row)]


PARTS: dict[str, Callable[[str, Sequence[Row], Sequence[Row]], str]] = {
    "map": lambda name, rows, _: sweep_page.heat(name, rows),
    "runs": lambda name, rows, _: sweep_page.over_time(name, rows),
    "short": lambda name, rows, _: sweep_page.brief([(name, rows)]),
    "findings": sweep_page.judged,
}
