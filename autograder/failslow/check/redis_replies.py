"""The same command lines for our port and for a real Redis: the replies must be the same bytes."""

import random
import re
import shlex
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from failslow.check.step import Counts
from failslow.errors import CannotDo

TIMEOUT_S = 10.0
RESP3 = ("HELLO", "3")
AGGREGATES = {ord("*"): 1, ord("~"): 1, ord("%"): 2}
"""The kinds of replies that hold others, and the number of these for each that is counted."""

HEAD = re.compile(rb"([+-].*|_|[:$=*~%]-?\d+)\r\n")
"""The first line of a reply. A server sends other kinds to those alone who ask for them."""

KEYS = ("a", "b", "c")
VALUES = ("", "0", "-1", "7", "42", "01", "x", "two words", "9223372036854775807")
FORMS = {
    "GET": "k",
    "SET": "kv",
    "DEL": "kk",
    "EXISTS": "kk",
    "INCR": "k",
    "INCRBY": "kv",
    "DECR": "k",
    "DECRBY": "kv",
    "APPEND": "kv",
    "MGET": "kkk",
    "MSET": "kvkv",
    "SETNX": "kv",
    "STRLEN": "k",
    "GETSET": "kv",
}
"""The arguments of the commands that both servers have: keys and values."""

MALFORMED = (
    b"*x\r\n",
    b"*1\r\nGET x\r\n",
    b"*1\r\n$x\r\n",
    b"*1\r\n$-1\r\n",
    b'GET "x\r\n',
    b"GET 'x'y\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET x 1\r\n",
    b"host: x\r\nPING\r\n",
    b"*1\r\n$4\r\nPOST\r\nPING\r\n",
    b"QUIT\r\nPING\r\n",
)
"""Input after which the connection is closed."""


@dataclass(frozen=True)
class Line:
    """`same_form`: the replies have the same form and may have different values."""

    words: tuple[str, ...]
    same_form: bool = False

    def __str__(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True)
class Reply:
    """`bytes`: all of it. `items`: the replies in it; empty if it is no aggregate."""

    bytes: bytes
    items: tuple["Reply", ...] = ()

    @property
    def form(self) -> bytes:
        """The kind of the reply and of each reply in it."""
        return bytes([self.bytes[0], *(item.bytes[0] for item in self.items)])


def read_lines(path: Path) -> list[Line]:
    lines = []
    for text in path.read_text().splitlines():
        words = tuple(shlex.split(text, comments=True))
        if words:
            same_form = words[0] == "~"
            lines.append(Line(words[1:] if same_form else words, same_form))
    return lines


def random_lines(seed: int, count: int) -> list[Line]:
    """Commands on a few keys, the same for the same seed. They begin with absent keys."""
    chooser = random.Random(seed)
    lines = [Line(("DEL", *KEYS), same_form=True)]
    for _ in range(count):
        name = chooser.choice(list(FORMS))
        words = [chooser.choice(KEYS if kind == "k" else VALUES) for kind in FORMS[name]]
        lines.append(Line((name, *words)))
    return lines


def compare(ours: str, redis: str, lines: Sequence[Line]) -> Counts:
    """The servers are at the addresses HOST:PORT. The keys in the lines are theirs to change.

    CannotDo when a server does not answer. Requires: `lines` is not empty.
    """
    counts = Counts()
    for version in ((), RESP3):
        for at_once in (False, True):
            answers = zip(
                _answers(ours, version, lines, at_once),
                _answers(redis, version, lines, at_once),
                strict=True,
            )
            for line, (our, their) in zip(lines, answers, strict=True):
                same = our.form == their.form if line.same_form else our.bytes == their.bytes
                shown = f"{'RESP3' if version else 'RESP2'}{', all at once' if at_once else ''}"
                problem = f"{line} ({shown}): {our.bytes!r}, and Redis {their.bytes!r}"
                counts.expect(same, problem)
    for data in MALFORMED:
        our, their = _until_end(ours, data), _until_end(redis, data)
        counts.expect(our == their, f"{data!r}: {our!r}, and Redis {their!r}")
    return counts


def ask(address: str, *words: str) -> Reply:
    """The reply to one command on a connection of its own. CannotDo when there is none."""
    return next(_answers(address, (), [Line(words)], at_once=False))


def version(redis: str) -> str:
    """Of the server at this address. CannotDo when it tells none."""
    found = re.search(rb"redis_version:(\d+[.\d]*)", ask(redis, "INFO", "server").bytes)
    if found is None:
        raise CannotDo(f"the server at {redis} tells no version")
    return found[1].decode()


def encode(words: Iterable[str]) -> bytes:
    """A command as a client library sends it."""
    parts = [word.encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)


def read_reply(stream: BinaryIO) -> Reply:
    """The next reply of a server. CannotDo when the stream ends before, or is no Redis's."""
    head = stream.readline()
    if not HEAD.fullmatch(head):
        raise CannotDo(f"a server's reply ends, or is malformed: {head[:80]!r}")
    if head[0] in AGGREGATES:
        count = max(0, int(head[1:])) * AGGREGATES[head[0]]
        items = tuple(read_reply(stream) for _ in range(count))
        return Reply(head + b"".join(item.bytes for item in items), items)
    if head[:1] in b"$=" and head != b"$-1\r\n":
        length = int(head[1:]) + 2
        body = stream.read(length)
        if len(body) != length:
            raise CannotDo(f"a server's reply ends in a string: {body[:80]!r}")
        return Reply(head + body)
    return Reply(head)


def _answers(
    address: str, version: Sequence[str], lines: Sequence[Line], at_once: bool
) -> Iterator[Reply]:
    """All on one connection. `at_once`: all lines are sent before any reply is read."""
    try:
        with _connected(address) as client, client.makefile("rb") as stream:
            if version:
                client.sendall(encode(version))
                read_reply(stream)
            if at_once:
                client.sendall(b"".join(encode(line.words) for line in lines))
            for line in lines:
                if not at_once:
                    client.sendall(encode(line.words))
                yield read_reply(stream)
    except OSError as error:
        raise CannotDo(f"the server at {address} does not answer: {error}") from error


def _until_end(address: str, data: bytes) -> bytes:
    try:
        with _connected(address) as client, client.makefile("rb") as stream:
            client.sendall(data)
            return stream.read()
    except OSError as error:
        return f"({error})".encode()


def _connected(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)
