"""`kit bench rpc`: remote procedure calls between two processes on the loopback."""

import re

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import programs
from failslow.extras.bench.figures import Figure, Plot, Section

OUTSTANDING = (1, 16, 128)
CORES = (1, 2)
BUSY_AT_LEAST = 300_000.0
"""Calls a second with 128 outstanding."""
ALONE_AT_LEAST = 30_000.0
"""Calls a second with one outstanding. The kernel's own ping-pong is the bar if it is slower."""

NAME = re.compile(r"(rpc/outstanding:(?P<outstanding>\d+)|kernel_ping_pong)/cores:(?P<cores>\d+)")
TEXT = (
    "A request of 100 bytes and as many back, between two processes that each run a whole replica:"
    " encoded, sent over TCP, served by a coroutine, waited for by another. The two share a core or"
    " have one each. The kernel's ping-pong is the same exchange with blocking sockets and nothing"
    " else; with a core each, nearly all of it is waking the other core up."
)


def run(kit: Kit) -> Section:
    cmake.build(kit, targets=["bench_rpc"])
    text = programs.run(kit, "bench_rpc", "--benchmark_format=json")
    rates = parse(programs.google_times("bench_rpc", text, "real_time"))
    return Section("rpc", "RPC on the loopback", TEXT, figures(rates), [_plot(rates)])


Rates = dict[tuple[int, int], float]
"""Calls a second by (outstanding calls, cores); 0 outstanding is the kernel's ping-pong."""


def parse(times: dict[str, float]) -> Rates:
    """CannotDo when a benchmark is missing."""
    rates: Rates = {}
    for name, nanoseconds in times.items():
        if (match := NAME.fullmatch(name)) and nanoseconds > 0:
            key = (int(match["outstanding"] or 0), int(match["cores"]))
            rates[key] = 1e9 / nanoseconds
    for key in [(count, cores) for count in (0, *OUTSTANDING) for cores in CORES]:
        if key not in rates:
            raise CannotDo(f"bench_rpc does not tell of {key[0]} outstanding on {key[1]} cores")
    return rates


def figures(rates: Rates) -> list[Figure]:
    result = []
    for cores in CORES:
        where = "one core for both" if cores == 1 else "a core each"
        kernel = rates[0, cores]
        result.append(Figure(f"kernel's ping-pong, {where}", kernel, "/s"))
        for count in OUTSTANDING:
            bar = BUSY_AT_LEAST if count == 128 else None
            if count == 1 and cores == 1:
                bar = min(ALONE_AT_LEAST, kernel)
            result.append(
                Figure(f"calls, {count} outstanding, {where}", rates[count, cores], "/s", bar)
            )
    share = rates[1, 2] / rates[0, 2]
    return [*result, Figure("1 outstanding to the kernel's ping-pong, a core each", share, "x")]


def _plot(rates: Rates) -> Plot:
    labels = ["kernel's ping-pong", *(f"{count} outstanding" for count in OUTSTANDING)]
    series = {
        f"{cores} core{'s' if cores > 1 else ''}": [
            rates[count, cores] for count in (0, *OUTSTANDING)
        ]
        for cores in CORES
    }
    return Plot("Calls in a second", "per second", labels, series)
