"""The names of a message's fields, from the headers that declare it: the wire has values only."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from failslow.replay.recording import Message, World

_STRUCT = re.compile(
    r"^struct (\w+)(?: final)?(?: : (?:public )?([\w:]+))?\s*\{(.*?)^\};", re.M | re.S
)
_FIELDS = re.compile(r"^  MSGPACK_DEFINE\(([^)]*)\)", re.M)
_REPLY = re.compile(r"using Reply = (?:\w+::)*(\w+);")
_METHOD = re.compile(r'kName = "(\w+)";')
_QUOTED_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\](){},]')

FieldNames = dict[str, tuple[str, ...]]
"""By type of the message: "RequestVote request", "RequestVote reply"."""


def read(headers: Iterable[Path]) -> FieldNames:
    """Of all requests that the headers declare, and of their replies. A request without fields of
    its own has those of the struct that it extends."""
    fields: FieldNames = {}
    methods: list[tuple[str, str, str]] = []  # the name, the request's struct, the reply's
    for header in headers:
        for struct, base, body in _STRUCT.findall(header.read_text("utf-8", "replace")):
            found = _FIELDS.search(body)
            names = found[1].split(",") if found else fields.get(base, ())
            fields[struct] = tuple(name.strip() for name in names)
            method, reply = _METHOD.search(body), _REPLY.search(body)
            if method and reply:
                methods.append((method[1], struct, reply[1]))
    named: FieldNames = {}
    for method, request, reply in methods:
        named[f"{method} request"] = fields[request]
        named[f"{method} reply"] = fields.get(reply, ())
    return named


def name(worlds: Iterable[World], names: FieldNames) -> None:
    """Gives the messages' fields their names."""
    for world in worlds:
        for message in world.messages:
            message.fields = _fields_of(message, names)


def _fields_of(message: Message, names: FieldNames) -> dict[str, str]:
    """Empty if the values are not those of the names. A long body is cut off, so the last fields
    may have no value."""
    known = names.get(message.type, ())
    if not (known and message.body.startswith("[") and message.body.endswith("]")):
        return {}
    values = list(_values(message.body[1:-1]))
    return dict(zip(known, values, strict=False)) if len(values) <= len(known) else {}


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
