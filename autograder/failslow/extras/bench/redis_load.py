"""Runs redis-benchmark and reads its table."""

import csv
import math
import shutil
import socket
import statistics
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.extras.bench import clocks
from failslow.extras.bench.servers import CLIENT_CORE, Servers, pinned
from failslow.extras.shared import waiting

CLIENTS = 50
TIMEOUT_S = 120.0
"""It never ends by itself when the server is lost."""

READY_S = 10.0

COLUMNS = ("test", "rps")
"""The columns of a redis-benchmark before 6.2, which prints no header and no latencies."""


@dataclass(frozen=True)
class Commands:
    """`name`: SET or GET. `pipeline`: how many each client sends before it waits for replies.

    Keys and values are redis-benchmark's own if not given: one key, and 3 bytes.
    """

    name: str
    pipeline: int = 1
    keys: int = 1
    value_bytes: int = 3

    def describe(self) -> str:
        data = "" if self.keys == 1 else f", {self.keys:,} keys"
        return self.name + ("" if self.pipeline == 1 else f", {self.pipeline} at once") + data

    def flags(self) -> list[str]:
        keys = ["-r", str(self.keys)] if self.keys > 1 else []
        pipeline = ["-P", str(self.pipeline)]
        return ["-t", self.name.lower(), *pipeline, "-d", str(self.value_bytes), *keys]


@dataclass(frozen=True)
class Result:
    """Latencies in milliseconds; None if redis-benchmark prints none. Shares are of a core.

    `other_share`: the other work of the two cores, the kernel's for disk and network included.
    """

    per_second: float
    median: float | None
    p99: float | None
    client_share: float
    server_share: float
    other_share: float


def program() -> str:
    """CannotDo when it is not installed."""
    if found := shutil.which("redis-benchmark"):
        return found
    raise CannotDo("redis-benchmark is missing: install the package redis-tools")


def connect(address: str) -> socket.socket:
    """Waits for READY_S at most, here and later."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), READY_S)


def await_answer(address: str) -> None:
    """Returns once the server there answers a PING. CannotDo if none does in time."""

    def answers() -> bool:
        with suppress(OSError), connect(address) as client:
            client.sendall(b"PING\r\n")
            return client.recv(64) == b"+PONG\r\n"
        return False

    if not waiting.until(answers, READY_S):
        raise CannotDo(f"no server answers Redis clients at {address}")


def run(servers: Servers, address: str, commands: Commands, requests: int) -> Result:
    """Sends `requests` requests to one of `servers`. CannotDo when the measurement is lost."""
    host, _, port = address.rpartition(":")
    argv = [program(), "-h", host, "-p", port, "-c", str(CLIENTS), "-n", str(requests), "--csv"]
    argv += commands.flags()
    first, client_s = clocks.read(servers.processes), clocks.of_children()
    done = process.run(pinned(CLIENT_CORE, argv), timeout_s=TIMEOUT_S)
    last, client_s = clocks.read(servers.processes), clocks.of_children() - client_s
    if done.exit_code != 0:
        raise CannotDo(f"redis-benchmark failed: {done.how_it_ended()}", done.errors)
    row = parse(done.output, commands.name)
    client = client_s / (last.at - first.at)
    server = clocks.used_by_processes(first, last)
    return Result(
        row["rps"],
        row.get("p50_latency_ms"),
        row.get("p99_latency_ms"),
        client,
        server,
        max(0.0, clocks.busy(first, last) - client - server),
    )


def parse(text: str, name: str) -> dict[str, float]:
    """The row of the table for the command, by column. CannotDo if the output is no such table."""
    rows = list(csv.reader(text.splitlines()))
    columns = rows[0] if rows and rows[0][:1] == [COLUMNS[0]] else list(COLUMNS)
    for row in rows:
        if row[:1] == [name]:
            return _numbers(columns[1:], row[1:])
    raise CannotDo(f"redis-benchmark says nothing about {name}", text)


def _numbers(columns: Sequence[str], cells: Sequence[str]) -> dict[str, float]:
    try:
        numbers = {name: float(cell) for name, cell in zip(columns, cells, strict=True)}
    except ValueError as error:
        raise CannotDo(f"redis-benchmark's output is malformed ({error})") from error
    if not (numbers.get("rps", 0.0) > 0 and all(map(math.isfinite, numbers.values()))):
        raise CannotDo(f"redis-benchmark's output is malformed: {','.join(cells)}")
    return numbers


def median(results: Sequence[Result]) -> Result:
    """The median of each figure."""
    return Result(
        statistics.median(each.per_second for each in results),
        _median_if_told([each.median for each in results]),
        _median_if_told([each.p99 for each in results]),
        statistics.median(each.client_share for each in results),
        statistics.median(each.server_share for each in results),
        statistics.median(each.other_share for each in results),
    )


def _median_if_told(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return statistics.median(told) if told else None
