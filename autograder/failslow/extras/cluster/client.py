"""`kit cluster submit`: one command for a running cluster, and its answer in words."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.lab.labs import ClusterView

PROGRAM = "submit_command"


@dataclass(frozen=True)
class Answer:
    """`is_done`: the command is executed, and not with an error."""

    text: str
    is_done: bool


def submit(kit: Kit, view: ClusterView, endpoints: Sequence[str], words: Sequence[str]) -> Answer:
    """CannotDo when no replica has accepted the command, or its answer is lost."""
    if len(words) == 1:
        words = _split(words[0])
    cmake.build(kit, targets=[PROGRAM])
    flags = ["--target", view.load, "--replicas", ",".join(endpoints)]
    done = process.run([kit.binary(PROGRAM), *flags, "--", *words])
    if done.exit_code != 0:
        raise CannotDo(done.errors.strip().removeprefix(f"{PROGRAM}: ") or done.how_it_ended())
    content = json.loads(done.output)
    by = f"replica {content['replica']}, {content['us'] / 1000:.1f} ms"
    return Answer(f"{_in_words(content)}  ({by})", content["status"] not in ("unknown", "error"))


def _split(command: str) -> list[str]:
    """The words of a command that stands in quotes."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise CannotDo(f"'{command}': {error}") from error


def _in_words(content: dict[str, Any]) -> str:
    """A reply as redis-cli prints it; a log without a store says where the command is."""
    match content["status"]:
        case "committed":
            return f"committed at index {content['index']}"
        case "unknown":
            return "accepted, but the leader has lost track of it: it may be committed yet"
        case "integer":
            return f"(integer) {content['integer']}"
        case "error":
            return f"(error) {content['text']}"
        case "array":
            items = enumerate(content["items"], start=1)
            return "\n".join(f"{number}) {_quoted(item)}" for number, item in items) or "(empty)"
        case "string":
            return _quoted(content["text"])
        case "nil":
            return _quoted(None)
    return str(content["text"])


def _quoted(text: str | None) -> str:
    return "(nil)" if text is None else json.dumps(text, ensure_ascii=False)
