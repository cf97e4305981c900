"""Reads a public C++ header into entries: a comment, and the declarations that it describes.

Tree-sitter removes the parts that only the compiler needs. clang-format gives the rest one layout,
so lines and blank lines delimit it: a comment describes the declarations that follow it without a
blank line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from failslow.errors import CannotDo

if TYPE_CHECKING:
    from tree_sitter import Node

CLASS = re.compile(r"^class (\w+)[^;]*\{$", re.M)
LABEL = re.compile(r"^ (public|protected|private):$")
SECTION = re.compile(r"^// -{3} (.+) -{3}$")
INTERNAL = re.compile(r"^namespace \w+_internal \{.*?^\}  // namespace \w+_internal\n", re.M | re.S)
# A macro that stands for declarations, such as MSGPACK_DEFINE, is not C++ to a parser.
MACRO = re.compile(r"^ +[A-Z][A-Z0-9_]+\([^()]*\);?\n", re.M)
FRAME = re.compile(r"^(#.*|(?:inline )?namespace .*\{|\}  // namespace.*)$")
LEFT_OUT = re.compile(
    r"^friend class |^using namespace |^(?:class|struct|enum class) \w+;"
    r"|^[^(=]*\w(?:<[^(=]*>)?::~?\w+\("
)
LEFT_OUT_UNLESS_EXPLAINED = re.compile(rf"^(?:virtual )?~|{LEFT_OUT.pattern}")
STATEMENT_END = re.compile(r";(?:\s*//.*)?$")
DECLARED = re.compile(
    r"(?:class|struct|enum class|enum|using)\s+(?:\w+::)*(\w+)"
    r"|(operator\W+|~?\w+)\s*\(|(\w+)\s*(?:=|;|\{)"
)


@dataclass(frozen=True)
class Entry:
    """`code` has no bodies. `owner` is the class that it is a member of, or empty.

    An entry without code is a heading between members.
    """

    comment: str
    code: str = ""
    owner: str = ""

    @property
    def is_class(self) -> bool:
        return not self.owner and CLASS.search(self.code) is not None

    @property
    def names(self) -> tuple[str, ...]:
        told = (each for each in _statements(self.code) if "= delete;" not in each)
        found = (DECLARED.search(each) for each in told)
        return tuple(dict.fromkeys(next(filter(None, match.groups())) for match in found if match))


@dataclass(frozen=True)
class Header:
    """`path` is relative to the directory of all headers; `essay` is the comment at its top."""

    path: Path
    essay: str
    entries: tuple[Entry, ...]


def read_header(directory: Path, path: Path) -> Header:
    """CannotDo when the file has no essay, or is not the C++ that this understands."""
    text = _without_bodies(path)
    essay, _, rest = text.partition("#pragma once\n")
    if not essay.startswith("//"):
        raise CannotDo(f"{path.name} does not begin with a comment that states its purpose")
    lines = [line for line in INTERNAL.sub("", rest).splitlines() if not FRAME.match(line)]
    comment = _uncommented(essay.splitlines())
    return Header(path.relative_to(directory), comment, tuple(_entries(lines)))


def _without_bodies(path: Path) -> str:
    # Imported here: tree-sitter is installed for the handbook's own commands only.
    import tree_sitter
    import tree_sitter_cpp

    language = tree_sitter.Language(tree_sitter_cpp.language())
    source = MACRO.sub("", path.read_text(encoding="utf-8")).encode()
    root = tree_sitter.Parser(language).parse(source).root_node
    for begin, end in reversed(list(_bodies(root, path.name))):
        source = source[:begin].rstrip() + b";" + source[end:]
    return source.decode()


def _bodies(node: "Node", file: str) -> Iterator[tuple[int, int]]:
    """The bytes of each function's body, with the constructor's list before it."""
    if node.is_error or node.is_missing:
        raise CannotDo(f"{file}:{node.start_point.row + 1}: cannot understand this C++")
    if node.type == "function_definition":
        for child in node.children:
            if child.type in ("field_initializer_list", "compound_statement"):
                yield child.start_byte, node.end_byte
                return
    for child in node.children:
        yield from _bodies(child, file)


def _entries(lines: list[str]) -> Iterator[Entry]:
    owner, access = "", "public"
    for paragraph in _paragraphs(lines):
        label = LABEL.match(paragraph[0])
        if paragraph == ["};"]:
            owner, access = "", "public"
        elif label is not None:
            access = label[1]
            if access == "protected":
                yield Entry("For derived classes", owner=owner)
        elif access != "private":
            yield from _entry(paragraph, owner)
        if not owner and (begins := CLASS.search("\n".join(paragraph))):
            owner, access = begins[1], "private"


def _entry(paragraph: list[str], owner: str) -> Iterator[Entry]:
    lines = dedent("\n".join(paragraph)).splitlines()
    size = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    comment = _uncommented(lines[:size])
    if size > 0 and (section := SECTION.match(lines[0])):
        yield Entry(section[1][0].upper() + section[1][1:], owner=owner)
        comment = ""
    left_out = LEFT_OUT if comment else LEFT_OUT_UNLESS_EXPLAINED
    told = [each for each in _statements("\n".join(lines[size:])) if not left_out.search(each)]
    if told:
        yield Entry(comment, "\n".join(told), owner)


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Splits at blank lines, labels and heads of classes, and before a comment after code.

    The braces of structs and enumerations hold their contents together.
    """
    paragraph: list[str] = []
    closing = ""
    for line in lines:
        is_comment = line.lstrip().startswith("//")
        alone = not line or LABEL.match(line) is not None or (line == "};" and not closing)
        after_code = bool(paragraph) and not paragraph[-1].lstrip().startswith("//")
        if not closing and paragraph and (alone or (is_comment and after_code)):
            yield paragraph
            paragraph = []
        if line or closing:
            paragraph.append(line)
        if closing:
            closing = "" if line.startswith(closing) else closing
        elif alone or CLASS.search("\n".join(paragraph)):
            yield from [paragraph] if paragraph else []
            paragraph = []
        elif line.endswith("{") and not is_comment:
            closing = f"{line[: len(line) - len(line.lstrip())]}}}"
    if paragraph:
        yield paragraph


def _statements(code: str) -> Iterator[str]:
    """Declarations, each from its first line to the line of its semicolon."""
    lines: list[str] = []
    closing = False
    for line in code.splitlines():
        lines.append(line)
        closing = line.startswith("}") or (closing and not STATEMENT_END.search(line))
        opened = len(lines) > 1 and any(each.endswith("{") for each in lines)
        if STATEMENT_END.search(line) and (closing or not opened):
            yield "\n".join(lines)
            lines, closing = [], False
    if lines:
        yield "\n".join(lines)


def _uncommented(lines: list[str]) -> str:
    """The text without the slashes; indentation beyond one space is kept."""
    return "\n".join(line.removeprefix("//").removeprefix(" ").rstrip() for line in lines).strip(
        "\n"
    )
