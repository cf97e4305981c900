"""The knowledge of lab 5 alone: see failslow/extras/lab_kits.py.

`kit bench copilot`: the reference Copilot on real sockets beside Raft, and with a replica that
stops. A long check: lab 3's store on this log stays linearizable with many seeds.
"""

import json
import os
import signal
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from failslow.extras.for_labs import CannotDo, Kit, figures, load, programs, servers

Figure = figures.Figure
Start = Callable[[Kit], AbstractContextManager[servers.Servers]]

CLIENTS = 190
"""Clients of document 002, section 6.3."""
ROUNDS = 3
"""Rounds of every measurement, systems in turn; the median counts."""

TO_RAFT_AT_LEAST = 0.4
PUTS_AT_LEAST = 70_000
PILOT_COST_AT_MOST, PILOT_SECOND_AT_LEAST = 10, 50
FOLLOWER_COST_AT_MOST, FOLLOWER_MEAN_AT_MOST, FOLLOWER_P99_AT_MOST = 5, 15, 30
"""Per cent. Document 002 has 10, 9 and 30 for a follower."""

PILOT, FOLLOWER = 0, 2
WARM_UP_MS, WINDOW_MS, SLICE_MS = 1000, 10_000, 1000
STOPPED_AFTER_S, STOPPED_S = 3.0, 5.0
"""After the begin of the load. The stop is in the middle of the window."""

TEXT = (
    "Three replicas share the first core, the load generator has the second; everything is on the"
    f" loopback. {CLIENTS} clients in a closed loop send each put to both pilots, and the first"
    " answer counts. A put has a value of 256 bytes. In memory, as published, no log reaches a"
    " disk: Raft's files are then in memory, too. For the stops a replica gets SIGSTOP for 5 of the"
    " 10 s; a stopped replica leaves its share of the core to the others. The medians of"
    f" {ROUNDS} rounds."
)

SEEDS_AT_ONCE = 50
"""Seeds of STORE in one process."""
STORE = ("copilot_store_tests", "CopilotStore.StaysLinearizableUnderFaults")
"""Lab 3's store on this lab's log, with 3, 5 and 7 replicas: the program and its test."""


PROGRAM = "lab5_tally_real"
"""A replica of the reference, with the state machine of the tests."""


def on_disk(kit: Kit) -> AbstractContextManager[servers.Servers]:
    """Three replicas of the reference, with their logs on disk."""
    return servers.replicas_of(kit, "log-pair", kit.binary(PROGRAM))


def in_memory(kit: Kit) -> AbstractContextManager[servers.Servers]:
    """Three replicas as published: a log is in its replica's memory alone."""
    setup = servers.Setup(environment=servers.log_in_memory(kit, "lab5"))
    return servers.replicas_of(kit, "log-pair", kit.binary(PROGRAM), setup)


SYSTEMS: dict[str, Start] = {
    "raft in memory": servers.raft_in_memory,
    "copilot in memory": in_memory,
    "raft": servers.raft,
    "copilot": on_disk,
}


