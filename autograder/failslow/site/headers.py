"""Reads a public C++ header: its essay, its declarations and the comments that are contracts.

A paragraph of a header (lines without a blank one between them) that begins with a comment is
one entry: the comment speaks of all its declarations. What is private, and what is repeated for
the compiler only (forward declarations, bodies, out-of-class definitions), is left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from failslow.errors import CannotDo

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

FOR_DERIVED = "for derived classes"

TYPES = ("class_specifier", "struct_specifier", "union_specifier")
SECTION = re.compile(r"^-{3} (.+) -{3}$")
INTERNAL = re.compile(r"_internal$")


@dataclass(frozen=True)
class Entry:
    """What one comment speaks of. `code` has no bodies; trailing comments stay in it."""

    comment: str
    code: str
    names: tuple[str, ...]


@dataclass
class Section:
    """A group of a class's members; the heading of the first is usually empty."""

    heading: str
    entries: list[Entry] = field(default_factory=list)


@dataclass(frozen=True)
class Class:
    """A class or struct with functions. `code` is its head, up to the brace.

    One without functions is an Entry: its fields are best read as they are declared.
    """

    name: str
    comment: str
    code: str
    sections: tuple[Section, ...]
    copyable: bool

    @property
    def entries(self) -> list[Entry]:
        return [entry for section in self.sections for entry in section.entries]


@dataclass(frozen=True)
class Header:
    name: str
    essay: str
    items: tuple[Entry | Class, ...]

    @property
    def classes(self) -> list[Class]:
        return [item for item in self.items if isinstance(item, Class)]


def read_header(path: Path) -> Header:
    """CannotDo when the file has no essay, or is not the C++ that this understands."""
    source = path.read_bytes()
    root = _parser().parse(source).root_node
    for node in _errors(root):
        raise CannotDo(f"{path.name}:{node.start_point.row + 1}: cannot understand this C++")
    essay = _text_of(_leading_comments(root.children))
    if not essay:
        raise CannotDo(f"{path.name} does not begin with a comment that says what it is for")
    items = [item for part in _namespaces(root) for item in _items(part)]
    return Header(path.name, essay, tuple(items))


def _parser() -> "Parser":
    # Here, because the handbook's packages are installed for its own commands only, and every
    # command imports this module.
    import tree_sitter
    import tree_sitter_cpp

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


def _errors(node: "Node") -> "Iterator[Node]":
    """What was not understood, except in the bodies of functions, which are left out anyway."""
    if node.type == "compound_statement" or not node.has_error:
        return
    if node.is_error or node.is_missing:
        yield node
    for child in node.children:
        yield from _errors(child)


def _namespaces(root: "Node") -> "Iterator[Node]":
    """The bodies of the namespaces whose names are for everybody."""
    for node in root.children:
        if node.type == "namespace_definition" and not INTERNAL.search(_name(node)):
            body = node.child_by_field_name("body")
            assert body is not None
            yield body


def _items(body: "Node") -> list[Entry | Class]:
    items: list[Entry | Class] = []
    for paragraph in _paragraphs(body.children):
        kept = [node for node in paragraph.declarations if _is_public(node)]
        if len(kept) == 1 and (made := _class(kept[0], paragraph.comment)) is not None:
            items.append(made)
        elif kept:
            items.append(_entry(paragraph.comment, kept, paragraph.trailing))
    return items


@dataclass
class _Paragraph:
    """Neighbouring declarations under one comment; `trailing`: comments behind one, by row."""

    comment: str = ""
    declarations: "list[Node]" = field(default_factory=list)
    trailing: dict[int, str] = field(default_factory=dict)


def _paragraphs(nodes: "Iterable[Node]") -> Iterator[_Paragraph]:
    """Splits at blank lines, and before a comment that follows a declaration."""
    paragraph = _Paragraph()
    comments: list[Node] = []
    last_row = -1
    for node in nodes:
        if not node.is_named:
            last_row = node.end_point.row if node.type == ";" else last_row
            continue
        row = node.start_point.row
        if node.type == "comment" and row == last_row and paragraph.declarations:
            gap = node.start_point.column - paragraph.declarations[-1].end_point.column
            paragraph.trailing[row] = " " * gap + _source(node)
            continue
        after_blank_line = row > last_row + 1
        if after_blank_line or (node.type == "comment" and paragraph.declarations):
            paragraph.comment = _text_of(comments)
            if paragraph.declarations or paragraph.comment:
                yield paragraph
            paragraph, comments = _Paragraph(), []
        (comments if node.type == "comment" else paragraph.declarations).append(node)
        last_row = node.end_point.row
    paragraph.comment = _text_of(comments)
    if paragraph.declarations:
        yield paragraph


def _is_public(node: "Node") -> bool:
    """Whether a reader of the reference wants it: not repeated, forward or preprocessing."""
    inner = _unwrapped(node)
    if inner.type in TYPES:
        return inner.child_by_field_name("body") is not None
    if inner.type == "namespace_definition" or inner.type.startswith("preproc"):
        return False
    if inner.type == "using_declaration" and any(
        child.type == "namespace" for child in inner.children
    ):
        return False
    declarator = _function_declarator(inner)
    return declarator is None or _declares(declarator).type != "qualified_identifier"


def _unwrapped(node: "Node") -> "Node":
    """What a template, or a declaration of nothing but a type, declares."""
    if node.type == "template_declaration":
        return _unwrapped(node.named_children[-1])
    if node.type == "field_declaration" and node.child_by_field_name("declarator") is None:
        declared = node.child_by_field_name("type")
        if declared is not None and declared.type in (*TYPES, "enum_specifier"):
            return declared
    return node


