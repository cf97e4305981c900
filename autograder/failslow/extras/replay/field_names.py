"""The names of a message's fields, from the headers that declare it: the wire has values only."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.extras.replay.recording import World

_STRUCT = re.compile(
    r"^struct (\w+)(?: final)?(?: : (?:public )?([\w:]+))?\s*\{(.*?)^\};", re.M | re.S
)
_FIELDS = re.compile(r"^  DEPFAST_FIELDS\(([^)]*)\)", re.M)
_MEMBER = re.compile(r"^  ([\w:]+(?:<[\w:<>, ]+>)?) (\w+)(?: = [^;]*|\{[^;]*\})?;", re.M)
_ALIAS = re.compile(r"^using (\w+) = ([\w:<>, ]+);", re.M)
_LIST = re.compile(r"std::(?:vector|array)<(.+?)(?:, \w+)?>")
_REPLY = re.compile(r"using Reply = (?:\w+::)*(\w+);")
_METHOD = re.compile(r'kName = "(\w+)";')
_QUOTED_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\](){},]')


@dataclass(frozen=True)
class Field:
    """`parts`: of the value, or of each element of a list; none if it is no struct."""

    name: str
    parts: tuple["Field", ...] = ()
    is_list: bool = False


FieldNames = dict[str, tuple[Field, ...]]
"""By type of the message: "RequestVote request", "RequestVote reply"."""


def read(headers: Iterable[Path]) -> FieldNames:
    """The fields of all requests that the headers declare, and of their replies."""
    texts = [header.read_text("utf-8", "replace") for header in headers]
    aliases = {alias: kind for text in texts for alias, kind in _ALIAS.findall(text)}
    structs = {name: (base, body) for text in texts for name, base, body in _STRUCT.findall(text)}
    named: FieldNames = {}
    for struct, (_, body) in structs.items():
        method, reply = _METHOD.search(body), _REPLY.search(body)
        if method and reply:
            named[f"{method[1]} request"] = _fields_in(struct, structs, aliases)
            named[f"{method[1]} reply"] = _fields_in(reply[1], structs, aliases)
    return named


def _fields_in(
    struct: str, structs: Mapping[str, tuple[str, str]], aliases: Mapping[str, str]
) -> tuple[Field, ...]:
    """A struct without fields of its own has those of the struct that it extends."""
    if struct not in structs:
        return ()
    base, body = structs[struct]
    others = {name: of for name, of in structs.items() if name != struct}  # so this ends
    found = _FIELDS.search(body)
    if not found:
        return _fields_in(base, others, aliases)
    types = {name: kind for kind, name in _MEMBER.findall(body)}
    fields = []
    for name in (each.strip() for each in found[1].split(",")):
        kind = types.get(name, "")
        kind = aliases.get(kind, kind)
        elements = _LIST.fullmatch(kind)
        inner = (elements[1] if elements else kind).rpartition("::")[2]
        fields.append(Field(name, _fields_in(inner, others, aliases), elements is not None))
    return tuple(fields)


def name(worlds: Iterable[World], names: FieldNames) -> None:
    """Gives the messages' fields their names; none if the values are not those of the names."""
    for world in worlds:
        for message in world.messages:
            message.fields = dict(_pairs(message.body, names.get(message.type, ())))


def _pairs(text: str, fields: Sequence[Field]) -> list[tuple[str, str]]:
    """None if the values are not those of the fields. A long body is cut off, so the last fields
    may have no value."""
    values = _elements(text)
    if values is None or len(values) > len(fields):
        return []
    return [
        (field.name, _worded(value, field)) for field, value in zip(fields, values, strict=False)
    ]


def _worded(text: str, field: Field) -> str:
    if not field.parts:
        return text
    if not field.is_list:
        return _struct(text, field.parts)
    elements = _elements(text)
    if elements is None:
        return text
    return f"[{', '.join(_struct(each, field.parts) for each in elements)}]"


def _struct(text: str, fields: Sequence[Field]) -> str:
    pairs = ", ".join(f"{name}: {value}" for name, value in _pairs(text, fields))
    return f"{{{pairs}}}" if pairs else text


def _elements(text: str) -> list[str] | None:
    """None if the text is no list."""
    return list(_values(text[1:-1])) if text.startswith("[") and text.endswith("]") else None


def _values(text: str) -> Iterator[str]:
    """The values between commas that are in no string and in no brackets."""
    depth = begin = 0
    for found in _QUOTED_OR_BRACKET.finditer(text):
        if found[0] in ("[", "(", "{"):
            depth += 1
        elif found[0] in ("]", ")", "}"):
            depth -= 1
        elif found[0] == "," and depth == 0:
            yield text[begin : found.start()].strip()
            begin = found.end()
    if text[begin:].strip():
        yield text[begin:].strip()
