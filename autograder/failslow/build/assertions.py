"""Failures of GoogleTest's assertions as sentences.

GoogleTest writes "Value of: ..., Actual: false, Expected: true", which asks for a second reading. A
test that says what went wrong needs no more than that, or that and the two values that differ. And
a test that waited for a replica in vain got kNobody, which GoogleTest prints as "-1 vs -1".
"""

import re
from collections.abc import Sequence

_PLACE = re.compile(r"[^\n]*:\d+\n")
_TRUTH = re.compile(
    r"Value of: (?P<what>[^\n]*)\n  Actual: (?P<got>true|false)\nExpected: (?P<wanted>true|false)"
    r"(?P<said>.*)",
    re.DOTALL,
)
_RESULT = re.compile(
    r"Value of: [^\n]*\n  Actual: false \((?P<why>.+)\)\nExpected: true(?P<said>.*)", re.DOTALL
)
_NOBODY = re.compile(
    r"Expected: \((?P<what>[^\n]*)\) != \(kNobody\), actual: -1 vs -1(?P<said>.*)", re.DOTALL
)
_EQUALITY = re.compile(
    r"Expected equality of these values:\n  (?P<what>\S[^\n]*)(?:\n    Which is: (?P<got>[^\n]*))?"
    r"\n  (?P<limit>\S[^\n]*)(?:\n    Which is: (?P<wanted>[^\n]*))?(?P<said>.*)",
    re.DOTALL,
)
_COMPARISON = re.compile(
    r"Expected: \((?P<what>[^\n]*)\) (?P<relation>[<>!]=?) \((?P<limit>[^\n]*)\), "
    r"actual: (?P<got>[^\n]*?) vs (?P<wanted>[^\n]*)(?P<said>.*)",
    re.DOTALL,
)
_FUNCTION = "[&]"
_FAILED = "Failed\n"
_TRACE = "\nGoogle Test trace:\n"
ELSEWHERE = "the end of this report says why"
"""A test's words about a violated invariant that it asked for: a later failure has the sentence."""
_INNER = "doesn't generate new fatal failures in the current thread.\n  Actual: it does."

_RELATIONS = {
    "!=": "other than ",
    "<": "less than ",
    "<=": "at most ",
    ">": "more than ",
    ">=": "at least ",
}
_BYTES = re.compile(r"\d+-byte object <[^>]*>")
_FOR_EVER = 2**63 - 1
_NANOSECONDS = re.compile(r"\b(\d{1,19})ns\b")
_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))


def in_sentences(failures: Sequence[str]) -> tuple[str, ...]:
    """Without those that only say that there are others."""
    told = [in_a_sentence(failure) for failure in failures]
    return tuple([each for each in told if not _is_hint(each)] or told)


def _is_hint(failure: str) -> bool:
    return _INNER in failure or without_place(failure).partition(_TRACE)[0] == ELSEWHERE


def without_place(failure: str) -> str:
    found = _PLACE.match(failure)
    return failure[found.end() :] if found else failure


def in_a_sentence(failure: str) -> str:
    """The failure as it is, if no assertion of GoogleTest's wrote it. It may begin with a place."""
    text = without_place(failure)
    place = failure.removesuffix(text)
    if text.startswith(_FAILED):
        return place + text.removeprefix(_FAILED)
    if found := _RESULT.fullmatch(text):
        return f"{place}{found['why']}{found['said']}"
    if found := _TRUTH.fullmatch(text):
        return place + _with_values(found["said"], f"{found['what']} is {found['got']}.")
    if found := _NOBODY.fullmatch(text):
        why = f"There is no such replica: {found['what']} gave nobody in time."
        words, trace, places = found["said"].partition(_TRACE)
        return place + (words.strip("\n") or why) + trace + places
    if found := _EQUALITY.fullmatch(text):
        return place + _with_values(found["said"], _values(found, relation=""))
    if found := _COMPARISON.fullmatch(text):
        return place + _with_values(found["said"], _values(found, _RELATIONS[found["relation"]]))
    return failure


def _with_values(said: str, values: str) -> str:
    """The words of the test, below them the values, and last the trace. A long function that the
    test waits for says nothing beside words."""
    words, trace, places = said.partition(_TRACE)
    told = words.strip("\n")
    if told and _FUNCTION in values:
        return told + trace + places
    return (f"{told}\n  {values}" if told else values) + trace + places


def _values(found: "re.Match[str]", relation: str) -> str:
    what, limit = found["what"], found["limit"]
    got, wanted = _in_units(found["got"] or what), _in_units(found["wanted"] or limit)
    if _BYTES.search(got + wanted):  # GoogleTest has no words for them
        return f"{what} must be {relation}{limit}."
    if limit == "kNobody":
        wanted = "nobody"
    is_plain = wanted in limit or wanted == "nobody" or limit.endswith(")")
    must = f"must be {relation}{wanted}" + ("" if is_plain else f" ({limit})")
    return f"{what} {must}." if got == what else f"{what} is {got}, and {must}."


def _in_units(value: str) -> str:
    """Durations in the largest unit that leaves a whole part."""
    return _NANOSECONDS.sub(lambda found: _duration(int(found[1])), value)


def _duration(nanoseconds: int) -> str:
    if nanoseconds == _FOR_EVER:
        return "for ever"
    for size, unit in _UNITS:
        if nanoseconds >= size:
            return f"{nanoseconds / size:.10g} {unit}"
    return f"{nanoseconds} ns"
