"""C++ as tree-sitter sees it: source files, their nodes, and the functions around them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LEFT_OUT = frozenset(
    {"comment", "ERROR", "static_assert_declaration", "template_argument_list", "using_declaration"}
)
"""A change in such a node does not compile, or means nothing."""


@dataclass(frozen=True)
class Source:
    """A file of C++. `name` is its path among a lab's files."""

    name: str
    text: bytes
    root: "Node"


def parse(name: str, text: bytes) -> Source:
    return Source(name, text, _parser().parse(text).root_node)


def parse_file(path: Path) -> Source:
    return parse(path.name, path.read_bytes())


@cache
def _parser() -> "Parser":
    # Imported here: tree-sitter is installed for the commands that need it only.
    import tree_sitter
    import tree_sitter_cpp

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


def walk(node: "Node") -> Iterator["Node"]:
    """The node and all nodes below it, in the order of the text. Assertions are left out: they
    check the program, and are no part of it."""
    if node.type in LEFT_OUT or _is_directive(node) or called(node) == "assert":
        return
    yield node
    for child in node.children:
        yield from walk(child)


def _is_directive(node: "Node") -> bool:
    """Of the preprocessor, but not around code, as #ifdef is."""
    around_code = ("preproc_if", "preproc_ifdef", "preproc_else")
    return node.type.startswith("preproc_") and node.type not in around_code


def text_of(node: "Node | None") -> str:
    return "" if node is None or node.text is None else node.text.decode()


def called(node: "Node") -> str:
    """The last name of the function that a call calls: 'Wait' of `quorum->Wait(timeout)`."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    while function is not None and function.type in ("field_expression", "qualified_identifier"):
        field = "field" if function.type == "field_expression" else "name"
        function = function.child_by_field_name(field)
    return text_of(function)


def enclosing(node: "Node", kind: str) -> "Node | None":
    """The innermost node of that kind around a node."""
    parent = node.parent
    while parent is not None and parent.type != kind:
        parent = parent.parent
    return parent


def function_around(node: "Node") -> str:
    """'Raft::Round'; the class outside a function; empty outside both."""
    function = enclosing(node, "function_definition")
    if function is not None:
        return name_of(function)
    for kind in ("class_specifier", "struct_specifier"):
        owner = enclosing(node, kind)
        if owner is not None:
            return text_of(owner.child_by_field_name("name"))
    return ""


def name_of(function: "Node") -> str:
    """Of a function's definition, as it is written there."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((each for each in declarator.named_children), None)
    return "" if declarator is None else text_of(declarator.child_by_field_name("declarator"))
