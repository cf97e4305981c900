"""A system's file: programs, ports, questions and loads of a replicated system, checked.

Words with {names} stay as they are here: see placeholders.py.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from failslow.base import yaml_file
from failslow.base.errors import CannotDo
from failslow.extras.systems import placeholders

WAYS = ("http", "redis", "line", "command")
"""The ways to ask a replica something, and to work on it."""
OWN, SEEN = "own", "seen"
"""A port where a replica listens, and the port by which all others reach it."""
QUESTIONS = ("ready", "role", "progress")
WITH_NAMES = ("program", "files", "environment", "start", "once")
"""The parts of a file whose texts have names of replicas, beside its questions."""
WITHOUT_NAMES = ("match", "words", "answer", "lines")
"""The parts of a question or of work in which a brace is a brace: patterns have braces, too."""
OF_KEYS = ("key", "value", "key.base64", "value.base64")
OF_LOADS = ("endpoints", "endpoint", "rate", "clients", "seconds", "value_bytes", "here")
READY_S = 30.0
REPLICAS = 3
LEADER, ALL, ONE = "leader", "all", "one"
ANY = "any"
"""The role of each replica as a target, and the only one of a system that has no roles."""


@dataclass(frozen=True)
class Question:
    """`way`: one of WAYS, with its text or words. `at`: HOST:PORT, of redis and line. `match`: the
    pattern whose group is the value; empty: the whole answer is. `words`: the meanings of the
    values; empty: they mean themselves."""

    way: str
    text: tuple[str, ...]
    at: str
    match: str
    words: Mapping[str, str]
    within_s: float


@dataclass(frozen=True)
class System:
    """`start`: the words of each replica's program; the last ones are those of all further
    replicas, too. `once`: of a command after all are ready. `files`: texts by their names below a
    replica's directory. `program`: the one that is tested, by its name or path, and `packages`:
    those of the distribution that hold it. `path`: of the file. `text`: all that the figures
    depend on. `works`: of a load, "write" and perhaps "read", as in the file; clients use the first
    of `ports`."""

    name: str
    path: Path
    replicas: int
    ports: tuple[str, ...]
    start: tuple[tuple[str, ...], ...]
    ready: Question
    works: Mapping[str, Mapping[str, Any]]
    program: str
    text: str
    once: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    role: Question | None = None
    progress: Question | None = None

    def start_of(self, number: int) -> tuple[str, ...]:
        return self.start[min(number, len(self.start) - 1)]

    @property
    def roles(self) -> list[str]:
        """Those that a fault can have as its target; none of a system that has none."""
        return sorted(set(self.role.words.values())) if self.role else []

    @property
    def takes_a_rate(self) -> bool:
        """Whether its load can be an open loop: a command must know the rate."""
        commands = [work["command"] for work in self.works.values() if "command" in work]
        return all(any("{rate}" in str(word) for word in words) for words in commands)

    @property
    def clients_at(self) -> str:
        """LEADER or ALL: where clients are as a rule."""
        return LEADER if self.role else ALL


def load(path: Path) -> list[System]:
    """The system, and each of its versions after it. CannotDo, in one line, for a file that is not
    as it must be."""
    content = yaml_file.load(path, "system")
    versions: dict[str, dict[str, Any]] = content.pop("versions", {})
    found = [_system(path, content)]
    for name, changes in versions.items():
        found.append(_system(path, {**content, **changes, "name": f"{content['name']} {name}"}))
    return found


def _system(path: Path, content: Mapping[str, Any]) -> System:
    try:
        made = _made(path, content)
        _check_names(made, content)
    except CannotDo as error:
        raise CannotDo(f"{path}: {error}") from error
    return made


def _made(path: Path, content: Mapping[str, Any]) -> System:
    questions = {name: _question(name, content[name]) for name in QUESTIONS if name in content}
    start = _starts(content["start"])
    for name, work in content["load"].items():
        _check_work(f"load/{name}", work)
    if len({"command" in work for work in content["load"].values()}) > 1:
        raise CannotDo("load: write and read are commands both, or none is")
    return System(
        content["name"],
        path,
        content.get("replicas", REPLICAS),
        tuple(content["ports"]),
        start,
        questions["ready"],
        content["load"],
        content.get("program", start[0][0]),
        json.dumps(content, sort_keys=True),
        tuple(map(str, content.get("once", ()))),
        content.get("files", {}),
        {name: str(value) for name, value in content.get("environment", {}).items()},
        tuple(content.get("packages", ())),
        questions.get("role"),
        questions.get("progress"),
    )


def _starts(content: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    each = [isinstance(word, list) for word in content]
    if all(each):
        return tuple(tuple(map(str, line)) for line in content)
    if any(each):
        raise CannotDo("start: words, or a list of words for each replica, not both")
    return (tuple(map(str, content)),)


def _question(name: str, content: Mapping[str, Any]) -> Question:
    way = _one_of(name, content, WAYS)
    text = content[way]
    if way in ("redis", "line") and "at" not in content:
        raise CannotDo(f"{name}: {way} needs at, such as {{client.own}}")
    if name != "ready" and "match" not in content:
        raise CannotDo(f"{name}: it needs match: the value in the answer")
    if "match" in content and _pattern(f"{name}/match", content["match"]).groups != 1:
        raise CannotDo(f"{name}/match: the pattern needs one group: the value")
    return Question(
        way,
        tuple(map(str, text)) if isinstance(text, list) else (text,),
        content.get("at", ""),
        content.get("match", ""),
        {_as_text(value): role for value, role in content.get("words", {}).items()},
        content.get("within_s", READY_S),
    )


def _as_text(value: object) -> str:
    """YAML reads some words as numbers or as truth values."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_work(name: str, work: Mapping[str, Any]) -> None:
    way = _one_of(name, work, WAYS)
    for key in ("answer", "lines"):
        if key in work:
            _pattern(f"{name}/{key}", work[key])
    for key, of in (("body", "http"), ("lines", "command"), ("answer", "http, redis or line")):
        if key in work and way not in of:
            raise CannotDo(f"{name}/{key}: it goes with {of}, not with {way}")
    if way == "command":
        groups = _pattern(f"{name}/lines", work.get("lines", "")).groupindex
        if not {"latency_us", "latency_ms", "latency_s", "ended"} & set(groups):
            raise CannotDo(
                f"{name}/lines: the pattern needs a group (?P<latency_us>...), latency_ms or"
                " latency_s for a line of one operation, or (?P<ended>...) for one of many"
            )


