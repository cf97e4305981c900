"""The labs: the validated contents of `labs/*/lab.yaml`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base import yaml_file
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.lab.shown import Shown

ONE_FOLLOWER = "one-follower"
"""A victim that is no role: one follower alone, however many the largest minority has."""

VISIBLE = "visible"
FULL, TITLES = "full", "titles"
SLOW_REPLICA = "slow-replica"
DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Visibility:
    """When a platform shows a student the results: one of Gradescope's words for each kind.
    `feedback`: FULL, or TITLES: of a failed hidden test its sentence alone."""

    public: str = VISIBLE
    hidden: str = VISIBLE
    measured: str = VISIBLE
    feedback: str = FULL

    @property
    def shows_all(self) -> bool:
        return {self.public, self.hidden, self.measured} == {VISIBLE}


@dataclass(frozen=True)
class Part:
    """A group of tests whose points add up to `points`.

    `needs`: tests of this or another part. If one of them fails, the rest show nothing new
    (prerequisites.py).
    """

    id: str
    title: str
    points: int
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """The request that proposes an entry, and the places of lane and index among its fields."""

    method: str
    lane: int
    index: int


@dataclass(frozen=True)
class Lanes:
    """For a log that consists of two lanes: their names, and the numbers of two observations.

    `decided` has an entry's lane, its index and 1 + its dependency in the other lane, or 0 for a
    no-op. `ran` has lane and index.
    """

    names: tuple[str, str]
    proposal: Proposal
    decided: int
    ran: int


@dataclass(frozen=True)
class ClusterView:
    """The observations that a running replica shows. A cluster serves once one shows `ready`.

    `load`: the load generator's word for its protocol. `redis`: each replica has a port for Redis
    clients, too. `proposers`: the roles whose replicas propose commands. `in_memory`: the
    environment in which replicas keep their logs in memory, as names and values; empty if logs are
    always on disk. `recovers`: the column and the word of a replica that awaits the answers of a
    minority of others. `folds`: names of coroutines that share a row in a replay.
    """

    shows: tuple[Shown, ...]
    ready_name: str
    ready_is: str | int
    load: str
    redis: bool = False
    proposers: tuple[str, ...] = ("leader",)
    lanes: Lanes | None = None
    in_memory: tuple[tuple[str, str], ...] = ()
    recovers: tuple[str, str] | None = None
    folds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measured:
    """A measurement of a lab: its kind, its points, its file of settings, and the slow replicas.

    `roles`: of the proposers in order, last that of all other replicas. `victims` are some of them,
    and ONE_FOLLOWER may be.
    """

    kind: str
    part: str
    settings: str
    roles: tuple[str, ...]
    victims: tuple[str, ...]


@dataclass(frozen=True)
class Diagnosed:
    """The diagnosis of a lab: the part of its points, the file of answers, and the words in it.

    `variants`: the names that `variant` may have, the reference's included. `causes` likewise.
    """

    part: str
    file: str
    variants: tuple[str, ...]
    causes: tuple[str, ...]


@dataclass(frozen=True)
class Lab:
    """One lab. `needs` are ids of labs whose files are compiled in; `base` names their source.

    `replaces`: ids of labs that a needed lab needs. This lab has its own versions of their files.
    `only_in_clusters`: of `needs`, those that no test and no measured run uses.
    `cluster`: None for a lab whose replicas do not run as processes.
    `exploration`: what `kit explore` explores, if there is a program for it.
    `alone`: suites and tests that need no other test, whatever their parts need.
    """

    id: str
    title: str
    directory: str
    handout: str
    files: tuple[str, ...]
    needs: tuple[str, ...]
    base: str
    suites: tuple[str, ...]
    measurements: tuple[Measured, ...]
    parts: tuple[Part, ...]
    cluster: ClusterView | None = None
    replaces: tuple[str, ...] = ()
    diagnosis: Diagnosed | None = None
    exploration: str = "schedules"
    alone: tuple[str, ...] = ()
    only_in_clusters: tuple[str, ...] = ()
    visibility: Visibility = Visibility()

    @property
    def measurement(self) -> Measured | None:
        """That of slow replicas, if the lab has it."""
        return next((each for each in self.measurements if each.kind == SLOW_REPLICA), None)

    def part(self, part_id: str) -> Part:
        """CannotDo when a test names a part that lab.yaml does not have."""
        for part in self.parts:
            if part.id == part_id:
                return part
        raise CannotDo(f"{self.id}: a test names the part '{part_id}', which lab.yaml lacks")


@dataclass(frozen=True)
class Labs:
    """All labs of a checkout by id, in id order."""

    by_id: dict[str, Lab]

    def get(self, lab_id: str) -> Lab:
        """CannotDo for an unknown id."""
        if lab_id not in self.by_id:
            known = ", ".join(self.by_id) or "none"
            raise CannotDo(f"unknown lab '{lab_id}' (labs: {known})")
        return self.by_id[lab_id]

    def closure(self, lab: Lab) -> list[Lab]:
        """The lab after everything it needs, each once, without the labs that it replaces."""
        order: list[Lab] = []
        for needed in lab.needs:
            order += [each for each in self.closure(self.get(needed)) if each not in order]
        return [*(each for each in order if each.id not in lab.replaces), lab]

    def copied(self, lab: Lab) -> dict[str, Lab]:
        """By the names of the lab's files that begin as a copy of a replaced lab's: that lab."""
        replaced = map(self.get, lab.replaces)
        return {name: each for each in replaced for name in each.files if name in lab.files}


def id_order(lab_id: str) -> list[tuple[int, str]]:
    """Sorts ids of labs with their numbers as numbers: lab10 comes after lab2."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in DIGITS.split(lab_id)]


