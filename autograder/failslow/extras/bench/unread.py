"""The cost of clients that never read their answers to another client of the key-value store."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from failslow.base.errors import CannotDo
from failslow.extras.bench import redis_load
from failslow.extras.bench.figures import Figure
from failslow.extras.bench.redis_load import Commands
from failslow.extras.bench.servers import Servers

CLIENTS = 5
COMMANDS_OF_EACH = 1000
VALUE_BYTES = 1 << 20
P99_TIMES_AT_MOST = 2.0
OTHER = Commands("GET")
"""The commands of the client that reads: so redis-benchmark sends them by itself."""
REQUESTS = 300_000
KEY = "large"

TEXT = (
    f" In the end {CLIENTS} clients ask for {COMMANDS_OF_EACH:,} values of"
    f" {VALUE_BYTES >> 20} MiB each, and never read. Another client's 99th percentile is compared"
    " with and without them."
)


def measure(cluster: Servers, address: str) -> tuple[float, float]:
    """The 99th percentile of OTHER in milliseconds, alone and beside the clients that never read.

    CannotDo when redis-benchmark prints no latencies, or a connection breaks.
    """
    _set_large(address)
    _p99(cluster, address)  # warms up
    alone = _p99(cluster, address)
    with _never_reading(address):
        return alone, _p99(cluster, address)


def figures(rounds: list[tuple[float, float]]) -> list[Figure]:
    alone = statistics.median(each for each, _ in rounds)
    beside = statistics.median(each for _, each in rounds)
    name = f"{OTHER.describe()}, p99 beside {CLIENTS} clients that never read"
    return [
        Figure(f"{name}, to p99 alone", beside / alone, "x", P99_TIMES_AT_MOST, True),
        Figure(name, beside, "ms"),
    ]


def _p99(cluster: Servers, address: str) -> float:
    found = redis_load.run(cluster, address, OTHER, REQUESTS).p99
    if found is None:
        raise CannotDo("this redis-benchmark prints no latencies: use that of Redis 6.2 or later")
    return found


def _set_large(address: str) -> None:
    with redis_load.connect(address) as client:
        value = b"v" * VALUE_BYTES
        client.sendall(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n" % (len(KEY), KEY.encode()))
        client.sendall(b"$%d\r\n%s\r\n" % (len(value), value))
        if (answer := client.recv(64)) != b"+OK\r\n":
            raise CannotDo(f"a large value is not set: {answer!r}")


@contextmanager
def _never_reading(address: str) -> Iterator[None]:
    commands = f"GET {KEY}\r\n".encode() * COMMANDS_OF_EACH
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            stack.enter_context(redis_load.connect(address)).sendall(commands)
        yield
