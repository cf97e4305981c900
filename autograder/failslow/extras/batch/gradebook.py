"""Scores of a batch in the CSV file that a gradebook exports and imports: Canvas's or Moodle's.

Both platforms import the form that they export. So the instructor exports the gradebook, and the
kit fills one column of it: no file has to name students in a platform's own way.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from failslow.base import printable
from failslow.base.errors import CannotDo
from failslow.extras.batch.summary import Row

PER_DAY = 10
"""Per cent of all points that a late day costs, unless the instructor says otherwise."""

LATE = ("name", "days")
"""The columns of a file of late days."""


def read(path: Path) -> list[list[str]]:
    """CannotDo if it is no CSV file with a head and equally long rows."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CannotDo(f"cannot read {path}: {error}") from error
    rows = [row for row in rows if row]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise CannotDo(f"{path} is no table: each row has as many cells as the head")
    return rows


def late_days(path: Path) -> dict[str, int]:
    """The late days of each submission that has any, by its name. CannotDo for another file."""
    head, *rows = read(path)
    if tuple(head) != LATE or any(not row[1].isdecimal() for row in rows):
        raise CannotDo(f"{path}: the columns are {' and '.join(LATE)}, and days are whole numbers")
    return {name: int(days) for name, days in rows}


def scores(graded: Sequence[Row], late: Mapping[str, int], per_day: int) -> dict[str, float]:
    """The score that counts of each submission with a score, by its name. CannotDo for late days of
    a submission that is not there."""
    unknown = late.keys() - {row.name for row in graded}
    if unknown:
        raise CannotDo(f"late days of {', '.join(sorted(unknown))}: not in the batch")
    return {
        row.name: _after(row.score, row.max_score or 0.0, late.get(row.name, 0) * per_day)
        for row in graded
        if row.score is not None
    }


def _after(score: float, of: float, per_cent: int) -> float:
    return max(0.0, round(score - of * per_cent / 100, 2))


def filled(
    book: Sequence[Sequence[str]], column: str, counted: Mapping[str, float]
) -> tuple[str, list[str]]:
    """The file with the scores in the column, which is added if the book lacks it; and the names of
    submissions that are in no row. A row is a submission's if a cell of it is the name, in any
    case. CannotDo if a name is in two rows."""
    head, *rows = (list(row) for row in book)
    if column not in head:
        head, rows = [*head, column], [[*row, ""] for row in rows]
    at = head.index(column)
    missing = []
    for name, score in counted.items():
        wanted = printable.line(name).casefold()
        found = [row for row in rows if wanted in {cell.strip().casefold() for cell in row}]
        if len(found) > 1:
            raise CannotDo(f"the gradebook has two rows with a cell '{name}'")
        for row in found:
            row[at] = f"{score:.12g}"
        if not found:
            missing.append(name)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue(), missing
