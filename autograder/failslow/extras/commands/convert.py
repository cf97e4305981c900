"""`kit convert`: a result, or the summary of a batch, in the format of another platform."""

import json
from dataclasses import dataclass
from pathlib import Path

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.batch import gradebook as books
from failslow.extras.batch import summary
from failslow.extras.commands import parsers
from failslow.extras.commands.parsers import Commands, add
from failslow.extras.release import convert
from failslow.grade import results
from failslow.lab.labs import load_labs

CSV = "csv"
FORMATS = ("prairielearn", "autolab", "junit", CSV)


@dataclass(frozen=True)
class Options:
    """`source`: a results.json; for CSV the directory of a batch. `to`: of FORMATS. The others are
    of CSV: the exported gradebook, its column, a file of late days, and the per cent of each."""

    source: Path
    to: str
    out: Path | None = None
    lab: str | None = None
    gradebook: Path | None = None
    column: str | None = None
    late: Path | None = None
    per_day: int = books.PER_DAY


def add_to(commands: Commands) -> None:
    text = "write a result in another platform's format, or a batch into a gradebook"
    parser = add(commands, "convert", text, run, Options)
    text = "results.json; with --to csv the directory of a batch"
    parser.add_argument("source", type=Path, metavar="FILE", help=text)
    parser.add_argument("--to", choices=FORMATS, required=True)
    parser.add_argument("--out", type=Path, metavar="FILE", help="(standard output)")
    parser.add_argument("--lab", help="of autolab: write a score for each part of this lab")
    text = "of csv: the gradebook as Canvas or Moodle exports it"
    parser.add_argument("--gradebook", type=Path, metavar="FILE", help=text)
    parser.add_argument("--column", metavar="NAME", help="of csv: the gradebook's column to fill")
    text = "of csv: a CSV file with the columns name and days"
    parser.add_argument("--late", type=Path, metavar="FILE", help=text)
    text = f"of csv: per cent of all points that a late day costs ({books.PER_DAY})"
    parser.add_argument(
        "--per-day", type=parsers.whole(0, 100), default=books.PER_DAY, metavar="N", help=text
    )


def run(kit: Kit, options: Options) -> int:
    """1 if a submission is in no row of the gradebook, otherwise 0. CannotDo for another file."""
    missing: list[str] = []
    if options.to == CSV:
        text, missing = _gradebook(options)
    else:
        text = _converted(kit, options)
    if options.out:
        atomic.write_text(options.out, text)
        console.note(f"Wrote {options.out}")
    else:
        print(text, end="")
    for name in missing:
        console.note(f"{name}: in no row of the gradebook")
    return 1 if missing else 0


def _converted(kit: Kit, options: Options) -> str:
    labs = load_labs(kit)
    try:
        content = results.validated(json.loads(options.source.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise CannotDo(f"{options.source} is no result: {error}") from error
    if options.to == "autolab":
        return convert.autolab(content, labs, [labs.get(options.lab)] if options.lab else [])
    write = convert.prairielearn if options.to == "prairielearn" else convert.junit
    return write(content, labs)


def _gradebook(options: Options) -> tuple[str, list[str]]:
    if not options.gradebook or not options.column:
        raise CannotDo("--to csv fills a gradebook: name it by --gradebook, and its --column")
    rows = summary.read(options.source)
    if not rows:
        raise CannotDo(f"{options.source} holds no {summary.CSV_NAME} of a batch")
    late = books.late_days(options.late) if options.late else {}
    counted = books.scores([*rows.values()], late, options.per_day)
    return books.filled(books.read(options.gradebook), options.column, counted)
