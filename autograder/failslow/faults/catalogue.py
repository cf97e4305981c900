"""The faults that make a replica slow, from the catalogue of faults."""

import json
from dataclasses import dataclass

from failslow import process
from failslow.errors import CannotDo
from failslow.kit import Kit

PROGRAM = "fault_catalogue"


@dataclass(frozen=True)
class SlowFault:
    """A preset of framework/faults/catalogue.h. `text` says its amount: 'net-slow 40 ms'."""

    name: str
    kind: str
    text: str


def slow_faults(kit: Kit) -> list[SlowFault]:
    """All strengths of the kinds that slow a replica, in the catalogue's order.

    CannotDo when the program is missing or prints something else. Requires: it is built.
    """
    path = kit.binary(PROGRAM)
    try:
        content = json.loads(process.run([path]).output)
        slowing = {kind["name"] for kind in content["kinds"] if kind["slows"]}
        return [
            SlowFault(preset["name"], preset["kind"], preset["text"])
            for preset in content["presets"]
            if preset["kind"] in slowing
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"{path} does not print the catalogue of faults ({error!r})") from error
