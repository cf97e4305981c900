"""Where things are: which directory of C++ includes from which, read from the sources.

A room is a directory of the layout, such as `framework/testkit`. An include that leads up, from
the framework to a lab, say, is a problem.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
LEVELS = ("framework", "labs", "reference-solutions", "tools", "autograder")
"""From the bottom up: a room includes from its own level and from those before it."""

PRIVATE = "framework/src"
"""Included from by the framework only."""


@dataclass
class Layout:
    """`uses` has the rooms that each room includes from, `problems` a sentence per bad include."""

    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    problems: list[str] = field(default_factory=list)


def read(root: Path) -> Layout:
    """The layout of a checkout; files outside of LEVELS are not part of it."""
    sources = {file: (root / file).read_text(encoding="utf-8") for file in _sources(root)}
    by_name: dict[str, list[PurePath]] = defaultdict(list)
    for file in sources:
        by_name[file.name].append(file)
    layout = Layout()
    for file, text in sources.items():
        here = room(file)
        files, lines = layout.sizes.get(here, (0, 0))
        layout.sizes[here] = (files + 1, lines + text.count("\n"))
        for name in INCLUDE.findall(text):
            target = _resolved(name, file, by_name)
            if target is None:
                continue
            if room(target) != here:
                layout.uses[here].add(room(target))
            if _is_forbidden(file, target):
                layout.problems.append(f"{file} must not include {target}")
    for here in sorted(layout.uses):
        if here in _reachable(here, layout.uses):
            layout.problems.append(f"{here} includes from a directory that includes from it")
    return layout


def room(file: PurePath) -> str:
    """Tests of the framework are one component. All labs are one component, except their shared
    part."""
    top, *below = file.parts
    if top == "framework":
        if "tests" in below[:-1]:
            return "framework/tests"
        depth = 3 if below[0] == "hosts" and len(below) > 2 else 2
        return "/".join(file.parts[:depth])
    return "labs/common" if top == "labs" and below[0] == "common" else top


def _sources(root: Path) -> Iterator[PurePath]:
    for level in LEVELS:
        for file in sorted((root / level).rglob("*")):
            if file.suffix in (".h", ".cc"):
                yield file.relative_to(root)


def _resolved(name: str, includer: PurePath, by_name: dict[str, list[PurePath]]) -> PurePath | None:
    """The included file. A starter and its solution have equal names: the include was written for
    the nearest, then the lowest."""
    found = [file for file in by_name[PurePath(name).name] if f"/{file}".endswith(f"/{name}")]
    return min(found, key=lambda file: (-_shared(file, includer), _level(file)), default=None)


def _shared(file: PurePath, other: PurePath) -> int:
    """The number of leading directories that two files share."""
    pairs = zip(file.parts[:-1], other.parts[:-1], strict=False)
    same = [one == two for one, two in pairs]
    return same.index(False) if False in same else len(same)


def _level(file: PurePath) -> int:
    return LEVELS.index(file.parts[0])


def _is_forbidden(includer: PurePath, target: PurePath) -> bool:
    if _level(target) > _level(includer):
        return True
    return room(target) == PRIVATE and _level(includer) > 0


def diagram(layout: Layout) -> str:
    """The rooms as a Mermaid flowchart. An arrow that follows from two others is left out."""
    lines = ["flowchart TD", "  accTitle: Which directory includes from which"]
    lines.append(
        f"  accDescr: {'. '.join(_sentence(layout, each) for each in sorted(layout.sizes))}"
    )
    for level in reversed(LEVELS):
        rooms = sorted(each for each in layout.sizes if each.split("/")[0] == level)
        named = [f"    {_id(each)}[{each.removeprefix(f'{level}/')}]" for each in rooms]
        lines += [f"  subgraph level_{_id(level)}[{level}]", *named, "  end"] if rooms else []
    for user, used in sorted(_direct(layout.uses)):
        lines.append(f"  {_id(user)} --> {_id(used)}")
    return "\n".join(["```mermaid", *lines, "```"])


def table(layout: Layout) -> str:
    """The rooms with their sizes and all rooms that each includes from, from the top down."""
    rows = ["| directory | files | lines | includes from |", "| --- | ---: | ---: | --- |"]
    order = sorted(layout.sizes, key=lambda each: (-LEVELS.index(each.split("/")[0]), each))
    for each in order:
        files, lines = layout.sizes[each]
        uses = ", ".join(f"`{used}`" for used in sorted(layout.uses[each]))
        rows.append(f"| `{each}` | {files} | {lines:,} | {uses} |")
    return "\n".join(rows)


def _sentence(layout: Layout, each: str) -> str:
    return f"{each} includes from {', '.join(sorted(layout.uses[each])) or 'nothing else'}"


def _direct(uses: dict[str, set[str]]) -> set[tuple[str, str]]:
    below = {each: _reachable(each, uses) for each in list(uses)}
    return {
        (user, used)
        for user, all_used in list(uses.items())
        for used in all_used
        if not any(used in below.get(other, ()) for other in all_used - {used})
    }


def _reachable(begin: str, uses: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    new = {begin}
    while new:
        new = {used for each in new for used in uses.get(each, ())} - seen
        seen |= new
    return seen


def _id(name: str) -> str:
    return name.replace("/", "_").replace("-", "_")
