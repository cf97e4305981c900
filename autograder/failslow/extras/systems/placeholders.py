"""The words of a system's file: {names} in them stand for ports and paths of a replica."""

import re
from collections.abc import Callable, Iterable

from failslow.base.errors import CannotDo

NAME = re.compile(r"\{(?:(?P<number>\d+):)?(?P<name>[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)\}")
EACH = {"{each:": ",", "{lines:": "\n"}
"""A text that is repeated for each replica, and the text between two of them."""

Names = Callable[[int], dict[str, str]]
"""The names that a replica has, and their values."""


def fill(text: str, names: Names, number: int, count: int) -> str:
    """The text as replica `number` of `count` reads it. Braces with anything else stay.

    CannotDo for a name that there is not."""
    for word, between in EACH.items():
        while (at := text.find(word)) >= 0:
            end = _closing(text, at)
            inner = text[at + len(word) : end]
            repeated = between.join(fill(inner, names, each, count) for each in range(count))
            text = text[:at] + repeated + text[end + 1 :]
    return NAME.sub(lambda match: _value(match, names, number, count), text)


def fill_all(texts: Iterable[str], names: Names, number: int, count: int) -> list[str]:
    return [fill(text, names, number, count) for text in texts]


def _closing(text: str, at: int) -> int:
    depth = 0
    for here in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[here], 0)
        if depth == 0:
            return here
    raise CannotDo(f"'{text[at:]}' has no closing brace")


def _value(match: re.Match[str], names: Names, number: int, count: int) -> str:
    whose = number if match["number"] is None else int(match["number"])
    if whose >= count:
        raise CannotDo(f"{match[0]}: there is no replica {whose} (0 to {count - 1})")
    known = names(whose)
    if match["name"] not in known:
        raise CannotDo(f"there is no {match[0]}, but {', '.join(known)}")
    return known[match["name"]]