@dataclass(frozen=True)
class Window:
    """The latencies, in us, of the puts that ended in each second."""

    seconds: Sequence[Sequence[int]]

    @property
    def puts(self) -> int:
        return sum(map(len, self.seconds))

    @property
    def mean(self) -> float:
        return statistics.fmean(us for second in self.seconds for us in second)

    @property
    def p99(self) -> float:
        every = sorted(us for second in self.seconds for us in second)
        return float(every[len(every) * 99 // 100])

    @property
    def worst_second(self) -> int:
        return min(map(len, self.seconds))


def run(kit: Kit) -> figures.Section:
    servers.check_cores()
    programs.build(kit, ["put_load", PROGRAM])
    results: dict[str, list[load.Result]] = {name: [] for name in SYSTEMS}
    windows: dict[int | None, list[Window]] = {None: [], PILOT: [], FOLLOWER: []}
    for each in programs.in_turn("Measuring", ROUNDS * [*SYSTEMS, *windows]):
        if isinstance(each, str):
            with SYSTEMS[each](kit) as cluster:
                results[each].append(load.run(kit, cluster, load.Load(CLIENTS)))
        else:
            with in_memory(kit) as cluster:
                windows[each].append(_window(kit, cluster, stopped=each))
    medians = {name: load.median(of) for name, of in results.items()}
    found = [*_speed(medians), *_stops(windows)]
    return figures.Section("copilot", "The reference Copilot, for real", TEXT, found)


def _window(kit: Kit, cluster: servers.Servers, stopped: int | None) -> Window:
    """One load; `stopped` is the replica that stops in it."""
    argv = load.command(kit, cluster, load.Load(CLIENTS), WARM_UP_MS, WINDOW_MS)
    argv += ["--slice-ms", str(SLICE_MS)]
    timers = []
    if stopped is not None:
        pid = cluster.processes[stopped]
        for after, what in ((0.0, signal.SIGSTOP), (STOPPED_S, signal.SIGCONT)):
            begin = WARM_UP_MS / 1000 + STOPPED_AFTER_S + after
            timers.append(threading.Timer(begin, os.kill, (pid, what)))
    for timer in timers:
        timer.start()
    try:
        # Its output is longer than process.run keeps.
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        for timer in timers:
            timer.cancel()
    if done.returncode != 0:
        raise CannotDo("the load on Copilot failed", done.stderr)
    return Window(json.loads(done.stdout)["slices"])


def _speed(medians: dict[str, load.Result]) -> list[Figure]:
    found = []
    for name, result in medians.items():
        found.append(Figure(f"{name}: puts", result.puts_per_second, "/s"))
        found.append(Figure(f"{name}: median", result.percentiles[load.MEDIAN] / 1000, "ms"))
        found.append(Figure(f"{name}: p99", result.percentiles[load.P99] / 1000, "ms"))
    ours = medians["copilot in memory"].puts_per_second
    theirs = medians["raft in memory"].puts_per_second
    found.append(Figure("in memory: puts, Copilot's", ours, "/s", PUTS_AT_LEAST))
    found.append(Figure("in memory: puts, to Raft's", ours / theirs, "x", TO_RAFT_AT_LEAST))
    share = medians["copilot"].puts_per_second / medians["raft"].puts_per_second
    found.append(Figure("on disk: puts, to Raft's", share, "x"))
    return found


def _stops(windows: dict[int | None, list[Window]]) -> list[Figure]:
    of = statistics.median
    healthy, pilot, follower = (windows[each] for each in (None, PILOT, FOLLOWER))
    puts = of(each.puts for each in healthy)
    second = puts / (WINDOW_MS / SLICE_MS)

    def less(stopped: list[Window]) -> float:
        return 100 * (1 - of(each.puts for each in stopped) / puts)

    def more(name: str) -> float:
        base: float = of(getattr(each, name) for each in healthy)
        return 100 * (float(of(getattr(each, name) for each in follower)) / base - 1)

    worst = 100 * min(each.worst_second for each in pilot) / second
    return [
        Figure(
            "a pilot stops for 5 s: puts lost",
            less(pilot),
            "%",
            PILOT_COST_AT_MOST,
            True,
        ),
        Figure("a pilot stops: the worst second", worst, "%", PILOT_SECOND_AT_LEAST),
        Figure(
            "a follower stops: puts lost",
            less(follower),
            "%",
            FOLLOWER_COST_AT_MOST,
            True,
        ),
        Figure(
            "a follower stops: mean latency",
            more("mean"),
            "%",
            FOLLOWER_MEAN_AT_MOST,
            True,
        ),
        Figure("a follower stops: p99", more("p99"), "%", FOLLOWER_P99_AT_MOST, True),
    ]


def many_seeds(kit: Kit, seeds: range) -> Iterator[str]:
    """One check for each process of STORE."""
    program, test = STORE
    runs = [
        programs.Run(
            f"{test}, from seed {first} on",
            program,
            (f"--gtest_filter={test}",),
            (("COPILOT_FIRST", str(first)), ("COPILOT_SEEDS", str(SEEDS_AT_ONCE))),
        )
        for first in seeds[::SEEDS_AT_ONCE]
    ]
    found = programs.outputs(kit, "Testing the store on Copilot", runs)
    for run, output in zip(runs, found, strict=True):
        yield "" if "[  PASSED  ] 1 test" in output else f"{run.name}: the test did not run"


BENCHMARKS = {"copilot": run}
