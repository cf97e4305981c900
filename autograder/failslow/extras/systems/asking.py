"""Asks a replica a question of its system's file, and finds the value in the answer."""

import json
import re
import socket
import urllib.request
from collections.abc import Sequence
from dataclasses import replace

from failslow.base import process
from failslow.extras.systems import words
from failslow.extras.systems.description import Question

ANSWER_S = 2.0
ANSWER_BYTES_MAX = 1 << 20


def ask(question: Question, names: words.Names, number: int, count: int) -> str | None:
    """The value that replica `number` gives, as the question's words mean it. None if it does not
    answer, or the answer has none."""
    text = words.fill_all(question.text, names, number, count)
    filled = replace(question, text=tuple(text), at=words.fill(question.at, names, number, count))
    try:
        answer = _answer(filled)
    except (OSError, ValueError):
        return None
    value = found(filled, answer)
    if value is None or filled.contains not in value:
        return None
    return filled.words.get(value) if filled.words else value


def found(question: Question, answer: str) -> str | None:
    """The value in the answer."""
    if question.find is None:
        return answer
    way, text = question.find
    if way == "match":
        match = re.search(text, answer, re.MULTILINE)
        return match[1] if match else None
    if way == "metric":
        lines = (line.split() for line in answer.splitlines() if line.startswith(text))
        return next((_plain(line[-1]) for line in lines if line[0].partition("{")[0] == text), None)
    try:
        value = json.loads(answer)
        for step in text.split("."):
            value = value[int(step) if isinstance(value, list) else step]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(number: str) -> str:
    """A metric's value: 1e+02 and 100.0 are 100."""
    try:
        value = float(number)
    except ValueError:
        return number
    return str(int(value)) if value.is_integer() else number


def _answer(question: Question) -> str:
    """OSError or ValueError if there is none."""
    (first, *_) = question.text
    if question.way == "http":
        with urllib.request.urlopen(first, timeout=ANSWER_S) as answer:
            content: bytes = answer.read(ANSWER_BYTES_MAX)
            return content.decode(errors="replace")
    if question.way == "command":
        return _of_command(question.text)
    host, _, port = question.at.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=ANSWER_S) as connection:
        connection.sendall(
            f"{first}\r\n".encode() if question.way == "redis" else f"{first}\n".encode()
        )
        with connection.makefile("rb") as lines:
            return _reply(lines) if question.way == "redis" else _line(lines.readline())


def _of_command(argv: Sequence[str]) -> str:
    done = process.run(argv, timeout_s=ANSWER_S * 5)
    if done.exit_code != 0:
        raise ValueError(done.how_it_ended())
    return done.output


def _line(line: bytes) -> str:
    if not line:
        raise ValueError("no answer")
    return line.decode(errors="replace").rstrip("\r\n")


def _reply(lines: socket.SocketIO) -> str:  # type: ignore[name-defined]
    """One reply of the Redis protocol, the parts of an array on lines of their own."""
    head = _line(lines.readline())
    kind, text = head[:1], head[1:]
    if kind == "-":
        raise ValueError(text)
    if kind == "$":
        return "" if text == "-1" else lines.read(int(text) + 2)[:-2].decode(errors="replace")
    if kind == "*":
        return "\n".join(_reply(lines) for _ in range(max(0, int(text))))
    return text
