"""Measures the disk and the processors by themselves, because no counter of a replica shows
them."""

import json
import statistics
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from failslow import process
from failslow.bench import clocks
from failslow.bench.servers import CLIENT_CORE, REPLICA_CORE, REPLICAS, pinned
from failslow.calibration.fit import explain, growths
from failslow.calibration.load_run import ATTEMPTS, FOREIGN_MAX
from failslow.errors import CannotDo
from failslow.kit import Kit

BYTES = (256, 4096, 16_384, 65_536)
"""Of a batch. All but the smallest begin a block each."""
COMMON = 4096
"""The size of batches that are also measured with several processes at once."""
REPLACED = 1 << 20
"""Of a log that replaces another: larger than any other batch, and saying nothing of them."""
DISK_MS, WAKEUP_MS = 500, 500
SERIAL_FROM = 2.25
"""How many times longer three processes that sync at once take than one: 3 if they take turns,
and 1 to 1.5 if a journal commits for all of them."""
STRAGGLER = 4.0
"""A sync is a straggler if it takes this many times the median; the others make the typical
time."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Samples:
    """Batches of one kind. Nanoseconds; `asleep` has one for each, by process after process."""

    asleep: list[int]
    sleeps: float

    @property
    def time(self) -> float:
        """Asleep, typically."""
        return statistics.fmean(self.typical())

    def typical(self) -> list[int]:
        limit = STRAGGLER * statistics.median(self.asleep)
        return [each for each in self.asleep if each <= limit]

    def stragglers(self) -> list[int]:
        limit = STRAGGLER * statistics.median(self.asleep)
        return [each for each in self.asleep if each > limit]


@dataclass(frozen=True)
class Disk:
    """As sim::DiskModel: see profile.h."""

    sync_ns: int
    sync_spread_permille: int
    sync_tail_permille: int
    sync_tail_factor: int
    bytes_per_second: int
    parallel_batches: int
    waits_per_batch: int
    growth_ns: int
    directory_ns: int


@dataclass(frozen=True)
class Wakeup:
    """Beyond the processor time that both sides take; nanoseconds."""

    switch_ns: int
    wake_ns: int


def disk(kit: Kit) -> Disk:
    alone = {size: _undisturbed(lambda size=size: _batches(kit, 1, size)) for size in BYTES}
    together = _undisturbed(lambda: _batches(kit, REPLICAS, COMMON))
    replaced = _undisturbed(lambda: _batches(kit, 1, REPLACED, "replace"))
    return model(alone, together, replaced)


def model(alone: dict[int, Samples], together: Samples, replaced: Samples) -> Disk:
    """`alone`: of one process, by bytes. The other two: of COMMON and of REPLACED bytes."""
    times = {size: samples.time for size, samples in alone.items()}
    parts = {size: {"sync": 1.0, "growth": growths(1, size), "byte": size} for size in alone}
    costs = explain(list(parts.values()), list(times.values()), ["sync", "growth", "byte"]).costs
    sync, growth, per_byte = costs.values()
    relative, stragglers = [], []
    for samples in alone.values():
        time = samples.time
        relative += [each / time for each in samples.typical()]
        stragglers += [each / time for each in samples.stragglers()]
    company = together.time / alone[COMMON].time
    return Disk(
        sync_ns=round(sync),
        # Uniform within +-s has a standard deviation of s / sqrt(3).
        sync_spread_permille=min(1000, round(1000 * 3**0.5 * statistics.pstdev(relative))),
        sync_tail_permille=round(1000 * len(stragglers) / (len(stragglers) + len(relative))),
        sync_tail_factor=max(1, round(statistics.fmean(stragglers) - 1)) if stragglers else 1,
        bytes_per_second=round(1e9 / per_byte) if per_byte > 0 else 10**12,
        parallel_batches=REPLICAS if company < SERIAL_FROM else 1,
        waits_per_batch=max(1, round(statistics.fmean(each.sleeps for each in alone.values()))),
        growth_ns=round(growth),
        # The simulator adds this to the time of a batch of the same size.
        directory_ns=max(0, round(replaced.time - sync - growth - REPLACED * per_byte)),
    )


def wakeup(kit: Kit) -> Wakeup:
    switch = _undisturbed(lambda: _ping_pong(kit, REPLICA_CORE))
    wake = _undisturbed(lambda: _ping_pong(kit, CLIENT_CORE))
    return Wakeup(on_the_way(switch), on_the_way(wake))


def on_the_way(told: dict[str, Any]) -> int:
    """One way's time: half of a round trip without the processor time of both sides."""
    try:
        return max(0, round((told["mean_ns"] - told["cpu_ns"]) / 2))
    except (KeyError, TypeError) as error:
        raise CannotDo(f"calibrate_wakeup's output is malformed ({error!r})") from error


def _ping_pong(kit: Kit, other_core: str) -> dict[str, Any]:
    argv = [kit.binary("calibrate_wakeup"), REPLICA_CORE, other_core, str(WAKEUP_MS)]
    return _told(argv)


def _batches(kit: Kit, processes: int, size: int, what: str = "append") -> Samples:
    with tempfile.TemporaryDirectory(prefix="calibrate-", dir=kit.build) as name:
        program = [kit.binary("calibrate_disk"), what]
        argv = [
            pinned(REPLICA_CORE, [*program, Path(name) / str(each), str(size), str(DISK_MS)])
            for each in range(processes)
        ]
        with ThreadPoolExecutor(processes) as pool:
            told = list(pool.map(_told, argv))
    try:
        asleep = [each for process in told for each in process["asleep_ns"]]
        return Samples(
            asleep,
            sum(process["sleeps"] for process in told) / len(asleep),
        )
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise CannotDo(f"calibrate_disk's output is malformed ({error!r})") from error


def _told(argv: Sequence[str | Path]) -> dict[str, Any]:
    done = process.run(argv, timeout_s=60)
    if done.exit_code != 0:
        raise CannotDo(f"a calibration program failed: {done.how_it_ended()}", done.errors)
    try:
        return json.loads(done.output)
    except ValueError as error:
        raise CannotDo(f"the output of a calibration program is malformed ({error})") from error


def _undisturbed(measure: Callable[[], Result]) -> Result:
    """Measures again while other work takes the cores, and gives up after a few attempts."""
    for _ in range(ATTEMPTS):
        first, before = clocks.read([]), clocks.of_children()
        result = measure()
        last, after = clocks.read([]), clocks.of_children()
        foreign = clocks.busy(first, last) - (after - before) / (last.at - first.at)
        if foreign <= FOREIGN_MAX:
            return result
    raise busy_machine(foreign)


def busy_machine(foreign: float) -> CannotDo:
    return CannotDo(
        f"other work takes {foreign:.1f} of the two cores; calibrate while the machine is idle"
    )
