"""Failures of GoogleTest's assertions as sentences.

A test that says what went wrong needs no "Value of: ..., Actual: false, Expected: true". And a test
that waited for a replica in vain got kNobody, which GoogleTest prints as "-1 vs -1".
"""

import re
from collections.abc import Sequence

_PLACE = r"(?P<place>[^\n]*:\d+\n)"
_TRUTH = re.compile(
    rf"{_PLACE}Value of: [^\n]*\n  Actual: (?:true|false)\nExpected: (?:true|false)\n(?P<said>.+)",
    re.DOTALL,
)
_RESULT = re.compile(
    rf"{_PLACE}Value of: [^\n]*\n  Actual: false \((?P<why>.+)\)\nExpected: true(?P<said>.*)",
    re.DOTALL,
)
_NOBODY = re.compile(
    rf"{_PLACE}Expected: \((?P<what>[^\n]*)\) != \(kNobody\), actual: -1 vs -1(?P<said>.*)",
    re.DOTALL,
)
_INNER = "doesn't generate new fatal failures in the current thread.\n  Actual: it does."


def in_sentences(failures: Sequence[str]) -> tuple[str, ...]:
    """Without those that only say that others came before them."""
    telling = [failure for failure in failures if _INNER not in failure] or failures
    return tuple(in_a_sentence(failure) for failure in telling)


def in_a_sentence(failure: str) -> str:
    """The failure as it is, if its values tell something."""
    if found := _TRUTH.fullmatch(failure):
        return f"{found['place']}{found['said']}"
    if found := _RESULT.fullmatch(failure):
        return f"{found['place']}{found['why']}{found['said']}"
    if found := _NOBODY.fullmatch(failure):
        said = found["said"].strip()
        return f"{found['place']}{said or _in_vain(found['what'])}"
    return failure


def _in_vain(what: str) -> str:
    return f"There is no such replica: {what} gave nobody in time."
