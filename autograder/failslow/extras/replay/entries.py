"""The entries of a log with two lanes, from the proposals and from what replicas observe."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from failslow.extras.replay.recording import World
from failslow.lab.labs import Lanes


@dataclass
class Entry:
    """`dependency`: an index of the other lane, 0 for none, None of a no-op or if it is undecided.

    `proposed`: when the first proposal was sent. `decided` and `ran`: when each replica knew the
    decision first, and when it ran the entry first.
    """

    lane: int
    index: int
    dependency: int | None = None
    proposed: int | None = None
    decided: dict[int, int] = field(default_factory=dict)
    ran: dict[int, int] = field(default_factory=dict)

    @property
    def start(self) -> int:
        known = min(self.decided.values(), default=None)
        return min(when for when in (self.proposed, known) if when is not None)


def entries_of(world: World, lanes: Lanes | None) -> list[Entry]:
    """If replicas decide differently, the first one counts: the history names the violation."""
    if lanes is None:
        return []
    found: dict[tuple[int, int], Entry] = {}
    for when, lane, index in _proposals(world, lanes):
        entry = found.setdefault((lane, index), Entry(lane, index, proposed=when))
    for seen in world.observed:
        if seen.kind == lanes.decided:
            lane, index, after, *_ = seen.values
            entry = found.setdefault((lane, index), Entry(lane, index))
            if not entry.decided:
                entry.dependency = after - 1 if after else None
            entry.decided.setdefault(seen.replica, seen.when)
        elif seen.kind == lanes.ran:
            lane, index, *_ = seen.values
            if (lane, index) in found:
                found[lane, index].ran.setdefault(seen.replica, seen.when)
    return sorted(found.values(), key=lambda entry: (entry.start, entry.lane))


def _proposals(world: World, lanes: Lanes) -> Iterator[tuple[int, int, int]]:
    """When, lane and index. A malformed request proposes nothing."""
    proposal = lanes.proposal
    needed = 1 + max(proposal.lane, proposal.index)
    for message in world.messages:
        if message.type != f"{proposal.method} request":
            continue
        fields = message.body.strip("[]").split(", ", needed)[:needed]
        if len(fields) == needed and all(each.isdecimal() for each in fields):
            yield message.sent, int(fields[proposal.lane]), int(fields[proposal.index])
