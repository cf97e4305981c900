"""The declarations that a change may choose from: fields, constants and enumerators of a type."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from failslow.mutation.syntax import Source, called, name_of, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

CONSTANT = re.compile(r"k[A-Z]\w*")
WAITS = frozenset({"Wait", "Sleep"})
"""The runtime's functions that suspend a coroutine."""
WRITES = frozenset({"storage"})
"""The runtime's way to the disk."""


@dataclass
class Declarations:
    """Of all files that a lab's files may use.

    `groups`: names that may replace each other: fields of one type in one class, constants of one
    type in one file, enumerators of one enumeration. `waiting` and `writing`: functions that wait,
    or write to the disk, themselves or by a function that they call, with their return types.
    """

    fields: list[tuple[str, ...]] = field(default_factory=list)
    constants: list[tuple[str, ...]] = field(default_factory=list)
    enumerators: dict[str, tuple[str, ...]] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    writing: dict[str, str] = field(default_factory=dict)


def collect(mutated: Iterable[Source], given: Iterable[Source]) -> Declarations:
    """`mutated`: the lab's own files; `given`: the headers that they include."""
    ours = list(mutated)
    found = Declarations()
    for source in ours:
        _add_types(found, source, private=True)
    for source in given:
        _add_types(found, source, private=False)
    found.waiting = _callers(ours, WAITS)
    found.writing = _callers(ours, WRITES)
    return found


def _add_types(found: Declarations, source: Source, private: bool) -> None:
    """`private`: the fields of classes, whose names end in `_`, can be used."""
    constants: dict[str, list[str]] = {}
    for node in walk(source.root):
        if node.type == "field_declaration_list":
            found.fields += _groups(_fields(node, private))
        elif node.type == "enum_specifier":
            _add_enumerators(found, node)
        elif node.type == "declaration":
            _add_constant(constants, node)
    found.constants += _groups(constants)


def _groups(by_type: dict[str, list[str]]) -> list[tuple[str, ...]]:
    return [tuple(names) for names in by_type.values() if len(names) > 1]


def _fields(body: "Node", private: bool) -> dict[str, list[str]]:
    """The names of a class's fields, by their type as it is written."""
    fields: dict[str, list[str]] = {}
    for member in body.named_children:
        declarator = member.child_by_field_name("declarator")
        if member.type == "field_declaration" and declarator is not None:
            kind = text_of(member.child_by_field_name("type"))
            name = text_of(declarator)
            is_constant = CONSTANT.fullmatch(name) is not None
            usable = not is_constant and (private or not name.endswith("_"))
            if declarator.type == "field_identifier" and usable:
                fields.setdefault(kind, []).append(name)
    return fields


def _add_enumerators(found: Declarations, node: "Node") -> None:
    body = node.child_by_field_name("body")
    if body is None:
        return
    names = [text_of(each.child_by_field_name("name")) for each in body.named_children]
    found.enumerators[text_of(node.child_by_field_name("name"))] = tuple(filter(None, names))


def _add_constant(constants: dict[str, list[str]], node: "Node") -> None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None or declarator.type != "init_declarator":
        return
    name = text_of(declarator.child_by_field_name("declarator"))
    if CONSTANT.fullmatch(name):
        constants.setdefault(text_of(node.child_by_field_name("type")), []).append(name)


def _callers(sources: list[Source], names: frozenset[str]) -> dict[str, str]:
    """Functions that call one of the names, directly or not. Spawned work does not count."""
    calls: dict[str, set[str]] = {}
    types: dict[str, str] = {}
    for source in sources:
        for node in walk(source.root):
            if node.type == "function_definition":
                name = name_of(node).rpartition("::")[2]
                types[name] = text_of(node.child_by_field_name("type"))
                calls[name] = _calls_of(node)
    found: set[str] = set()
    while True:
        more = {name for name, used in calls.items() if used & (names | found)} - found
        if not more:
            return {name: types[name] for name in sorted(found)}
        found |= more


def _calls_of(node: "Node") -> set[str]:
    if node.type == "lambda_expression":
        return set()  # it runs later, or elsewhere
    below = [_calls_of(child) for child in node.children]
    return {called(node)}.union(*below) - {""}
