"""The catalogue of faults (framework/faults/catalogue.h), as the kit's own program prints it."""

import json
from dataclasses import dataclass, replace

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake

PROGRAM = "fault_catalogue"


@dataclass(frozen=True)
class FaultKind:
    """`number`: its place in the catalogue. `unit`: of amounts. `slows`: a replica. `to_receivers`:
    it is on the links to named replicas."""

    number: int
    name: str
    unit: str
    amount_min: int
    amount_max: int
    effect: str
    slows: bool
    to_receivers: bool


_LOSS = (
    "The replica dies, loses what it has not synced, and stays down. Real processes only: the"
    " simulator's crash does this. Source: ours."
)
POWER_CUT = FaultKind(-1, "power-cut", "none", 0, 0, _LOSS, slows=False, to_receivers=False)
"""It has no place in the catalogue, which the simulator reads, too."""


@dataclass(frozen=True)
class Preset:
    """A preset of the catalogue. `text` says its amount: 'net-slow 40 ms'."""

    name: str
    kind: str
    text: str
    amount: int


@dataclass(frozen=True)
class Catalogue:
    kinds: dict[str, FaultKind]
    presets: dict[str, Preset]

    @property
    def of_processes(self) -> "Catalogue":
        """With the faults that only real processes have."""
        return replace(self, kinds={**self.kinds, POWER_CUT.name: POWER_CUT})


def built(kit: Kit) -> Catalogue:
    """Loads the catalogue of a program that is built first."""
    cmake.build(kit, targets=[PROGRAM])
    return load(kit)


def load(kit: Kit) -> Catalogue:
    """CannotDo when the program is missing or prints something else. Requires: it is built."""
    path = kit.binary(PROGRAM)
    try:
        content = json.loads(process.run([path]).output)
        kinds = [FaultKind(number, **row) for number, row in enumerate(content["kinds"])]
        presets = [
            Preset(row["name"], row["kind"], row["text"], row["amount"])
            for row in content["presets"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"{path} does not print the catalogue of faults ({error!r})") from error
    return Catalogue({each.name: each for each in kinds}, {each.name: each for each in presets})


def slow_faults(kit: Kit) -> list[Preset]:
    """All strengths of the kinds that slow a replica, in the catalogue's order. As `load`."""
    catalogue = load(kit)
    return [each for each in catalogue.presets.values() if catalogue.kinds[each.kind].slows]