def id_in(directory: str) -> str:
    """The id of the lab with this directory: the name's first word."""
    return directory.partition("-")[0]


def load_labs(kit: Kit) -> Labs:
    """Reads every lab.yaml; CannotDo names the first file at fault."""
    paths = sorted(kit.labs.glob("*/lab.yaml"))
    if not paths:
        raise CannotDo(f"no lab.yaml under {kit.labs}")
    labs = sorted(
        (_load_lab(path, kit.valid_labs) for path in paths), key=lambda lab: id_order(lab.id)
    )
    by_id = {lab.id: lab for lab in labs}
    if len(by_id) < len(labs):
        raise CannotDo(f"two labs under {kit.labs} have the same id")
    for lab in labs:
        _check_needs(lab, by_id)
    return Labs(by_id)


def _load_lab(path: Path, valid: Path) -> Lab:
    content = yaml_file.load(path, "lab", valid)
    if content["directory"] != path.parent.name:
        raise CannotDo(f"{path}: directory: '{content['directory']}' is not where the file is")
    if content["id"] != id_in(path.parent.name):
        raise CannotDo(f"{path}: id: '{content['id']}' does not begin the directory's name")
    parts = tuple(Part(**_frozen(part)) for part in content.pop("parts"))
    if len({part.id for part in parts}) < len(parts):
        raise CannotDo(f"{path}: parts: two parts have the same id")
    cluster = _cluster_view(path, content.pop("cluster", None))
    measured = _measurements(path, content.pop("measurements"), parts)
    diagnosed = _diagnosed(path, content.pop("diagnosis", None), parts)
    visibility = Visibility(**content.pop("visibility", {}))
    return Lab(
        parts=parts,
        cluster=cluster,
        measurements=measured,
        diagnosis=diagnosed,
        visibility=visibility,
        **_frozen(content),
    )


def _diagnosed(
    path: Path, content: dict[str, Any] | None, parts: tuple[Part, ...]
) -> Diagnosed | None:
    if content is None:
        return None
    diagnosed = Diagnosed(**_frozen(content))
    if diagnosed.part not in [part.id for part in parts]:
        raise CannotDo(f"{path}: diagnosis/part: there is no part '{diagnosed.part}'")
    return diagnosed


def _measurements(
    path: Path, content: list[dict[str, Any]], parts: tuple[Part, ...]
) -> tuple[Measured, ...]:
    found = tuple(_measured(path, each, parts) for each in content)
    if len({each.kind for each in found}) < len(found):
        raise CannotDo(f"{path}: measurements: two have the same kind")
    return found


def _measured(path: Path, content: dict[str, Any], parts: tuple[Part, ...]) -> Measured:
    measured = Measured(**_frozen(content))
    if measured.part not in [part.id for part in parts]:
        raise CannotDo(f"{path}: measurements/part: there is no part '{measured.part}'")
    for victim in measured.victims:
        if victim not in (*measured.roles, ONE_FOLLOWER):
            raise CannotDo(f"{path}: measurements/victims: '{victim}' is none of the roles")
    return measured


def _cluster_view(path: Path, content: dict[str, Any] | None) -> ClusterView | None:
    if content is None:
        return None
    shows = tuple(Shown(**_frozen(shown)) for shown in content["shows"])
    ready = content["ready"]
    recovers = content.get("recovers")
    named = {"ready": ready["name"]}
    if recovers:
        named["recovers"] = recovers["name"]
    for key, name in named.items():
        if name not in [shown.name for shown in shows]:
            raise CannotDo(f"{path}: cluster/{key}: nothing shown has the name '{name}'")
    has_redis = content.get("redis", False)
    proposers = tuple(content.get("proposers", ("leader",)))
    roles = {word for shown in shows for word in shown.words}
    for role in content.get("proposers", ()):
        if role not in roles:
            raise CannotDo(f"{path}: cluster/proposers: no column has the word '{role}'")
    lanes = _lanes(content["lanes"]) if "lanes" in content else None
    return ClusterView(
        shows,
        ready["name"],
        ready["is"],
        content["load"],
        has_redis,
        proposers,
        lanes,
        tuple(content.get("in_memory", {}).items()),
        (recovers["name"], recovers["is"]) if recovers else None,
        tuple(content.get("folds", ())),
    )


def _lanes(content: dict[str, Any]) -> Lanes:
    return Lanes(**(_frozen(content) | {"proposal": Proposal(**content["proposal"])}))


def _frozen(content: dict[str, Any]) -> dict[str, Any]:
    """The content with tuples for lists."""
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in content.items()
    }


def _check_needs(lab: Lab, by_id: dict[str, Lab]) -> None:
    for needed in lab.needs:
        if needed not in by_id:
            raise CannotDo(f"{lab.directory}/lab.yaml: needs: unknown lab '{needed}'")
        if id_order(needed) >= id_order(lab.id):
            # Earlier labs only: this also rules out cycles.
            raise CannotDo(f"{lab.directory}/lab.yaml: needs: '{needed}' is not an earlier lab")
    for needed in lab.only_in_clusters:
        if needed not in lab.needs:
            problem = f"'{needed}' is not among the needed labs"
            raise CannotDo(f"{lab.directory}/lab.yaml: only_in_clusters: {problem}")
    needed_by_them = {each for needed in lab.needs for each in by_id[needed].needs}
    for replaced in lab.replaces:
        if replaced not in needed_by_them - {*lab.needs}:
            problem = f"'{replaced}' is no lab that a needed lab needs"
            raise CannotDo(f"{lab.directory}/lab.yaml: replaces: {problem}")
