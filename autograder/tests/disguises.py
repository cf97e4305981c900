"""Copies of a C++ source, as a student would disguise them. They need not compile."""

import random
import re
from collections.abc import Callable

Disguise = Callable[[str, random.Random], str]

NAMES = re.compile(
    r"\b[a-z]\w*_\b|\bk[A-Z]\w*|(?<=Raft::)\w+|(?<=auto )\w+|(?<=auto& )\w+|(?<= )[a-z]\w+(?= = )"
)
"""Members, constants, methods and locals, where they are written like that once."""

END = "\n}\n\n"
"""Of a function."""


def verbatim(text: str, _: random.Random) -> str:
    return text


def renamed(text: str, chance: random.Random) -> str:
    names = sorted({*NAMES.findall(text)})
    new = dict(zip(names, chance.sample(range(len(names)), len(names)), strict=True))
    return re.sub(r"\w+", lambda word: f"name{new[word[0]]}" if word[0] in new else word[0], text)


def shuffled(text: str, chance: random.Random) -> str:
    """Its functions in another order."""
    pieces = text.split(END)
    places = [at for at, piece in enumerate(pieces[:-1]) if at and "namespace" not in piece]
    moved = [pieces[at] for at in places]
    chance.shuffle(moved)
    for at, piece in zip(places, moved, strict=True):
        pieces[at] = piece
    return END.join(pieces)


def looped(text: str, _: random.Random) -> str:
    """Loops of another kind: `for` as `while`, `while` as `for`, ranges by iterators. Without
    comments."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"\bwhile \((.*)\) \{", r"for (; \1;) {", text)
    text = re.sub(
        r"\bfor \(([^;:()]+?) : (.+)\) \{",
        r"for (auto at = std::begin(\2); at != std::end(\2); ++at) {\n\1 = *at;",
        text,
    )
    text = re.sub(
        r"\bfor \(([^;]+); ([^;]*); ([^;]*)\) \{",
        r"\1;\nwhile (true) {\nif (!(\2)) break;\n\3;",
        text,
    )
    return re.sub(r"\+\+(\w+)", r"\1 += 1", text)


def all_at_once(text: str, chance: random.Random) -> str:
    return renamed(shuffled(looped(text, chance), chance), chance)


DISGUISES: dict[str, Disguise] = {
    "verbatim": verbatim,
    "names changed": renamed,
    "functions shuffled": shuffled,
    "loops rewritten": looped,
    "all of these": all_at_once,
}
