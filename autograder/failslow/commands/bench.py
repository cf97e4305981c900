"""`kit bench`: speed of the simulator and of the core, each value against its bar."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from failslow import cmake, console, process
from failslow.errors import CannotDo
from failslow.kit import Kit
from failslow.report import FAILED, PASSED

SWITCH_RATIO_MAX = 2.0
"""A coroutine switch may cost this many bare Boost.Coroutine2 switches."""


@dataclass(frozen=True)
class Figure:
    """`bar` is a lower bound, or an upper one if `at_most`; None for information only."""

    name: str
    value: float
    unit: str
    bar: float | None
    at_most: bool = False

    @property
    def passed(self) -> bool:
        if self.bar is None:
            return True
        return self.value <= self.bar if self.at_most else self.value >= self.bar


def run(kit: Kit, which: str | None, as_json: bool) -> int:
    """0 when every value meets its bar, 1 otherwise."""
    cmake.build(kit)
    figures: list[Figure] = []
    if which in (None, "sim"):
        figures += parse_sim(_run(kit, "bench_sim"))
    if which in (None, "core"):
        figures += parse_core(_run(kit, "bench_core", "--benchmark_format=json"))
    if as_json:
        print(json.dumps([asdict(figure) | {"passed": figure.passed} for figure in figures]))
    else:
        console.stdout().print(_table(figures))
    return 0 if all(figure.passed for figure in figures) else 1


def parse_sim(text: str) -> list[Figure]:
    """bench_sim's JSON lines; CannotDo when there is none or one is malformed."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        figures = [
            Figure(line["name"], float(line["value"]), line["unit"], float(line["at_least"]))
            for line in lines
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"bench_sim's output is malformed ({error!r})") from error
    if not figures:
        raise CannotDo("bench_sim printed no figure")
    return figures


def parse_core(text: str) -> list[Figure]:
    """google-benchmark's JSON, and the ratio of our coroutine switch to Boost's."""
    try:
        times = {each["name"]: _nanoseconds(each) for each in json.loads(text)["benchmarks"]}
        ratio = times["coroutine_switch"] / times["boost_switch"]
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise CannotDo(f"bench_core's output is malformed ({error!r})") from error
    figures = [Figure(name, value, "ns", None) for name, value in times.items()]
    return [*figures, Figure("switch, ours to Boost's", ratio, "x", SWITCH_RATIO_MAX, at_most=True)]


def _nanoseconds(benchmark: dict[str, Any]) -> float:
    scale = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[benchmark["time_unit"]]
    return float(benchmark["cpu_time"]) * scale


def _run(kit: Kit, name: str, *arguments: str) -> str:
    binary = kit.binary(name)
    if not binary.is_file():
        raise CannotDo(f"{name} is missing from the kit's build")
    with console.progress(f"Running {name}"):
        done = process.run([binary, *arguments])
    if done.exit_code != 0:
        raise CannotDo(f"{name} failed ({done.how_it_ended()})", done.errors)
    return done.output


def _table(figures: list[Figure]) -> Table:
    table = Table(title="Benchmarks", title_justify="left")
    table.add_column("what")
    table.add_column("value", justify="right")
    table.add_column("bar", justify="right")
    table.add_column("verdict")
    for figure in figures:
        bar = "" if figure.bar is None else _bar(figure)
        verdict = "" if figure.bar is None else (PASSED if figure.passed else FAILED)
        table.add_row(figure.name, f"{_number(figure.value)} {figure.unit}", bar, verdict)
    return table


def _bar(figure: Figure) -> str:
    return f"{'at most' if figure.at_most else 'at least'} {_number(figure.bar or 0.0)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
