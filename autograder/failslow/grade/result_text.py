"""results.json as text, within the platform's limits."""

import json
from collections.abc import Callable, Iterator
from typing import Any

CHARACTERS_MAX = 100_000
"""The platform takes no longer file."""

CUT = " ... (cut: the whole is too long)"


def as_text(content: dict[str, Any]) -> str:
    """A line for each test and for each other field: no longer than it must be."""
    fields = []
    for name, value in content.items():
        if name == "tests":
            rows = ",\n".join(map(_dumped, value))
            fields.append(f'"tests":[\n{rows}\n]')
        else:
            fields.append(f"{_dumped(name)}:{_dumped(value)}")
    return "{" + ",\n".join(fields) + "}\n"


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def fitting(content: dict[str, Any]) -> dict[str, Any]:
    """Leaves out what can be made again, until the text fits: raw samples first, then what concerns
    passed tests alone. Failures keep their words longest. A name that is cut begins alike."""
    for reduce in _REDUCTIONS:
        if len(as_text(content)) <= CHARACTERS_MAX:
            break
        reduce(content)
    return content


def _leave_out_samples(content: dict[str, Any]) -> None:
    content["extra_data"].pop("samples", None)


def _leave_out_hashes(content: dict[str, Any]) -> None:
    for test in content["tests"]:
        test["extra_data"].pop("trace_hash", None)
        test.pop("tags", None)


def _leave_out_data_of_passed_tests(content: dict[str, Any]) -> None:
    for test in content["tests"]:
        if test.get("status") == "passed":
            test["extra_data"] = {}


def _leave_out_figures(content: dict[str, Any]) -> None:
    for name in ("runs", "strengths", "capacity"):
        content["extra_data"].pop(name, None)


def _shorten_texts_to(least: int) -> Callable[[dict[str, Any]], None]:
    """Halves the longest texts, down to `least` characters, until the whole fits."""

    def shorten(content: dict[str, Any]) -> None:
        holders = [*_texts(content)]
        longest = max((len(holder[name]) for holder, name in holders), default=0)
        while len(as_text(content)) > CHARACTERS_MAX and longest > least:
            longest = max(longest // 2, least)
            for holder, name in holders:
                if len(holder[name]) > longest + len(CUT):
                    holder[name] = holder[name][:longest] + CUT

    return shorten


def _shorten_names_to(most: int) -> Callable[[dict[str, Any]], None]:
    def shorten(content: dict[str, Any]) -> None:
        for test in content["tests"]:
            if len(test["name"]) > most:
                test["name"] = test["name"][: most - 3] + "..."

    return shorten


def _leave_out_all_data(content: dict[str, Any]) -> None:
    silent = content["extra_data"].get("without_verdict", {})
    content["extra_data"]["without_verdict"] = {str(n): "" for n in range(len(silent))}
    for test in content["tests"]:
        test["extra_data"] = {}


def _leave_out_texts(content: dict[str, Any]) -> None:
    for test in content["tests"]:
        test.pop("output", None)


_REDUCTIONS = (
    _leave_out_samples,
    _leave_out_hashes,
    _leave_out_data_of_passed_tests,
    _leave_out_figures,
    _shorten_texts_to(800),
    _shorten_names_to(100),
    _shorten_texts_to(100),
    _shorten_names_to(60),
    _leave_out_all_data,
    _shorten_texts_to(len(CUT)),
    _shorten_names_to(30),
    _leave_out_texts,
)


def _texts(content: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The holder and the name of each text that may be cut."""
    yield content, "output"
    for test in content["tests"]:
        yield from ((test, "output"),) if "output" in test else ()
        yield from ((test["extra_data"], "detail"),) if "detail" in test["extra_data"] else ()
