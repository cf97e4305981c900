"""Words of a student, for a terminal, a page or a file: control characters are replaced.

A terminal obeys them, and marks of direction make a line look like another one.
"""

import re

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""All but tab and line feed, with the marks that turn the direction of text. Surrogates stand for
bytes that are no UTF-8, and can be written nowhere."""


def text(words: str) -> str:
    return _CONTROL.sub("?", words)


def line(words: str) -> str:
    return text(" ".join(words.split()))
