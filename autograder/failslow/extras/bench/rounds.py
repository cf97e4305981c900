"""A measurement that an election or a busy machine has disturbed is made again."""

from collections.abc import Callable
from typing import TypeVar

from failslow.base.errors import CannotDo
from failslow.extras.faults.verdict import OTHERS_CORES_MAX, REPEATS

Found = TypeVar("Found")


class Disturbed(CannotDo):
    """Every repetition was disturbed: there is no result, and others may still have one."""


def settled(measure: Callable[[], Found], others_cores: Callable[[Found], float]) -> Found:
    """The first result that nothing has disturbed. `others_cores`: the processors that other
    programs used meanwhile. Disturbed if there is none after REPEATS repetitions."""
    reason = ""
    for _ in range(1 + REPEATS):
        try:
            found = measure()
        except CannotDo as error:  # no leader, another leader, or a connection that broke
            reason = str(error)
            continue
        if (others := others_cores(found)) <= OTHERS_CORES_MAX:
            return found
        reason = f"other programs used {100 * others:.0f} % of a processor"
    raise Disturbed(f"{reason}, {1 + REPEATS} times")
