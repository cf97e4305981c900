"""Runs the benchmark programs of the kit's build and reads their output."""

import json
from typing import Any

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit

NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def run(kit: Kit, name: str, *arguments: str) -> str:
    """The program's output; CannotDo when it is missing or fails."""
    binary = kit.binary(name)
    if not binary.is_file():
        raise CannotDo(f"{name} is missing from the kit's build")
    with console.progress(f"Running {name}"):
        done = process.run([binary, *arguments])
    if done.exit_code != 0:
        raise CannotDo(f"{name} failed ({done.how_it_ended()})", done.errors)
    return done.output


def google_times(name: str, text: str, clock: str) -> dict[str, float]:
    """google-benchmark's JSON as nanoseconds an iteration; `clock` is real_time or cpu_time.

    CannotDo when it is malformed, or when one of the benchmarks reports an error.
    """
    try:
        times = {}
        for each in json.loads(text)["benchmarks"]:
            if each.get("error_occurred"):
                raise CannotDo(f"{name}: {each['name']} failed: {each.get('error_message')}")
            times[each["name"].removesuffix("/real_time")] = _nanoseconds(each, clock)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotDo(f"{name}'s output is malformed ({error!r})") from error
    return times


def _nanoseconds(each: dict[str, Any], clock: str) -> float:
    return float(each[clock]) * NANOSECONDS[each["time_unit"]]
