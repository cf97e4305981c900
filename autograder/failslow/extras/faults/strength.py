"""The text of amounts, both ways, as the catalogue and the simulator's fault plans have it."""

import re

from failslow.base.errors import CannotDo
from failslow.extras.faults.catalogue import FaultKind

_KIB = 1024
_UNITS = {
    "percent": {"%": 1},
    "bytes-per-second": {"MB/s": _KIB**2, "KB/s": _KIB, "B/s": 1},
    "nanoseconds": {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1},
    "per-mille": {"%": 10, "per mille": 1},
    "bytes": {"GB": _KIB**3, "MB": _KIB**2, "KB": _KIB, "B": 1},
    "none": {},
}
"""The words for each of the catalogue's units, and their factors, the preferred first."""

_AMOUNT = re.compile(r"(\d{1,18}) ?(\D+)")


def parse(kind: FaultKind, text: str) -> int:
    """The amount of "40 ms", "5%" or "128KB/s". CannotDo if the kind has no such amount."""
    units = _UNITS[kind.unit]
    if not units:
        raise CannotDo(f"--strength: {kind.name} has none")
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or match[2] not in units:
        examples = ", ".join(f"1 {unit}" for unit in units)
        raise CannotDo(f"--strength: '{text}' is no strength of {kind.name} (such as {examples})")
    amount = int(match[1]) * units[match[2]]
    if not kind.amount_min <= amount <= kind.amount_max:
        low, high = describe(kind, kind.amount_min), describe(kind, kind.amount_max)
        raise CannotDo(f"--strength: {kind.name} takes {low} to {high}, not {text}")
    return amount


def describe(kind: FaultKind, amount: int) -> str:
    """In the first unit that is exact; empty for a kind without amounts."""
    for unit, factor in _UNITS[kind.unit].items():
        if amount % factor == 0:
            space = "" if unit == "%" else " "
            return f"{amount // factor}{space}{unit}"
    return ""
