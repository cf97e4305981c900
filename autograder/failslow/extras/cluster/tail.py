"""The last lines of a file to which a replica appends."""

import os
from pathlib import Path

TAIL_BYTES = 256 * 1024


def last_lines(path: Path) -> list[bytes]:
    """Up to two whole lines: a line being written lacks its end. None of a missing file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read()
    except FileNotFoundError:
        return []
    whole = text[: text.rfind(b"\n") + 1].splitlines()
    # The first line of a tail may lack its beginning.
    return whole[-2:] if size <= TAIL_BYTES else whole[1:][-2:]
