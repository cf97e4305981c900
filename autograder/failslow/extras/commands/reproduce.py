"""`kit reproduce`: repeats the documents' experiments and prints published figures beside ours.

Everything runs in virtual time, so the figures are the same on every machine.
"""

from rich import box
from rich.table import Table

from failslow.base import console, records
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras import lab_kits
from failslow.extras.bench import figures
from failslow.extras.reproduction import results, tables
from failslow.extras.reproduction.reproduction import Reproduction


def run(kit: Kit, name: str | None, quick: bool, as_json: bool) -> int:
    """`name`: of a lab's; it has bars, and 1 means that one is missed. None: that of labs 2 to 5,
    which has none."""
    if name is not None:
        known = lab_kits.reproductions(kit)
        if name not in known:
            raise CannotDo(f"there is no reproduction '{name}', but {', '.join(known)}")
        return _of_a_lab(kit, known[name], quick, as_json)
    found = results.measure(kit, results.QUICK if quick else results.FULL)
    if as_json:
        print(results.as_text(found), end="")
        return 0
    for make in tables.TABLES.values():
        _print(make(found))
    return 0


def _of_a_lab(kit: Kit, reproduction: Reproduction, quick: bool, as_json: bool) -> int:
    found = reproduction.measure(kit, quick)
    if as_json:
        print(records.text(found), end="")
    else:
        for make in reproduction.tables.values():
            _print(make(found))
        console.stdout().print(figures.table(reproduction.section(found)))
    missed = reproduction.missed(found)
    for sentence in missed:
        console.note(f"missed: {sentence}")
    return 1 if missed else 0


def _print(table: tables.Table) -> None:
    drawn = Table(*table.heads, title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for row in table.rows:
        drawn.add_row(*row)
    console.stdout().print(drawn)
    console.stdout().print(table.note, style="dim")
