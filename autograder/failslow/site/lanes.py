"""Pictures of a log with two lanes, from a part of a replay.

    python -m failslow.site.lanes out/replay.html 112 130 > site/docs/assets/lanes/NAME.json

writes that part of its first cluster, in ms. A page asks for the picture by {{ lanes.NAME }}.
"""

import html
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PARTS = Path("docs/assets/lanes")
"""Below the handbook's directory."""

WANTED = re.compile(r"^\{\{ lanes\.([\w-]+) \}\}$", re.M)

LEFT, RIGHT, WIDTH = 44, 14, 640
TALL, ROWS, ROW = 8, 3, 20
LANE = ROWS * ROW + 14
NS_IN_MS = 1_000_000

Entry = dict[str, Any]
"""`lane`, `index`, `after` (the dependency; None of a no-op, or if it is undecided), and the times
`proposed`, `decided` and `ran` of the first replica in ns from the begin, None if never."""


def part_of(replay: str, begin_ms: float, end_ms: float) -> dict[str, Any]:
    """The entries that a replay's page shows in a time. `replay`: its text."""
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', replay)
    assert found is not None, "no page of ./kit replay"
    recording = json.loads(found[1])
    begin, end = round(begin_ms * NS_IN_MS), round(end_ms * NS_IN_MS)
    entries = []
    for lane, index, after, proposed, decided, ran in recording["worlds"][0]["entries"]:
        times = {"proposed": proposed, "decided": _first(decided), "ran": _first(ran)}
        known = [when for when in times.values() if when is not None]
        if min(known) >= end or (times["ran"] or end) <= begin:
            continue
        shown = {
            name: None if when is None or when >= end else max(0, when - begin)
            for name, when in times.items()
        }
        after = after if shown["decided"] is not None else None
        entries.append({"lane": lane, "index": index, "after": after, **shown})
    return {"lanes": recording["lanes"], "length": end - begin, "entries": entries}


def _first(times: Mapping[str, int]) -> int | None:
    return min(times.values(), default=None)


def fill(site: Path, markdown: str) -> str:
    """The page with the pictures that it asks for."""

    def picture(found: re.Match[str]) -> str:
        path = site / PARTS / f"{found[1]}.json"
        return f'<div class="scroll">{draw(json.loads(path.read_text(encoding="utf-8")))}</div>'

    return WANTED.sub(picture, markdown)


def draw(part: Mapping[str, Any]) -> str:
    """An SVG. Its label says the same in words."""
    length = part["length"]
    by_name = {(entry["lane"], entry["index"]): entry for entry in part["entries"]}
    height = 2 * LANE + 24
    words = html.escape(". ".join(_words(part["lanes"], each) for each in part["entries"]), True)
    drawn = [
        f'<svg class="plot lanes" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{words}">',
        *(
            _text(4, lane * LANE + LANE / 2, f"lane {name}")
            for lane, name in enumerate(part["lanes"])
        ),
        *(_tick(length, share, height) for share in (0, 0.25, 0.5, 0.75, 1)),
        *(_dependency(length, entry, by_name) for entry in part["entries"]),
        *(_entry(length, part["lanes"], entry, by_name) for entry in part["entries"]),
        "</svg>",
    ]
    return "".join(drawn)


def _words(lanes: list[str], entry: Entry) -> str:
    name = f"{lanes[entry['lane']]}.{entry['index']}"
    if entry["decided"] is None:
        return f"{name} is not decided"
    if entry["after"] is None:
        return f"{name} is a no-op"
    if not entry["after"]:
        return f"{name} depends on nothing"
    return f"{name} depends on {lanes[1 - entry['lane']]}.{entry['after']}"


def _x(length: int, when: int | None) -> float:
    share = 1.0 if when is None else when / length
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _y(entry: Entry) -> float:
    return float(entry["lane"] * LANE + 22 + entry["index"] % ROWS * ROW)


def _tick(length: int, share: float, height: int) -> str:
    x = _x(length, round(share * length))
    anchor = {0: "start", 1: "end"}.get(share, "middle")
    words = f"{share * length / NS_IN_MS:g} ms"
    line = f'<line class="tick" x1="{x}" x2="{x}" y1="4" y2="{height - 18}"/>'
    return line + f'<text x="{x}" y="{height - 4}" text-anchor="{anchor}">{words}</text>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x}" y="{y}">{html.escape(words)}</text>'


def _is_cycle(entry: Entry, by_name: Mapping[tuple[int, int], Entry]) -> bool:
    other = by_name.get((1 - entry["lane"], entry["after"] or 0))
    return other is not None and (other["after"] or 0) >= entry["index"]


def _dependency(length: int, entry: Entry, by_name: Mapping[tuple[int, int], Entry]) -> str:
    other = by_name.get((1 - entry["lane"], entry["after"] or 0))
    if other is None or other["decided"] is None:
        return ""
    way = [_x(length, entry["decided"]), _y(entry), _x(length, other["decided"]), _y(other)]
    x1, y1, x2, y2 = way
    kind = "dependency cycle" if _is_cycle(entry, by_name) else "dependency"
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _entry(
    length: int, lanes: list[str], entry: Entry, by_name: Mapping[tuple[int, int], Entry]
) -> str:
    begin = _x(length, entry["proposed"] if entry["proposed"] is not None else entry["decided"])
    since = _x(length, entry["decided"])
    end = max(_x(length, entry["ran"]), since + 4)
    kind = "cycle" if _is_cycle(entry, by_name) else "open" if entry["after"] is None else "entry"
    y = _y(entry)
    drawn = f'<line class="{kind}" x1="{begin}" x2="{since}" y1="{y}" y2="{y}"/>'
    if entry["decided"] is not None:
        top = y - TALL / 2
        wide = round(end - since, 1)
        drawn += f'<rect class="{kind}" x="{since}" y="{top}" width="{wide}" height="{TALL}"/>'
    return drawn + _text(begin, y - 6, f"{lanes[entry['lane']]}.{entry['index']}")


def main(arguments: list[str]) -> None:
    replay, begin, end = arguments
    text = Path(replay).read_text(encoding="utf-8")
    print(json.dumps(part_of(text, float(begin), float(end)), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
