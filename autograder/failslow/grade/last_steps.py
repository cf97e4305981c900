"""The steps of a history that explain a failure: "#12  1.204113 s  replica 2 leads term 3"."""

import re

STEP = re.compile(r"^(?=#\d+ )", re.M)
"""The begin of a step in a history. Lines below it without a number belong to it."""
BEFORE_DEATH = 10
_DIED = re.compile(r"^replica (\d+) died: (.*)$", re.M)


def of(history: str, count: int) -> str:
    return "".join(STEP.split(history)[-count:])


def before_death(failure: str, history: str) -> str:
    """The last steps up to the death that the failure tells of, with a title; "" if it tells of
    none. The last one has the time."""
    died = _DIED.search(failure)
    if not died:
        return ""
    # Its words are the student's: no pattern, and of any length.
    words = f" replica {died[1]} dies: {died[2]}\n"
    at = f"{history}\n".find(words)
    if at < 0:
        return ""
    steps = of(history[: at + len(words) - 1], BEFORE_DEATH)
    return f"The last steps up to its death:\n{steps}\n"
