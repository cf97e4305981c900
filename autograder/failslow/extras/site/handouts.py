"""The handbook's pages of labs: one for each file in `handouts/`.

A page in `site/docs/labs/` of the same name may include the handout, and add to it. Without one the
page is the handout.
"""

from collections.abc import Collection
from pathlib import Path

from failslow.base.kit import Kit
from failslow.lab.labs import id_in, id_order


def pages(kit: Kit, left_out: Collection[str] = ()) -> dict[str, str]:
    """Pages that are the handouts, by their places below `docs/`. `left_out`: ids of labs."""
    return {_place(path): f'--8<-- "handouts/{path.name}"\n' for path in _handouts(kit, left_out)}


def navigation(kit: Kit, left_out: Collection[str] = ()) -> list[dict[str, str]]:
    """Titles and places, by lab. A lab's own handout comes before the others."""
    return [{_title(path): _place(path)} for path in _handouts(kit, left_out)]


def _handouts(kit: Kit, left_out: Collection[str]) -> list[Path]:
    given = [path for path in kit.handouts.glob("*.md") if id_in(path.stem) not in left_out]
    return sorted(given, key=lambda path: (id_order(id_in(path.stem)), path.stem))


def _place(path: Path) -> str:
    return f"labs/{path.name}"


def _title(path: Path) -> str:
    """The handout's first line, which is its heading."""
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
