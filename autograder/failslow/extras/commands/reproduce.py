"""`kit reproduce`: repeats the documents' experiments and prints published figures beside ours.

Everything runs in virtual time, so the figures are the same on every machine.
"""

from rich import box
from rich.table import Table

from failslow.base import console
from failslow.base.kit import Kit
from failslow.extras.reproduction import results, tables


def run(kit: Kit, quick: bool, as_json: bool) -> int:
    """Always 0: the figures have no bars."""
    found = results.measure(kit, results.QUICK if quick else results.FULL)
    if as_json:
        print(results.as_text(found), end="")
        return 0
    for table in tables.all_tables(found):
        _print(table)
    return 0


def _print(table: tables.Table) -> None:
    drawn = Table(*table.heads, title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for row in table.rows:
        drawn.add_row(*row)
    console.stdout().print(drawn)
    console.stdout().print(table.note, style="dim")
