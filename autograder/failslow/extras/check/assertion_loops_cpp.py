"""Loops of assertions over what may be empty, in C++ tests: see assertion_loops.py.

Looks at GoogleTest's macros in range-based loops, and at `EXPECT_TRUE(std::ranges::all_of`.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from failslow.extras.shared import cpp

if TYPE_CHECKING:
    from tree_sitter import Node

ASSERTION = re.compile(r"\b(?:EXPECT|ASSERT)_[A-Z_]+\([^;]*")
ALL_OF = re.compile(r"_TRUE\(std::ranges::all_of\(([^,;]+),")
GATHERED = re.compile(
    r"\b(\w+)\.(?:insert|emplace\w*|push_back)\(|\+\+(\w+)|\b(\w+)(?:\[[^;]*?\])? [|+]?= "
)
"""A statement by which a loop changes something."""

NEVER_EMPTY = re.compile(
    r"\{|(?:\w+::)*Some\(|(?:\w+::)*k[A-Z]\w*$|std::[\w:]+(?:<[^;]*>)?[{(]\{?[^)}]"
)
"""Begins a range that is never empty."""


def in_text(text: str) -> list[int]:
    """The lines of the loops of a file with GoogleTest's assertions."""
    if not ASSERTION.search(text):
        return []
    return sorted(
        line
        for each in _outermost(cpp.parse(text.encode()))
        for line, items, body in _loops(each)
        if not NEVER_EMPTY.match(items) and not _is_told(items, body, cpp.text(each))
    )


def _outermost(node: "Node") -> Iterator["Node"]:
    """Functions, and classes of a fixture: a method asserts for the others."""
    if node.type in {"function_definition", "class_specifier"}:
        yield node
    else:
        for child in node.children:
            yield from _outermost(child)


def _loops(function: "Node") -> Iterator[tuple[int, str, str]]:
    """The line of each loop that asserts, its range and its body."""
    for node in cpp.nodes(function):
        if node.type == "for_range_loop":
            items, body = map(cpp.text, node.children[-3::2])
            if ASSERTION.search(body):
                yield cpp.line(node), items, body
    code = cpp.text(function)
    for found in ALL_OF.finditer(code):
        yield cpp.line(function) + code.count("\n", 0, found.start()), found[1].strip(), found[0]


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
