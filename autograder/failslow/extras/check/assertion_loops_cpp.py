"""Loops of assertions over what may be empty, in C++ tests: see assertion_loops.py.

Reads the text alone: GoogleTest's macros, range-based loops and `EXPECT_TRUE(std::ranges::all_of`.
"""

import re
from collections.abc import Iterator

NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL
)
ASSERTION = re.compile(r"\b(?:EXPECT|ASSERT)_[A-Z_]+\([^;]*")
FOR = re.compile(r"\bfor \(")
ALL_OF = re.compile(r"_TRUE\(std::ranges::all_of\(([^,;]+),")
GATHERED = re.compile(
    r"\b(\w+)\.(?:insert|emplace\w*|push_back)\(|\+\+(\w+)|\b(\w+)(?:\[[^;]*?\])? [|+]?= "
)
"""What a loop changes."""

NEVER_EMPTY = re.compile(
    r"\{|(?:\w+::)*Some\(|(?:\w+::)*k[A-Z]\w*$|std::[\w:]+(?:<[^;]*>)?[{(]\{?[^)}]"
)
"""Begins a range that is never empty."""


def in_text(text: str) -> list[int]:
    """The lines of the loops of a file with GoogleTest's assertions."""
    if not ASSERTION.search(text):
        return []
    code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", "~", found[0]), text)
    found = [(each.start(), each[1].strip(), each[0]) for each in ALL_OF.finditer(code)]
    found += [each for each in _ranges(code) if ASSERTION.search(each[2])]
    return sorted(
        code.count("\n", 0, start) + 1
        for start, items, body in found
        if not NEVER_EMPTY.match(items) and not _is_told(items, body, _around(code, start))
    )


def _ranges(code: str) -> Iterator[tuple[int, str, str]]:
    """Where a range-based loop starts, its range and its body."""
    for found in FOR.finditer(code):
        end = _end(code, found.end() - 1)
        head = code[found.end() : end - 1]
        if " : " not in head or ";" in head.partition(" : ")[2]:
            continue
        end += len(code[end:]) - len(code[end:].lstrip())
        stop = _end(code, end) if code[end] == "{" else code.index(";", end)
        yield found.start(), head.rpartition(" : ")[2].strip(), code[end:stop]


def _end(code: str, start: int) -> int:
    """Behind the bracket that closes the one at the start."""
    depth = 0
    for index in range(start, len(code)):
        depth += (code[index] in "({") - (code[index] in ")}")
        if depth == 0:
            return index + 1
    return len(code)


def _around(code: str, start: int) -> str:
    """The function around a place."""
    return code[code.rfind("\n}\n", 0, start) + 1 : code.find("\n}\n", start)]


def _is_told(items: str, body: str, function: str) -> bool:
    """Whether the function makes the range a literal, or asserts something of it, or of what the
    loop gathers."""
    items = items.lstrip("*")
    word = rf"(?<!\w){re.escape(items)}(?!\w)"
    if re.search(rf"{word}(?:\[\])?(?: = |\()?[\w:<>, ]*\{{[^}}]", function):
        return True
    names = [word, *(rf"\b{each}\b" for found in GATHERED.findall(body) for each in found if each)]
    told = ASSERTION.findall(function.replace(body, ""))
    return any(re.search(name, each) for name in names for each in told)
