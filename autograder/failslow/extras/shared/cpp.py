"""Functions and classes of C++ sources, as tree-sitter parses them: no build is needed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_ENDS_STATEMENT = {";", "{", "}"}
_LITERALS = {"string_literal", "raw_string_literal", "char_literal"}
_TYPES = {"class_specifier", "struct_specifier"}
_FENCED = re.compile(rb"^[ \t]*```(?:cpp|c\+\+)?[ \t]*\n(.*?)^[ \t]*```", re.M | re.S)


@dataclass(frozen=True)
class Function:
    """A definition. `name`: as it is written, with its class. `statements`: of its body, each in
    tokens with a blank between them, so neither layout nor comments count."""

    name: str
    line: int
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Class:
    """A class or struct. `fields`: its own data members; a nested type is a class of its own."""

    name: str
    line: int
    fields: int


def functions(source: Path) -> Iterator[Function]:
    """The functions with a body, in their order; a lambda belongs to the function around it."""
    for node in nodes(parse(source.read_bytes())):
        body = node.child_by_field_name("body")
        name = _declared(node.child_by_field_name("declarator"))
        if node.type == "function_definition" and body and name:
            yield Function(text(name), line(node), tuple(_statements(body)))


def code_blocks(page: Path) -> Iterator[Function]:
    """Blocks of code in a page of Markdown, each as one function that is named `code`."""
    content = page.read_bytes()
    for block in _FENCED.finditer(content):
        place = content.count(b"\n", 0, block.start(1)) + 1
        yield Function("code", place, tuple(_statements(parse(block[1]))))


def classes(source: Path) -> Iterator[Class]:
    """The classes and structs with a body and a name, in their order."""
    for node in nodes(parse(source.read_bytes())):
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if node.type in _TYPES and body and name:
            yield Class(text(name), line(node), sum(map(_fields, body.children)))


@cache
def _parser() -> "Parser":
    """Imported late: `kit` installs tree-sitter for the commands that need it alone."""
    import tree_sitter_cpp
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cpp.language()))


def parse(content: bytes) -> "Node":
    return _parser().parse(content).root_node


def nodes(node: "Node") -> Iterator["Node"]:
    yield node
    for child in node.children:
        yield from nodes(child)


def text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", errors="replace")


def line(node: "Node") -> int:
    return node.start_point[0] + 1


def _declared(declarator: "Node | None") -> "Node | None":
    """The name of the function in a declarator, with the parentheses of a pointer to one."""
    parts = nodes(declarator) if declarator else ()
    found = next((each for each in parts if each.type == "function_declarator"), None)
    return found and found.child_by_field_name("declarator")


def _statements(body: "Node") -> Iterator[str]:
    tokens: list[str] = []
    for token in [*_tokens(body), ";"]:
        if token not in _ENDS_STATEMENT:
            tokens.append(token)
        elif tokens:
            yield " ".join(tokens)
            tokens = []


def _tokens(node: "Node") -> Iterator[str]:
    if node.type in _LITERALS or not node.children:
        if node.type != "comment":
            yield text(node)
        return
    for child in node.children:
        yield from _tokens(child)


def _fields(member: "Node") -> int:
    """The number of data members that a declaration in a class adds to an object."""
    if member.type != "field_declaration" or any(
        text(each) == "static" for each in member.children
    ):
        return 0
    declared = member.children_by_field_name("declarator")
    kind = member.child_by_field_name("type")
    body = kind and kind.child_by_field_name("body")
    if kind and body and not declared and not kind.child_by_field_name("name"):
        return sum(map(_fields, body.children))
    names = map(_declared, declared)
    return sum(not name or name.type == "parenthesized_declarator" for name in names)
