"""A running cluster on which experiments are made, and the program that loads it."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import metrics
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import targets, verdict
from failslow.extras.faults.catalogue import FaultKind
from failslow.extras.faults.targets import Place
from failslow.lab.labs import ClusterView, Lab
from failslow.measurement.settings import MEDIAN, Loss, load_settings

HeldBytes = Callable[[], int]


@dataclass(frozen=True, kw_only=True)
class Bench(ABC):
    """`before_s`: of a load, before the fault. `value_bytes`: of each put. `mix` and `at`: of
    sweep.MIXES and sweep.PLACES; replicas of the kit take the usual ones alone."""

    kit: Kit
    place: Place
    before_s: float = 1.0
    value_bytes: int = 256
    mix: str = "write"
    at: str = "leader"

    @property
    def layout(self) -> Layout:
        return self.place.layout

    @property
    @abstractmethod
    def program(self) -> str:
        """The name of the program in the layout."""

    @property
    @abstractmethod
    def load(self) -> str:
        """The name of this store in put_load."""

    @property
    def digest(self) -> str:
        """A digest of the program."""
        program = self.layout.program(self.program).read_bytes()
        return hashlib.sha256(program).hexdigest()[:16]

    @property
    def warm_up_s(self) -> float:
        """The time of a load before its figures count."""
        return 0.5

    @abstractmethod
    def can_have(self, kind: FaultKind) -> bool:
        """Whether its replicas can get such a fault."""

    @abstractmethod
    def proposers(self) -> list[int]:
        """The replicas that propose now. CannotDo when there is none."""

    @abstractmethod
    def target(self, word: str) -> int:
        """The replica that a word means: a number or a role. CannotDo for any other word."""

    @abstractmethod
    def applied(self, number: int) -> int | None:
        """The index of the last entry that the replica has applied, if that is known."""

    @abstractmethod
    def watch_held(self, holder: int, number: int) -> HeldBytes:
        """From now on. The result says the most bytes that `holder` has held for the replica."""

    def watch_leaders(self) -> Callable[[], int]:
        """From now on. The result says how many other replicas have become the leader, as far as
        the load cannot tell: put_load can."""
        return lambda: 0

    def watch_bite(self, kind: FaultKind, number: int) -> Callable[[], str]:
        """From now on. The result says why the fault had no effect on the replica; empty if it had
        one. Replicas of the kit obey their file of faults: `kit faults check` proves it."""
        return lambda: ""

    def limits(self, word: str) -> Loss:
        """The cost that a replica, named by a word, may have while it is slow."""
        return verdict.TOLERANT

    def disturbed(self, word: str) -> float:
        """A gain of mean latency that the slowness of that replica does not explain."""
        return verdict.DISTURBED

    def proposer(self, but: int) -> int:
        """A replica that proposes; not `but`, if there is another."""
        found = self.proposers()
        return next((each for each in found if each != but), found[0])

    def put_load(self, *words: object) -> list[str]:
        endpoints = ",".join(self.place.current.endpoints)
        argv = [self.kit.binary("put_load"), "--target", self.load]
        argv += ["--value-bytes", self.value_bytes, "--replicas", endpoints]
        return [str(word) for word in (*argv, *words)]


@dataclass(frozen=True, kw_only=True)
class LabBench(Bench):
    """Replicas of a lab's solution."""

    lab: Lab

    @property
    def view(self) -> ClusterView:
        assert self.lab.cluster is not None, "it was started"
        return self.lab.cluster

    @property
    def program(self) -> str:
        return self.lab.id

    @property
    def load(self) -> str:
        return self.view.load

    def can_have(self, kind: FaultKind) -> bool:
        return True

    def proposers(self) -> list[int]:
        roles = targets.roles(self.place, self.lab)
        found = [each for each, role in roles.items() if role in self.view.proposers]
        if not found:
            raise CannotDo(f"no replica is a {self.view.ready_is} now")
        return found

    def target(self, word: str) -> int:
        number, _ = targets.target(self.place, self.lab, word)
        return number

    def limits(self, word: str) -> Loss:
        """The limits of the lab's measurement, if it slows such a role, and compares runs with and
        without the fault."""
        _, role = targets.target(self.place, self.lab, word)
        if self.lab.measurement is None or role not in self.lab.measurement.victims:
            return verdict.TOLERANT
        settings = load_settings(self.kit, self.lab)
        return verdict.TOLERANT if settings.worlds else settings.loss(role, MEDIAN)

    def disturbed(self, word: str) -> float:
        """Doubled for one of two proposers: they take turns, and one alone is quicker."""
        _, role = targets.target(self.place, self.lab, word)
        takes_turns = len(self.view.proposers) > 1 and role in self.view.proposers
        return (2 if takes_turns else 1) * verdict.DISTURBED

    def applied(self, number: int) -> int | None:
        known = metrics.read(self.layout.metrics(number))
        shown = next(each for each in self.view.shows if each.name == "applied")
        return None if known is None else known.observed(shown.kind, shown.value)

    def watch_held(self, holder: int, number: int) -> HeldBytes:
        path = self.layout.metrics(holder)
        size = path.stat().st_size

        def most() -> int:
            """By the lines of metrics that were written since."""
            with path.open("rb") as file:
                file.seek(size)
                lines = file.read().split(b"\n")[:-1]
            return max((json.loads(line)["held_bytes"][number] for line in lines), default=0)

        return most
