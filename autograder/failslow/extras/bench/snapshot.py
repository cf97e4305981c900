"""`kit bench snapshot`: what a snapshot that a replica takes costs the commands meanwhile.

An open loop of puts runs on a large state. Its time is divided into slices. A slice counts as one
with a snapshot if some replica takes one in it, and as one without if no replica does.
"""

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import load, servers
from failslow.extras.bench.figures import Figure, Section
from failslow.extras.bench.load import Load

SLICE_MS = 100
VALUE_BYTES = 256

NEW_SNAPSHOT = "raft.snapshot.new"
POLL_S = 0.002
AROUND_S = 0.5
"""Before the file is made, a replica may encode its state. After it has its name, the old files are
freed."""

P99_TIMES_AT_MOST = 2.0

TEXT = (
    "Three replicas of the store on the tuned Raft share the first core, the load generator has"
    " the second; everything is on this machine's disk. An open loop of puts, with values of"
    f" {VALUE_BYTES} bytes, changes all keys in turn. A slice of"
    f" {SLICE_MS} ms counts as one with a snapshot while the new file is there, and for"
    f" {AROUND_S:g} s before and after. A replica may encode before, and frees old files after."
)


@dataclass(frozen=True)
class State:
    """The load: `rate` puts a second. The window has about four snapshots of each replica."""

    keys: int
    rate: int
    window_s: int


STATES = (State(100_000, 10_000, 100), State(500_000, 20_000, 200))


@dataclass
class Snapshots:
    """When there was a new snapshot file on some replica: begin and end, on CLOCK_MONOTONIC."""

    times: list[tuple[float, float]] = field(default_factory=list)

    def overlap(self, begin: float, end: float) -> bool:
        return any(first - AROUND_S < end and begin < last + AROUND_S for first, last in self.times)


def run(kit: Kit) -> Section:
    servers.check_cores()
    cmake.build(kit, targets=["put_load"])
    figures = []
    with console.progress("Measuring") as advance:
        for done, state in enumerate(STATES):
            advance(done, len(STATES), f"{state.keys:,} keys")
            figures += _measured(kit, state)
    return Section("snapshot", "Commands while a snapshot is taken", TEXT, figures)


def _measured(kit: Kit, state: State) -> list[Figure]:
    filled_s = state.keys // state.rate + 1
    with servers.kv(kit) as cluster, _watched(cluster.data) as snapshots:
        puts = Load(rate=state.rate, value_bytes=VALUE_BYTES)
        argv = load.command(kit, cluster, puts, 1000 * filled_s, 1000 * state.window_s)
        argv += ["--keys", str(state.keys), "--slice-ms", str(SLICE_MS)]
        timeout = filled_s + state.window_s + 60
        # Its output is longer than process.run keeps.
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=timeout)
        peak = max(map(_peak_mib, cluster.processes))
    if done.returncode != 0:
        raise CannotDo(f"the load on {state.keys:,} keys failed", done.stderr)
    told = json.loads(done.stdout)
    began = told["window_began_ns"] / 1e9
    return figures_of(f"{state.keys:,} keys", began, told["slices"], snapshots, peak)


@contextmanager
def _watched(directories: Sequence[Path]) -> Iterator[Snapshots]:
    """Notes the snapshots that are written there while the block runs."""
    found, over = Snapshots(), threading.Event()

    def watch() -> None:
        begun: dict[Path, float] = {}
        while not over.wait(POLL_S):
            now = time.monotonic()
            for each in directories:
                if (each / NEW_SNAPSHOT).exists():
                    begun.setdefault(each, now)
                elif (begin := begun.pop(each, None)) is not None:
                    found.times.append((begin, now))
        found.times += [(begin, time.monotonic()) for begin in begun.values()]

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def _peak_mib(process: int) -> float:
    """The most memory that the process has had."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise CannotDo(f"the kernel does not say how much memory process {process} has had")


def figures_of(
    name: str, began: float, slices: Sequence[Sequence[int]], snapshots: Snapshots, peak: float
) -> list[Figure]:
    """`slices`: the latencies in us of the puts that ended in each, from `began` on.

    CannotDo when there is nothing to compare.
    """
    apart: dict[bool, list[int]] = {True: [], False: []}
    for number, latencies in enumerate(slices):
        begin = began + number * SLICE_MS / 1000
        apart[snapshots.overlap(begin, begin + SLICE_MS / 1000)] += latencies
    during, otherwise = sorted(apart[True]), sorted(apart[False])
    if not during or not otherwise:
        lacks = "without" if during else "with"
        raise CannotDo(f"{name}: no put ended at a time {lacks} a snapshot")
    times = [last - first for first, last in snapshots.times if began < last]
    share = 100 * len(during) / (len(during) + len(otherwise))
    ratio = _p99(during) / _p99(otherwise)
    return [
        Figure(f"{name}: p99 during snapshots to p99", ratio, "x", P99_TIMES_AT_MOST, True),
        Figure(f"{name}: p99 during snapshots", _p99(during) / 1000, "ms"),
        Figure(f"{name}: p99 otherwise", _p99(otherwise) / 1000, "ms"),
        Figure(f"{name}: longest during snapshots", during[-1] / 1000, "ms"),
        Figure(f"{name}: longest otherwise", otherwise[-1] / 1000, "ms"),
        Figure(f"{name}: median during snapshots", during[len(during) // 2] / 1000, "ms"),
        Figure(f"{name}: median otherwise", otherwise[len(otherwise) // 2] / 1000, "ms"),
        Figure(f"{name}: puts that ended during snapshots", share, "%"),
        Figure(f"{name}: snapshots", len(times), ""),
        Figure(f"{name}: the longest took", max(times, default=0.0), "s"),
        Figure(f"{name}: the most memory of a replica", peak, "MiB"),
    ]


def _p99(latencies: Sequence[int]) -> int:
    return latencies[len(latencies) * 99 // 100]
