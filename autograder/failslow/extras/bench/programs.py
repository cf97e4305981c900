"""Runs the benchmark programs of the kit's build and reads their output."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from failslow.base import console, parallel, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.lab.mutants import variants_of

NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
TIMEOUT_S = 1800.0
"""The most that a run takes on a slow machine."""

Json = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Run:
    """One run of a program. `environment`: names and values, beyond those of this process."""

    name: str
    program: str
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


def build(kit: Kit, programs: Sequence[str], variants_of_lab: str | None = None) -> None:
    """`variants_of_lab`: some are variants of its reference. CannotDo in a student's kit, then."""
    if variants_of_lab and not variants_of(kit, variants_of_lab):
        raise CannotDo(
            f"this kit has no variants of {variants_of_lab}'s reference: courses keep them"
        )
    cmake.build(kit, targets=sorted(set(programs)))


def in_turn(what: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, while the terminal shows how many are done."""
    with console.progress(what) as advance:
        for done, item in enumerate(items):
            advance(done, len(items), "runs")
            yield item


def outputs(kit: Kit, what: str, runs: Sequence[Run]) -> list[str]:
    """The output of each run; they run side by side. CannotDo when one fails. `what`: words for the
    terminal meanwhile."""
    with console.progress(what) as advance:
        return parallel.run_all(
            runs, lambda each: _output(kit, each), advance, lambda each: each.name
        )


def lines(kit: Kit, what: str, runs: Sequence[Run]) -> list[list[Json]]:
    """The objects of programs that print JSON, one a line. CannotDo for other lines."""
    found = []
    for each, output in zip(runs, outputs(kit, what, runs), strict=True):
        try:
            found.append([json.loads(line) for line in output.splitlines()])
        except ValueError as error:
            raise CannotDo(f"{each.name}: no result: {error}") from error
    return found


def _output(kit: Kit, each: Run) -> str:
    argv: list[str | Path] = [kit.binary(each.program), *each.words]
    done = process.run(argv, env=dict(each.environment), timeout_s=TIMEOUT_S)
    if done.exit_code != 0:
        reason = done.errors.strip() or done.how_it_ended()
        raise CannotDo(f"{each.name}: no result: {reason}", done.output)
    return done.output


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
            times[each["name"].removesuffix("/real_time")] = (
                float(each[clock]) * NANOSECONDS[each["time_unit"]]
            )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotDo(f"{name}'s output is malformed ({error!r})") from error
    return times