def _one_of(name: str, content: Mapping[str, Any], keys: Sequence[str]) -> str:
    found = [key for key in keys if key in content]
    if len(found) != 1:
        raise CannotDo(f"{name}: it needs one of {', '.join(keys)}, and has {len(found)}")
    return found[0]


def _pattern(name: str, text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text)
    except re.error as error:
        raise CannotDo(f"{name}: '{text}' is no pattern: {error}") from error


# ---- names ----


def names_of(
    system: System, number: int, data: Path, own: Sequence[str], seen: Sequence[str]
) -> dict[str, str]:
    """The names of a replica. `own`, `seen`: HOST:PORT of its ports, in the file's order."""
    found = {"n": str(number), "data": str(data), "here": str(system.path.resolve().parent)}
    for port, mine, theirs in zip(system.ports, own, seen, strict=True):
        for which, address in ((OWN, mine), (SEEN, theirs)):
            host, _, digits = address.rpartition(":")
            found[f"{port}.{which}"] = address
            found[f"{port}.{which}.port"] = digits
            found["host"] = host
    return found


def _check_names(system: System, content: Mapping[str, Any]) -> None:
    """CannotDo for a name that there is not, and the place where it is."""
    nowhere = ["h:1"] * len(system.ports)  # a load has names of its own alone
    places: dict[str, tuple[Any, Sequence[str]]]
    places = {name: (content[name], ()) for name in WITH_NAMES if name in content}
    places |= {name: (_filled(content[name]), ()) for name in QUESTIONS if name in content}
    for name, work in system.works.items():
        places[f"load/{name}"] = (_filled(work), OF_LOADS if "command" in work else OF_KEYS)
    for name, (texts, more) in places.items():

        def known(number: int, more: Sequence[str] = more) -> dict[str, str]:
            if more:
                return dict.fromkeys(more, "")
            return names_of(system, number, Path("d"), nowhere, nowhere)

        try:
            placeholders.fill_all(_texts(texts), known, 0, system.replicas)
        except CannotDo as error:
            raise CannotDo(f"{name}: {error}") from error


def _filled(content: Mapping[str, Any]) -> list[Any]:
    """The values of a question, or of work, in which braces hold names."""
    return [value for key, value in content.items() if key not in WITHOUT_NAMES]


def _texts(content: object) -> Iterator[str]:
    """All in it, with the keys."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        yield from _texts([*content, *content.values()])
    elif isinstance(content, list):
        for each in content:
            yield from _texts(each)
