"""Runs the load generator and reads its line of JSON."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from failslow import process
from failslow.bench.servers import CLIENT_CORE, Servers, pinned
from failslow.errors import CannotDo
from failslow.kit import Kit

MEDIAN, P99 = 500, 990
"""Permilles, as percentiles are keyed."""


@dataclass(frozen=True)
class Load:
    """`clients` in a closed loop, or, if `rate` is given, `rate` puts a second in an open loop."""

    clients: int = 1
    rate: int | None = None

    def describe(self) -> str:
        if self.rate is not None:
            return f"{self.rate:,} puts/s offered"
        return f"{self.clients} client{'s' if self.clients > 1 else ''}"


@dataclass(frozen=True)
class Result:
    """Latencies in microseconds."""

    puts_per_second: float
    mean: float
    percentiles: dict[int, float]
    failed: int
    client_cpu_share: float


def run(
    kit: Kit,
    servers: Servers,
    load: Load,
    *,
    value_bytes: int = 256,
    warm_up_ms: int = 1000,
    window_ms: int = 3000,
) -> Result:
    """One measurement. CannotDo when it is lost: no leader, a connection that broke."""
    how = ["--rate", str(load.rate)] if load.rate is not None else ["--clients", str(load.clients)]
    argv = [kit.binary("put_load"), "--target", servers.target]
    argv += ["--replicas", ",".join(servers.clients), *how, "--value-bytes", str(value_bytes)]
    argv += ["--warm-up-ms", str(warm_up_ms), "--window-ms", str(window_ms)]
    done = process.run(pinned(CLIENT_CORE, argv), timeout_s=60)
    if done.exit_code != 0:
        raise CannotDo(f"the load on {servers.target} failed: {done.how_it_ended()}", done.errors)
    return parse(done.output)


def parse(text: str) -> Result:
    try:
        content = json.loads(text)
        return Result(
            float(content["puts_per_second"]),
            float(content["mean_us"]),
            {int(permille): float(value) for permille, value in content["percentiles_us"]},
            int(content["failed"]),
            float(content["client_cpu_share"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"put_load's output is malformed ({error!r})") from error


def median(results: Sequence[Result]) -> Result:
    """Of each figure the median, and all that failed."""
    of = statistics.median
    return Result(
        of(result.puts_per_second for result in results),
        of(result.mean for result in results),
        {
            permille: of(result.percentiles[permille] for result in results)
            for permille in results[0].percentiles
        },
        sum(result.failed for result in results),
        of(result.client_cpu_share for result in results),
    )
