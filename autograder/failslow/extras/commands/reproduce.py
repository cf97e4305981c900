"""`kit reproduce`: repeats the documents' experiments and prints published figures beside ours.

Everything runs in virtual time, so the figures are the same on every machine.
"""

from rich import box
from rich.table import Table

from failslow.base import console
from failslow.base.kit import Kit
from failslow.extras.bench import figures
from failslow.extras.reproduction import results, saucr_figures, sequences, table2, tables


def run(kit: Kit, saucr: bool, quick: bool, as_json: bool) -> int:
    """1 if a bar of `saucr` is missed. The other figures have none."""
    if saucr:
        return _saucr(kit, sequences.QUICK if quick else sequences.FULL, as_json)
    found = results.measure(kit, results.QUICK if quick else results.FULL)
    if as_json:
        print(results.as_text(found), end="")
        return 0
    for table in tables.all_tables(found):
        _print(table)
    return 0


def _saucr(kit: Kit, scale: sequences.Scale, as_json: bool) -> int:
    found = sequences.measure(kit, scale)
    if as_json:
        print(sequences.as_text(found), end="")
    else:
        _print(table2.table(found))
        console.stdout().print(figures.table(saucr_figures.section(found["figures"])))
    missed = [*table2.missed(found), *saucr_figures.missed(found["figures"])]
    for sentence in missed:
        console.note(f"missed: {sentence}")
    return 1 if missed else 0


def _print(table: tables.Table) -> None:
    drawn = Table(*table.heads, title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for row in table.rows:
        drawn.add_row(*row)
    console.stdout().print(drawn)
    console.stdout().print(table.note, style="dim")
