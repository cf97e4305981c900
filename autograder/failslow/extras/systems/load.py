"""Loads a foreign system and prints what put_load prints for ours (tools/load/main.cc).

    python -m failslow.extras.systems.load SPEC --rate N | --clients N --window-ms N ...

An operation that a replica does not answer, or refuses, is tried again at another: a change of the
leader ends no load, and costs what it costs a client. Or a command of the system's file does the
work, and prints a line for each operation or for many.
"""

import argparse
import asyncio
import base64
import ctypes
import json
import os
import random
import re
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from failslow.extras.systems.client import FAILURES, Connection
from failslow.extras.systems.placeholders import fill, fill_all

KEYS = 1000
AGAIN_S = 0.02
"""The wait before a replica is asked again."""
OUTSTANDING_MAX = 400
"""The proxy has two files for each connection, and its select() takes 1,024."""
_PR_SET_PDEATHSIG = 1
_UNITS = {"latency_us": 1, "latency_ms": 1e3, "latency_s": 1e6}


@dataclass(frozen=True)
class Spec:
    """`endpoints`: HOST:PORT of all replicas, that of the leader first. `spread`: each operation is
    for the next one; else all are for the first one that takes them. `works`: as in the system's
    file, by name. `read_share`: of the operations, if there is a "read". `here`: the directory of
    the system's file."""

    endpoints: list[str]
    spread: bool
    works: dict[str, dict[str, Any]]
    value_bytes: int
    read_share: float = 0.0
    here: str = ""


