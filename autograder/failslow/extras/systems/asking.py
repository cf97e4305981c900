"""Asks a replica a question of its system's file, and finds the value in the answer."""

import asyncio
import json
import re

from failslow.base import process
from failslow.extras.systems import client, words
from failslow.extras.systems.description import Question

ANSWER_S = 2.0
COMMAND_S = 10.0


def ask(question: Question, names: words.Names, number: int, count: int) -> str | None:
    """The value that replica `number` gives, as the question's words mean it. None if it does not
    answer, or the answer has none."""
    text = words.fill_all(question.text, names, number, count)
    at = words.fill(question.at, names, number, count)
    try:
        if question.way == "command":
            answer = _of_command(text)
        else:
            answer = asyncio.run(_of_replica(question.way, text[0], at))
    except client.FAILURES:
        return None
    value = found(question, answer)
    if value is None or question.contains not in value:
        return None
    return question.words.get(value) if question.words else value


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


async def _of_replica(way: str, text: str, at: str) -> str:
    if way == "http":
        at, _, path = text.removeprefix("http://").partition("/")
        text = f"GET /{path}"
    connection = client.Connection(at)
    answer = await connection.do({way: text}, ANSWER_S)
    connection.close()
    return answer


def _of_command(argv: list[str]) -> str:
    done = process.run(argv, timeout_s=COMMAND_S)
    if done.exit_code != 0:
        raise ValueError(done.how_it_ended())
    return done.output
