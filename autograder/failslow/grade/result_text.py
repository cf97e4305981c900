"""results.json as text, within the platform's limits."""

import json
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
    """Leaves out what can be made again from the seeds, then what numbers say, too, then shortens
    texts, the longest first."""
    if len(as_text(content)) > CHARACTERS_MAX:
        content["extra_data"].pop("samples", None)
    if len(as_text(content)) > CHARACTERS_MAX:
        for test in content["tests"]:
            test["extra_data"].pop("trace_hash", None)
            test.pop("tags", None)
    longest = max(len(text) for test in content["tests"] for text in _texts(test))
    while len(as_text(content)) > CHARACTERS_MAX and longest > len(CUT):
        longest //= 2
        for test in content["tests"]:
            _shorten(test, longest)
    return content


def _texts(test: dict[str, Any]) -> tuple[str, str]:
    return test.get("output", ""), test["extra_data"].get("detail", "")


def _shorten(test: dict[str, Any], characters: int) -> None:
    for holder, name in ((test, "output"), (test["extra_data"], "detail")):
        if len(holder.get(name, "")) > characters + len(CUT):
            holder[name] = holder[name][:characters] + CUT
