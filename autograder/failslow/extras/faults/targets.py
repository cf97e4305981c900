"""The cluster whose replicas get faults, and the replica that a word means."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes, status
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.replica_processes import Process
from failslow.extras.cluster.state import State
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.shared import waiting
from failslow.lab.labs import Lab

FOLLOWER = "follower"

# A replica that has just started reads its files before it has a role, and reports once a second.
ROLE_S = 5.0


@dataclass(frozen=True)
class Place:
    """`start`: starts a replica that has ended; None: as `kit cluster start` does. `family`: the
    processes of a replica, its first one before the others; None: it is one process of the kit."""

    layout: Layout
    current: State
    catalogue: Catalogue
    start: Callable[[int], None] | None = None
    family: Callable[[int], list[Process]] | None = None

    @property
    def replicas(self) -> range:
        return range(len(self.current.replicas))

    def others(self, number: int) -> list[int]:
        return [each for each in self.replicas if each != number]

    def process(self, number: int) -> Process:
        """CannotDo when the replica does not run."""
        return self.processes(number)[0]

    def processes(self, number: int) -> list[Process]:
        """All of the replica, its first one before the others. CannotDo when it does not run."""
        found = [each for each in self.running() if each.number == number]
        if not found:
            raise CannotDo(f"replica {number} does not run")
        return found

    def running(self) -> list[Process]:
        """The processes of all replicas."""
        if self.family is None:
            return replica_processes.find(self.layout.data)
        return [process for number in self.replicas for process in self.family(number)]


def target(place: Place, lab: Lab, word: str) -> tuple[int, str]:
    """The number and the role of the replica: a number, or the first that has a role now.

    `word`: "leader" is one of the first group, "g1:leader" one of the second.
    """
    if word.isascii() and word.isdigit():
        if int(word) not in place.replicas:
            raise CannotDo(f"--target: there is no replica {word} (0 to {len(place.replicas) - 1})")
        return int(word), roles(place, lab).get(int(word), "dead")
    in_group = re.fullmatch(r"g(\d+):(.*)", word)
    group, wanted = (int(in_group[1]), in_group[2]) if in_group else (0, word)
    known = (FOLLOWER, *(lab.cluster.proposers if lab.cluster else ()))
    if wanted not in known:
        words = f"{', '.join(known[:-1])} or {known[-1]}"
        raise CannotDo(f"--target: '{wanted}' is neither a replica's number nor {words}")
    if group >= len(place.current.members):
        raise CannotDo(f"--target: there is no group {group}")
    members = place.current.members[group]
    roles_now: dict[int, str] = {}

    def is_known() -> bool:
        nonlocal roles_now
        roles_now = {
            number: role for number, role in roles(place, lab).items() if number in members
        }
        return wanted in roles_now.values() or all(roles_now.values())

    waiting.until(is_known, ROLE_S)
    for number, role in roles_now.items():
        if role == wanted:
            return number, role
    there = ", ".join(f"{number}: {role or 'no role'}" for number, role in roles_now.items())
    raise CannotDo(f"--target: no replica is a {wanted} now ({there or 'none runs'})")


def receivers(place: Place, number: int, text: str | None) -> tuple[int, ...]:
    """The replicas at the other ends of links: "0,2", or all others."""
    if text is None:
        return tuple(place.others(number))
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() for word in words):
        raise CannotDo(f"--to: '{text}' is no list of replicas (such as 0,2)")
    chosen = tuple(int(word) for word in words)
    for each in chosen:
        if each not in place.others(number):
            raise CannotDo(f"--to: replica {each} is not at the other end of a link")
    return chosen


def roles(place: Place, lab: Lab) -> dict[int, str]:
    """The roles of the running replicas; empty for one that reports none."""
    return {
        each.id: str(each.shows.get("role") or "")
        for each in status.of_all(place.layout, place.current, lab)
        if each.state in (status.RUNS, status.STUCK)
    }
