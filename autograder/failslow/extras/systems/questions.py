"""Asks a replica a question of its system's file, and finds the value in the answer."""

import asyncio
import re

from failslow.base import process
from failslow.extras.cluster.ports import HOST
from failslow.extras.systems import client, placeholders
from failslow.extras.systems.description import Question

ANSWER_S = 2.0
COMMAND_S = 10.0


def ask(question: Question, names: placeholders.Names, number: int, count: int) -> str | None:
    """The value that replica `number` gives, as the question's words mean it. None if it does not
    answer, or the answer has none."""
    text = placeholders.fill_all(question.text, names, number, count)
    at = placeholders.fill(question.at, names, number, count)
    try:
        if question.way == "command":
            answer = _of_command(text)
        else:
            answer = asyncio.run(_of_replica(question.way, text[0], at))
    except client.FAILURES:
        return None
    if question.match:
        match = re.search(question.match, answer, re.MULTILINE)
        if match is None:
            return None
        answer = match[1]
    return question.words.get(answer) if question.words else answer


async def _of_replica(way: str, text: str, at: str) -> str:
    if way == "http":
        at, _, path = text.removeprefix("http://").partition("/")
        text = f"GET /{path}"
    connection = client.Connection(at, HOST)  # Redis refuses all other addresses
    answer = await connection.do({way: text}, ANSWER_S)
    connection.close()
    return answer


def _of_command(argv: list[str]) -> str:
    done = process.run(argv, timeout_s=COMMAND_S)
    if done.exit_code != 0:
        raise ValueError(done.how_it_ended())
    return done.output