class Report:
    """The latencies of the operations that end in the window. `slice_s`: 0 for none."""

    def __init__(self, warm_up_s: float, window_s: float, slice_s: float) -> None:
        self.window_s, self.slice_s = window_s, slice_s
        self.from_s = time.monotonic() + warm_up_s
        self.to_s = self.from_s + window_s
        self.failed = 0
        self.last_failure = ""
        self.leader_changes = 0
        self._ended: list[tuple[float, int]] = []

    def add(self, end_s: float, latency_us: float) -> None:
        if self.from_s <= end_s < self.to_s:
            self._ended.append((end_s - self.from_s, round(latency_us)))

    def described(self) -> dict[str, Any]:
        slices: list[list[int]] = []
        if self.slice_s > 0:
            slices = [[] for _ in range(-int(-self.window_s // self.slice_s))]
            for at_s, latency in self._ended:
                slices[min(int(at_s / self.slice_s), len(slices) - 1)].append(latency)
        return {
            "committed": len(self._ended),
            "failed": self.failed,
            "last_failure": self.last_failure,
            "leader_changes": self.leader_changes,
            "puts_per_second": len(self._ended) / self.window_s,
            "window_began_ns": round(self.from_s * 1e9),
            "slices": slices,
        }


# ---- loops ----


class Clients:
    def __init__(self, spec: Spec, report: Report) -> None:
        self._spec = spec
        self._report = report
        self._at = 0
        self._served: str | None = None
        self._idle: dict[str, list[Connection]] = {each: [] for each in spec.endpoints}
        self._numbers = count()
        self._draws = random.Random(1)
        self._value = "v" * spec.value_bytes

    async def closed(self, clients: int) -> None:
        async def client() -> None:
            while (now := time.monotonic()) < self._report.to_s:
                await self._operation(now)

        await self._until_the_end([asyncio.ensure_future(client()) for _ in range(clients)])

    async def open(self, rate: int) -> None:
        """Arrivals are moved by up to half an interval, as in put_load. Latency counts from the
        time at which an operation was due."""
        began, running = time.monotonic(), set[asyncio.Future[None]]()
        for number in count():
            due = began + (number + self._draws.random() - 0.5) / rate
            if due >= self._report.to_s:
                break
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            running = {each for each in running if not each.done()}
            if len(running) < OUTSTANDING_MAX:
                running.add(asyncio.ensure_future(self._operation(due)))
            else:
                self._report.failed += 1
        await self._until_the_end(running)

    async def _until_the_end(
        self, running: "Sequence[asyncio.Future[None]] | set[asyncio.Future[None]]"
    ) -> None:
        """Drops operations that are under way at the window's end: they have not ended in it."""
        if running:
            await asyncio.wait(running, timeout=max(0.0, self._report.to_s - time.monotonic()))
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _operation(self, due: float) -> None:
        number = next(self._numbers)
        reads = "read" in self._spec.works and self._draws.random() < self._spec.read_share
        work = _filled(self._spec.works["read" if reads else "write"], number, self._value)
        at = number if self._spec.spread else self._at
        while time.monotonic() < self._report.to_s:
            endpoint = self._spec.endpoints[at % len(self._spec.endpoints)]
            idle = self._idle[endpoint]
            connection = idle.pop() if idle else Connection(endpoint)
            try:
                await connection.do(work)
            except FAILURES as error:
                self._report.failed += 1
                self._report.last_failure = str(error) or type(error).__name__
                if self._spec.spread:
                    at += 1
                else:  # the first that fails moves all
                    self._at += at == self._at
                    at = self._at
                await asyncio.sleep(AGAIN_S)
                continue
            idle.append(connection)
            if not self._spec.spread and endpoint != self._served:
                self._report.leader_changes += self._served is not None
                self._served = endpoint
            now = time.monotonic()
            self._report.add(now, (now - due) * 1e6)
            return


def _filled(work: Mapping[str, str], number: int, value: str) -> dict[str, str]:
    """With a key and a value in its texts. The pattern of an answer has no names."""
    names = {"key": f"key{number % KEYS}", "value": value}
    for name, text in [*names.items()]:
        names[f"{name}.base64"] = base64.b64encode(text.encode()).decode()
    return {
        way: text if way == "answer" else fill(text, lambda _: names, 0, 1)
        for way, text in work.items()
    }


# ---- a command that does the work ----


async def command(spec: Spec, report: Report, clients: int, rate: int) -> None:
    """Reads its lines until the window ends. ValueError if it ends before, or no line matches."""
    work = spec.works["read" if spec.read_share == 1 else "write"]
    pattern = re.compile(work["lines"])
    names = {
        "endpoint": spec.endpoints[0],
        "endpoints": ",".join(spec.endpoints),
        "rate": str(rate),
        "clients": str(clients),
        "seconds": str(int(report.to_s - time.monotonic()) + 1),
        "value_bytes": str(spec.value_bytes),
        "here": spec.here,
    }
    child = await asyncio.create_subprocess_exec(
        *fill_all(map(str, work["command"]), lambda _: names, 0, 1),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert child.stdout is not None
    matched, last, before = 0, b"", time.monotonic()
    try:
        while (left := report.to_s - time.monotonic()) > 0:
            line = await asyncio.wait_for(child.stdout.readline(), left)
            now = time.monotonic()
            if not line:
                break
            last = line.strip() or last
            if match := pattern.search(line.decode(errors="replace")):
                matched += 1
                add_line(report, match.groupdict(), before, now, max(1, clients))
                before = now
    except asyncio.TimeoutError:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
    if not matched:
        said = last.decode(errors="replace")
        raise ValueError(f"no line of {work['command'][0]} matches; its last one: {said}")


def add_line(
    report: Report, groups: Mapping[str, str | None], before: float, now: float, clients: int
) -> None:
    """One operation, or those that ended since the line before, spread evenly."""
    found = {name: float(value) for name, value in groups.items() if value is not None}
    latency = next((found[name] * unit for name, unit in _UNITS.items() if name in found), None)
    ended = int(found.get("ended", 1))
    for number in range(ended):
        end = before + (now - before) * (number + 1) / ended if "ended" in found else now
        usual = (now - before) * 1e6 * clients / ended
        report.add(min(end, now), usual if latency is None else latency)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--warm-up-ms", type=int, default=1000)
    parser.add_argument("--window-ms", type=int, default=5000)
    parser.add_argument("--slice-ms", type=int, default=0)
    options = parser.parse_args()
    spec = Spec(**json.loads(options.spec))
    times_ms = (options.warm_up_ms, options.window_ms, options.slice_ms)
    report = Report(*(each / 1e3 for each in times_ms))
    clients = Clients(spec, report)
    if "command" in spec.works["write"]:
        work = command(spec, report, options.clients, options.rate)
    else:
        work = clients.open(options.rate) if options.rate else clients.closed(options.clients)
    # The usual selector counts in milliseconds.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    asyncio.set_event_loop(loop)
    running = loop.create_task(work)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    try:
        loop.run_until_complete(running)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    except asyncio.CancelledError:
        return 1
    print(json.dumps(report.described()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
