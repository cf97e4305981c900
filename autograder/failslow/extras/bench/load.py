"""Runs the load generator and reads its line of JSON."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench.servers import CLIENT_CORE, Servers, pinned

MEDIAN, P99 = 500, 990
"""Permilles, as percentiles are keyed."""


@dataclass(frozen=True)
class Load:
    """`clients` in a closed loop, or, if `rate` is given, `rate` puts a second in an open loop."""

    clients: int = 1
    rate: int | None = None
    value_bytes: int = 256

    def describe(self) -> str:
        if self.rate is not None:
            return f"{self.rate:,} puts/s offered"
        return f"{self.clients} client{'s' if self.clients > 1 else ''}"

    def flags(self) -> list[str]:
        load = ["--clients", self.clients] if self.rate is None else ["--rate", self.rate]
        return [str(word) for word in (*load, "--value-bytes", self.value_bytes)]


@dataclass(frozen=True)
class Result:
    """Latencies in microseconds."""

    puts_per_second: float
    mean: float
    percentiles: dict[int, float]
    client_cpu_share: float


def command(
    kit: Kit, servers: Servers, load: Load, warm_up_ms: int, window_ms: int
) -> list[str | Path]:
    """The load generator's, on the clients' core."""
    argv = ["--target", servers.target]
    argv += ["--replicas", ",".join(servers.clients), *load.flags()]
    argv += ["--warm-up-ms", str(warm_up_ms), "--window-ms", str(window_ms)]
    return pinned(CLIENT_CORE, [kit.binary("put_load"), *argv])


def run(
    kit: Kit, servers: Servers, load: Load, *, warm_up_ms: int = 1000, window_ms: int = 3000
) -> Result:
    """One measurement. CannotDo when it is lost: no leader, or another one."""
    timeout_s = 60 + (warm_up_ms + window_ms) / 1000
    done = process.run(command(kit, servers, load, warm_up_ms, window_ms), timeout_s=timeout_s)
    if done.exit_code != 0:
        raise CannotDo(f"the load on {servers.target} failed: {done.how_it_ended()}", done.errors)
    return parse(done.output)


def parse(text: str) -> Result:
    try:
        content = json.loads(text)
        percentiles = {int(permille): float(us) for permille, us in content["percentiles_us"]}
        if not {MEDIAN, P99} <= percentiles.keys():
            raise KeyError("percentiles_us")
        if content["leader_changes"]:
            raise CannotDo("the leader changed during the measurement")
        return Result(
            float(content["puts_per_second"]),
            float(content["mean_us"]),
            percentiles,
            float(content["client_cpu_share"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"put_load's output is malformed ({error!r})") from error


def median(results: Sequence[Result]) -> Result:
    """The median of each figure."""
    of = statistics.median
    return Result(
        of(result.puts_per_second for result in results),
        of(result.mean for result in results),
        {
            permille: of(result.percentiles[permille] for result in results)
            for permille in results[0].percentiles
        },
        of(result.client_cpu_share for result in results),
    )
