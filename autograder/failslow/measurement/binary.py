"""Runs the measuring binary once and reads the line it prints."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow import process
from failslow.errors import CouldNotGrade
from failslow.measurement.runs import Run
from failslow.measurement.settings import FOLLOWER, SUBMIT

RUN_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Wait:
    """All waits of one coroutine on one event: `needed` of `total` answers from `peers`.

    `path_ns`: of `total_ns`, the time during which the client that the coroutine worked for had no
    answer. `has_dependency`: the coroutine worked for a client or a heartbeat.
    """

    replica: int
    coroutine: str
    event: str
    needed: int
    total: int
    peers: tuple[int, ...]
    count: int
    total_ns: int
    has_dependency: bool
    path_ns: int


@dataclass(frozen=True)
class Flow:
    """All messages from one replica to another, in the measured window."""

    sender: int
    receiver: int
    frames: int
    bytes: int


@dataclass(frozen=True)
class Sample:
    """The results of one run. Throughput in operations per second of virtual time.

    Latencies are of all operations `offered` in the window; an unanswered one counts until the
    end. `completions` counts the answers of each 100 ms of the window. `lag` is the most entries
    that a slow replica was behind. `catch_up_ns` is None when a follower had not caught up at the
    end. `error` is a sentence when the submission misbehaved; the numbers mean nothing then.
    `untrue` is a sentence about the first answer "committed" that was not true.
    """

    throughput: float
    offered: int
    unanswered: int
    mean_ns: int
    p50_ns: int
    p99_ns: int
    completions: tuple[int, ...]
    peak_held_bytes: int
    peak_heap_bytes: int
    catch_up_ns: int | None
    lag: int
    completed: int
    trace_hash: str
    error: str | None = None
    untrue: str | None = None
    waits: tuple[Wait, ...] = ()
    flows: tuple[Flow, ...] = ()


@dataclass(frozen=True)
class Program:
    """The measuring binary, and the lab and the replica program that it measures."""

    binary: Path
    lab: str
    roles: tuple[str, ...]
    replica: Path


def measure_once(program: Program, run: Run, rate: float, explain: bool = False) -> Sample:
    """At `rate` operations per second. CouldNotGrade when the binary ends without a result."""
    argv = command(program, run, rate)
    if explain:
        argv.append("--explain")
    try:
        done = process.run(argv, timeout_s=RUN_TIMEOUT_S)
    except OSError as error:
        raise CouldNotGrade(f"cannot start {program.binary.name}: {error.strerror}") from error
    if done.timed_out or done.exit_code != 0:
        detail = (done.output + done.errors)[-4000:]
        raise CouldNotGrade(f"{run} gave no result: {done.how_it_ended()}", detail)
    try:
        return parse_sample(json.loads(done.output.strip().splitlines()[-1]))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise CouldNotGrade(f"{run}: its result is malformed ({error!r})") from error


def command(program: Program, run: Run, rate: float) -> list[str | Path]:
    """The command line of the run. It needs no course key: the seed is one of its words."""
    argv: list[str | Path] = [
        program.binary,
        f"--lab={program.lab}",
        f"--roles={','.join(program.roles)}",
        f"--replica={program.replica}",
        f"--replicas={run.replicas}",
        f"--seed={run.seed}",
        f"--profile={run.profile}",
        f"--fault={run.fault}",
        f"--rate={rate!r}",
        f"--shape={run.shape}",
    ]
    if run.mix != SUBMIT:
        argv.append(f"--mix={run.mix}")
    if run.places:
        argv.append(f"--slow={','.join(map(str, run.places))}")
    if run.victim != FOLLOWER:
        argv.append(f"--victim={run.victim}")
    return argv


def parse_sample(line: dict[str, Any]) -> Sample:
    """KeyError, TypeError or ValueError when a field is missing or of another kind."""
    catch_up = line["catch_up_ns"]
    return Sample(
        throughput=float(line["throughput"]),
        offered=int(line["offered"]),
        unanswered=int(line["unanswered"]),
        mean_ns=int(line["mean_ns"]),
        p50_ns=int(line["p50_ns"]),
        p99_ns=int(line["p99_ns"]),
        completions=tuple(int(count) for count in line["completions"]),
        peak_held_bytes=int(line["peak_held_bytes"]),
        peak_heap_bytes=int(line["peak_heap_bytes"]),
        catch_up_ns=None if catch_up is None else int(catch_up),
        lag=int(line["lag"]),
        completed=int(line["completed"]),
        trace_hash=str(line["trace_hash"]),
        error=line["error"],
        untrue=line["untrue"],
        waits=tuple(_parse_wait(wait) for wait in line.get("waits", [])),
        flows=tuple(_parse_flow(flow) for flow in line.get("flows", [])),
    )


def _parse_wait(wait: dict[str, Any]) -> Wait:
    return Wait(
        replica=int(wait["replica"]),
        coroutine=str(wait["coroutine"]),
        event=str(wait["event"]),
        needed=int(wait["needed"]),
        total=int(wait["total"]),
        peers=tuple(int(peer) for peer in wait["peers"]),
        count=int(wait["count"]),
        total_ns=int(wait["total_ns"]),
        has_dependency=bool(wait["has_dependency"]),
        path_ns=int(wait["path_ns"]),
    )


def _parse_flow(flow: dict[str, Any]) -> Flow:
    return Flow(
        sender=int(flow["sender"]),
        receiver=int(flow["receiver"]),
        frames=int(flow["frames"]),
        bytes=int(flow["bytes"]),
    )
