"""The summary of a batch: a CSV file for the instructor's sheet, and a page."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.extras.slowness import html_report

CSV_NAME = "summary.csv"
PAGE_NAME = "summary.html"


@dataclass(frozen=True)
class Row:
    """One submission. `score` and `max_score` are None if it was never graded. `key`: of its
    content, or "". `before`: the score of the batch before, if it was another one. `remark`: what
    the instructor should know, or ""."""

    name: str
    score: float | None = None
    max_score: float | None = None
    key: str = ""
    before: float | None = None
    remark: str = ""

    @property
    def is_graded(self) -> bool:
        return self.score is not None


REFUSED = "cannot be built: "
"""Begins the remark on a submission without tests: it has 0 points."""

FORMULA = ("=", "+", "-", "@")
"""A sheet takes a cell that begins so for a formula, and students name their files."""

COLUMNS = tuple(each.name for each in fields(Row))

HEADS = ("submission", "score", "of", "before", "remark")


def read(directory: Path) -> dict[str, Row]:
    """The rows of the batch before, by name; empty if there was none. CannotDo if the file is not
    a summary."""
    path = directory / CSV_NAME
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [_row(each) for each in csv.DictReader(file)]
            return {row.name: row for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, TypeError, ValueError) as error:
        raise CannotDo(f"{path} is no summary of a batch; move it away ({error!r})") from error


def _row(read: Mapping[str, str]) -> Row:
    def number(name: str) -> float | None:
        return float(read[name]) if read[name] else None

    return Row(
        _uncell(read["name"]),
        number("score"),
        number("max_score"),
        read["key"],
        number("before"),
        _uncell(read["remark"]),
    )


def write(directory: Path, rows: Sequence[Row]) -> None:
    """Both files, each whole or not at all."""
    atomic.write_text(directory / CSV_NAME, _csv(rows))
    atomic.write_text(directory / PAGE_NAME, _page(rows))


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in asdict(row).items()})
    return text.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return f"'{text}" if _needs_quote(text) else text


def _needs_quote(text: str) -> bool:
    """A name may begin with a quote itself: no two names may have the same cell."""
    return text.lstrip("'").startswith(FORMULA)


def _uncell(text: str) -> str:
    return text[1:] if text.startswith("'") and _needs_quote(text) else text


def _page(rows: Sequence[Row]) -> str:
    listed = html_report.table(HEADS, [_page_row(row) for row in rows])
    body = f"<p>{html.escape(counts(rows))}</p>{listed}"
    return html_report.PAGE.format(title="Grades", body=body)


def counts(rows: Sequence[Row]) -> str:
    """'4 submissions: 2 graded, 1 that cannot be built, 1 equal to another one, compiled and graded
    with it, 1 with another score than before, 1 with a remark'."""
    refused = [row for row in rows if row.remark.startswith(REFUSED)]
    graded = [row for row in rows if row.is_graded and row not in refused]
    changed = [row for row in graded if row.before is not None]
    remarks = [row for row in rows if row.remark]
    equal = len(graded) - len({row.key or row.name for row in graded})
    parts = [f"{len(graded)} graded"]
    parts += [f"{len(refused)} that cannot be built"] if refused else []
    parts += [f"{equal} equal to another one, compiled and graded with it"] if equal else []
    parts += [f"{len(changed)} with another score than before"] if changed else []
    parts += [f"{len(remarks)} with a remark"] if remarks else []
    return f"{len(rows)} submissions: {', '.join(parts)}"


def _page_row(row: Row) -> list[str]:
    name = html.escape(row.name)
    shown = f'<a href="results/{html.escape(row.key)}.json">{name}</a>' if row.key else name
    numbers = [_cell(value) for value in (row.score, row.max_score, row.before)]
    return [shown, *numbers, html.escape(row.remark)]