def _class(node: "Node", comment: str) -> Class | None:
    """None for anything but a class with functions."""
    inner = _unwrapped(node)
    body = inner.child_by_field_name("body")
    if inner.type not in TYPES or body is None:
        return None
    if not any(_function_declarator(_unwrapped(member)) for member in body.named_children):
        return None
    return Class(
        name=_name(inner),
        comment=comment,
        code=_code(node, body.start_byte),
        sections=tuple(_sections(body, "public" if inner.type == "struct_specifier" else "")),
        copyable=not any(_is_deleted_copy(member) for member in body.named_children),
    )


def _sections(body: "Node", access: str) -> list[Section]:
    sections = [Section("")]
    for member_access, members in _by_access(body, access):
        if member_access == "protected":
            sections.append(Section(FOR_DERIVED))
        for paragraph in _paragraphs(members):
            heading = SECTION.match(paragraph.comment)
            kept = [node for node in paragraph.declarations if _is_told(node, paragraph.comment)]
            if heading is not None:
                sections.append(Section(heading[1]))
            if kept:
                comment = "" if heading else paragraph.comment
                sections[-1].entries.append(_entry(comment, kept, paragraph.trailing))
    return [section for section in sections if section.entries]


def _by_access(body: "Node", access: str) -> "Iterator[tuple[str, list[Node]]]":
    """The members under each public or protected label."""
    members: list[Node] = []
    for node in body.children:
        if node.type == "access_specifier":
            if access in ("public", "protected"):
                yield access, members
            access, members = _source(node), []
        elif node.type not in ("{", "}", ":"):
            members.append(node)
    if access in ("public", "protected"):
        yield access, members


def _is_told(node: "Node", comment: str) -> bool:
    """Not a friend class, a deleted function, or a destructor that nothing is said of."""
    if node.type == "friend_declaration":
        return _function_declarator(node) is not None
    if any(child.type == "delete_method_clause" for child in node.children):
        return False
    declarator = _function_declarator(node)
    is_destructor = declarator is not None and _declares(declarator).type == "destructor_name"
    return bool(comment) or not is_destructor


def _is_deleted_copy(node: "Node") -> bool:
    deleted = any(child.type == "delete_method_clause" for child in node.children)
    return deleted and "const" in _source(node)


def _entry(comment: str, nodes: "list[Node]", trailing: dict[int, str]) -> Entry:
    lines = []
    for node in nodes:
        lines.append(_declaration(node) + trailing.get(node.end_point.row, ""))
    names = dict.fromkeys(_declared_name(node) for node in nodes)
    return Entry(comment, "\n".join(lines), tuple(names))


def _declaration(node: "Node") -> str:
    """As it is declared, without the body of a function."""
    inner = _unwrapped(node)
    body = _function_body(inner)
    if body is None:
        text = _code(node, node.end_byte)
        return text if text.endswith(";") else f"{text};"
    return f"{_code(node, body)};"


def _function_body(node: "Node") -> int | None:
    """Where the part of a function begins that only the compiler needs."""
    inner = node
    if node.type == "friend_declaration":
        inner = node.named_children[-1]
    for child in inner.children:
        if child.type in ("compound_statement", "field_initializer_list"):
            return child.start_byte
    return None


def _declared_name(node: "Node") -> str:
    inner = _unwrapped(node)
    declarator = _function_declarator(inner)
    return _name(declarator if declarator is not None else inner)


def _function_declarator(node: "Node") -> "Node | None":
    """The `name(parameters)` of a function, below pointers and references; None if it is none."""
    if node.type == "function_declarator":
        # A variable of a function type, `void (*f)()`, has parentheses for a name.
        inner = node.child_by_field_name("declarator")
        return None if inner is not None and inner.type == "parenthesized_declarator" else node
    below = ("declaration", "field_declaration", "function_definition", "friend_declaration")
    if node.type not in (*below, "pointer_declarator", "reference_declarator"):
        return None
    for child in node.named_children:
        if (found := _function_declarator(child)) is not None:
            return found
    return None


def _declares(node: "Node") -> "Node":
    """The node of the name that a declaration, or a declarator, introduces."""
    if node.type in ("qualified_identifier", "destructor_name", "operator_name"):
        return node
    for name in ("name", "declarator"):
        child = node.child_by_field_name(name)
        if child is not None:
            return _declares(child)
    # References and `using` have no fields: what they declare is what they end with.
    return _declares(node.named_children[-1]) if node.named_child_count else node


def _name(node: "Node") -> str:
    return _source(_declares(node)).rpartition("::")[2]


def _code(node: "Node", end_byte: int) -> str:
    """Source text from a node's start, its lines moved to the left margin."""
    assert node.text is not None
    text = node.text[: end_byte - node.start_byte].decode()
    return dedent(" " * node.start_point.column + text).strip()


def _source(node: "Node") -> str:
    assert node.text is not None
    return node.text.decode()


def _leading_comments(nodes: "Iterable[Node]") -> "list[Node]":
    comments: list[Node] = []
    for node in nodes:
        if node.type != "comment":
            break
        comments.append(node)
    return comments


def _text_of(comments: "list[Node]") -> str:
    """The text without the slashes; indentation beyond one space is kept."""
    lines = [_source(comment).removeprefix("//").removeprefix(" ") for comment in comments]
    return "\n".join(line.rstrip() for line in lines).strip("\n")
