"""The part of its long work that a check without --full does: another part after each change."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from failslow.base.kit import Kit
from failslow.lab.labs import Lab, load_labs
from failslow.lab.mutants import Patched

CPP = frozenset({".cc", ".cpp", ".h", ".hpp"})
PARTS = 64
"""One patch in PARTS is graded."""

Patch = TypeVar("Patch", bound=Patched)
Item = TypeVar("Item")


def drawn(kit: Kit, patches: Sequence[Patch]) -> list[Patch]:
    """A part of them, in their order. A change of a patch, or of a file that it is graded with,
    draws it anew: the same tree has the same part."""
    labs = load_labs(kit)
    digests = {lab: _of_lab(kit, labs.get(lab)) for lab in {each.lab for each in patches}}
    return part([(each, digests[each.lab] + each.path.read_bytes()) for each in patches])


def part(contents: Sequence[tuple[Item, bytes]]) -> list[Item]:
    """One item of PARTS, drawn by its content, and one at least if there is any: a step that checks
    nothing has failed."""
    numbers = [(_number(content), item) for item, content in contents]
    chosen = [item for number, item in numbers if number % PARTS == 0]
    return chosen or [item for _, item in sorted(numbers, key=lambda each: each[0])[:1]]


def drawn_lab(kit: Kit, ids: Sequence[str]) -> str:
    """One of these labs. A change of any lab, or of the framework, draws it anew."""
    return drawn_labs(kit, ids, 1)[0]


def drawn_labs(kit: Kit, ids: Sequence[str], count: int) -> list[str]:
    """drawn_lab's, and those that follow it; after the last comes the first."""
    first = int.from_bytes(_of_all(kit), "big")
    return [ids[(first + index) % len(ids)] for index in range(count)]


def drawn_seeds(kit: Kit, count: int) -> tuple[int, ...]:
    """Of 63 bits. A change of any lab, or of the framework, draws others: a check that fails can be
    repeated."""
    digest = _of_all(kit)
    return tuple(_number(digest + bytes([index])) >> 193 for index in range(count))


def is_drawn(content: bytes) -> bool:
    return _number(content) % PARTS == 0


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


def _of_all(kit: Kit) -> bytes:
    return digest_of(kit, kit.reference, kit.labs, kit.hidden, kit.root / "framework")


def _of_lab(kit: Kit, lab: Lab) -> bytes:
    """A digest of the lab's solution, tests and checkers."""
    places = (kit.reference / lab.directory, kit.labs / lab.directory, kit.hidden / lab.directory)
    return digest_of(kit, *places)


def digest_of(kit: Kit, *places: Path) -> bytes:
    """A digest of all C++ sources below these directories."""
    digest = hashlib.sha256()
    found = (path for each in places for path in each.rglob("*.*"))
    for path in sorted(path for path in found if path.suffix in CPP):
        digest.update(f"{path.relative_to(kit.root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.digest()
