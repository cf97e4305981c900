"""The lines of a lab that lost points, on one screen: together if one cause costs them.

One mistake often costs dozens of lines. A student needs its cause, one line that shows it, and the
names of the others.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape

from failslow.base.console import FAILED
from failslow.grade.model import TestRow

SCREEN_LINES = 50
LEAST_LINES = 6
"""Lines of a reason that is shown at all."""
NAMED_MAX = 6
"""Lines of one cause that are named; the rest is counted."""
VOID = "[yellow]void[/yellow]"


def print_all(console: Console, rows: Sequence[TestRow]) -> None:
    """Each with its whole reason, and with all figures of a measured one."""
    for row in rows:
        _print_alone(console, row, [*_reason(row), *_figures(row)])


def print_brief(console: Console, rows: Sequence[TestRow], reserved: int) -> None:
    """Those that cost the most first. `reserved`: lines of the screen for what follows."""
    groups = _by_cause(rows)
    left = SCREEN_LINES - reserved - 2
    shown = 0
    for number, group in enumerate(groups):
        others = len(groups) - number - 1
        fixed = 2 + (len(_named(group)) if len(group) > 1 else 0)
        share = max(LEAST_LINES, (left - fixed) // (1 + min(others, 2)))
        if number and left < fixed + min(share, LEAST_LINES):
            break
        lines = _cut(console, _reason(group[0]), share)
        if len(group) == 1:
            _print_alone(console, group[0], lines)
        else:
            _print_together(console, group, lines)
        left -= fixed + _height(console, lines)
        shown += len(group)
    rest = [row for group in groups for row in group][shown:]
    if rest:
        points = _points(rest)
        console.print(f"\n{len(rest)} more lines lost {points:g} points; --verbose prints all.")


def _by_cause(rows: Sequence[TestRow]) -> list[list[TestRow]]:
    """In the order of the first line of each that lost the same points."""
    groups: dict[tuple[str, str], list[TestRow]] = {}
    for row in rows:
        key = ("cause", row.cause) if row.cause else ("line", row.test_id or row.title)
        groups.setdefault(key, []).append(row)
    for group in groups.values():
        group.sort(key=lambda row: row.hidden)  # a public test has a command that repeats it
    return sorted(groups.values(), key=_points, reverse=True)


def _points(rows: Sequence[TestRow]) -> float:
    return round(sum(row.max_score - row.score for row in rows), 2)


def _print_alone(console: Console, row: TestRow, lines: Sequence[str]) -> None:
    verdict = VOID if row.void else FAILED
    points = f" {row.score:g}/{row.max_score:g}" if row.max_score else ""
    console.print(f"\n{verdict}{points} [red]{row.lab}[/red] [bold]{escape(_name(row))}[/bold]")
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def _print_together(console: Console, group: Sequence[TestRow], lines: Sequence[str]) -> None:
    first = group[0]
    verdict = VOID if first.void else FAILED
    console.print(
        f"\n{verdict} [red]{first.lab}[/red] [bold]{len(group)} lines lost {_points(group):g}"
        f" points: {escape(first.cause)}[/bold]",
        soft_wrap=True,
    )
    for line in _named(group):
        console.print(line, markup=False, no_wrap=True, overflow="ellipsis")
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def _named(group: Sequence[TestRow]) -> list[str]:
    named = [
        f"  {row.score:g}/{row.max_score:g}  {_name(row)}{f': {row.missed}' if row.missed else ''}"
        for row in group[:NAMED_MAX]
    ]
    rest = len(group) - len(named)
    return [*named, f"  and {rest} more"] if rest else named


def _name(row: TestRow) -> str:
    return f"{row.title} ({row.test_id})" if row.hidden else row.title


def _reason(row: TestRow) -> list[str]:
    """The last line names the handout."""
    lines = row.output.rstrip().splitlines()
    return [*lines[:-1], *row.detail.rstrip().splitlines(), *lines[-1:]] if row.hidden else lines


def _figures(row: TestRow) -> Iterator[str]:
    """The figures of a row: a measured line's detail is its reason and the figures."""
    if not row.hidden:
        yield from (line for line in row.detail.splitlines() if line not in row.output)


def _cut(console: Console, lines: Sequence[str], most: int) -> list[str]:
    """The first ones, and the last, which names the handout; `most` of the console's lines."""
    if _height(console, lines) <= most:
        return list(lines)
    kept: list[str] = []
    while lines and _height(console, [*kept, lines[len(kept)], "", lines[-1]]) <= most:
        kept.append(lines[len(kept)])
    return [*kept, "... (--verbose prints all)", lines[-1]]


def _height(console: Console, lines: Sequence[str]) -> int:
    return sum(max(1, -(-len(line) // console.width)) for line in lines)
