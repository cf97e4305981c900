"""JSON of results that are committed: one record a line, so that a change shows as its lines."""

import json
import math
from typing import Any

DIGITS = 5
"""A figure is good for these. More would change with each run."""


def text(document: Any) -> str:  # noqa: ANN401
    """A JSON document. Floats have DIGITS digits; an infinite one is null.

    Records are the objects of a list, and objects that hold no other. Other values have a line for
    each key.
    """
    return _laid_out(_short(document), "") + "\n"


def _laid_out(value: Any, indent: str) -> str:  # noqa: ANN401
    inner = indent + " "
    if _is_list_of_records(value):
        lines = [json.dumps(each, allow_nan=False) for each in value]
        return "[\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}]"
    if isinstance(value, dict) and any(_holds_objects(each) for each in value.values()):
        lines = [f"{json.dumps(key)}: {_laid_out(each, inner)}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}}}"
    return json.dumps(value, allow_nan=False)


def _is_list_of_records(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _holds_objects(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) or _is_list_of_records(value)


def _short(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(key): _short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    if isinstance(value, float):
        return None if math.isinf(value) else float(f"{value:.{DIGITS}g}")
    return value
