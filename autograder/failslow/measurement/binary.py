"""Runs the measuring binary once and reads the line it prints."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from failslow.base import deadline, process
from failslow.base.errors import CouldNotGrade
from failslow.build import determinism
from failslow.lab.labs import Lab
from failslow.measurement.runs import CLIENTS, SPREAD, Run
from failslow.measurement.settings import FOLLOWER, SUBMIT

RUN_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Wait:
    """All waits of one coroutine on one event: `needed` of `total` answers from `peers`.

    `path_ns`: of `total_ns`, the time on clients' paths: a client's answer hung on the wait's end.
    `has_dependency`: the coroutine worked for a client or a heartbeat.
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
class Count:
    """Messages, and their bytes."""

    frames: int
    bytes: int


@dataclass(frozen=True)
class Flow:
    """The messages from one replica to another, in the measured window.

    `queued` were given to the connection. `released` were taken back, and `wire` went out.
    `slots`: the bytes of `wire` in each 100 ms; slots without any may be missing at the end.
    """

    sender: int
    receiver: int
    queued: Count
    released: Count
    wire: Count
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Unfinished:
    """Coroutines of one name that have not ended, or calls of one kind without an answer, at the
    window's end."""

    replica: int
    name: str
    is_call: bool
    now: int


@dataclass(frozen=True)
class Onset:
    """The course of a run with an onset, in slices of 100 ms of the window.

    `means_ns`: the mean latency of the operations that began in a slice. `new_proposers`: the
    slices in which another replica began to propose. `answers`: by replica, the messages to
    clients in each slice; refusals are among them.
    """

    fault_from: int
    fault_to: int
    means_ns: tuple[int, ...]
    new_proposers: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Sample:
    """The results of one run. Throughput in operations per second of virtual time.

    Latencies are of all operations `offered` in the window, `longest_ns` the longest; an unanswered
    one counts until the end. `completions` counts the answers of each 100 ms of the window. `lag`
    is the most entries that a slow replica was behind. `catch_up_ns` is None when a follower had
    not caught up at the end, `fast_again_ns` when the log was not in its fast mode then, if it has
    two modes; `slowly` is the share of entries that it committed in the slow one. `error` is a
    sentence when the submission misbehaved; the numbers mean nothing then.
    `violation` is a sentence about the first violated invariant, or the first untrue answer.
    `twins`: as gtest.Outcome's. `no_verdict` is the grader's own failure, or ""; the error is the
    same sentence then.

    `resident_bytes`: the most memory of a healthy replica's process at the window's end, measured.
    It is no function of the seed.
    `passed_over` counts the unanswered operations of which a later one was answered.
    `unfinished_coroutines` and `pending_requests` are the most of a replica that is not slow, at
    the window's end. The first is the replica's claim, the second is counted from messages.
    """

    throughput: float
    offered: int
    unanswered: int
    mean_ns: int
    p50_ns: int
    p99_ns: int
    longest_ns: int
    completions: tuple[int, ...]
    peak_held_bytes: int
    peak_heap_bytes: int
    resident_bytes: int
    unfinished_coroutines: int
    pending_requests: int
    catch_up_ns: int | None
    lag: int
    completed: int
    trace_hash: str
    error: str | None = None
    violation: str | None = None
    passed_over: int = 0
    slow: tuple[int, ...] = ()
    waits: tuple[Wait, ...] = ()
    flows: tuple[Flow, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    twins: str = ""
    no_verdict: str = ""
    fast_again_ns: int | None = 0
    slowly: float = 0.0
    onset: Onset | None = None


def binary_of(lab: Lab) -> str:
    """The name of the lab's measuring binary: cmake/labs.cmake, failslow_measure."""
    return f"{lab.id}_measure"


@dataclass(frozen=True)
class Program:
    """A lab's measuring binary, and the replica's program. A run ends at `deadline` at most."""

    binary: Path
    roles: tuple[str, ...]
    replica: Path
    deadline: float = deadline.NONE


def measure_once(program: Program, run: Run, rate: float, *more: str) -> Sample:
    """At `rate` operations per second. `more`: words of the command line.

    CouldNotGrade when the binary ends without a result.
    """
    argv = [*command(program, run, rate), *more]
    try:
        done = process.run(
            argv,
            env=process.ends_with_this(),
            timeout_s=deadline.left_s(program.deadline, RUN_TIMEOUT_S),
        )
    except OSError as error:
        raise CouldNotGrade(f"cannot start {program.binary.name}: {error.strerror}") from error
    if done.timed_out or done.exit_code != 0:
        detail = (done.output + done.errors)[-4000:]
        raise CouldNotGrade(f"{run} gave no result: {done.how_it_ended()}", detail)
    try:
        sample = parse_sample(json.loads(done.output.strip().splitlines()[-1]))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise CouldNotGrade(f"{run}: its result is malformed ({error!r})") from error
    if sample.twins:
        determinism.check(sample.twins, run)
    return sample


def without_verdict(error: CouldNotGrade) -> Sample:
    """In place of the results of a run that gave none."""
    return Sample(
        throughput=0.0,
        offered=0,
        unanswered=0,
        mean_ns=0,
        p50_ns=0,
        p99_ns=0,
        longest_ns=0,
        completions=(),
        peak_held_bytes=0,
        peak_heap_bytes=0,
        resident_bytes=0,
        unfinished_coroutines=0,
        pending_requests=0,
        catch_up_ns=None,
        lag=0,
        completed=0,
        trace_hash="",
        error=str(error),
        no_verdict=str(error),
    )


def command(program: Program, run: Run, rate: float) -> list[str | Path]:
    """The command line of the run. It needs no course key: the seed is one of its words.

    The last `--perturb` counts, if there are several.
    """
    argv: list[str | Path] = [
        program.binary,
        f"--roles={','.join(program.roles)}",
        f"--replica={program.replica}",
        f"--replicas={run.replicas}",
        f"--seed={run.seed}",
        f"--profile={run.profile}",
        f"--fault={run.fault}",
        f"--clients={CLIENTS[run.load]}" if run.load in CLIENTS else f"--rate={rate!r}",
        f"--shape={run.shape}",
    ]
    if run.load == SPREAD:
        argv.append("--clients-at=all")
    if run.mix != SUBMIT:
        argv.append(f"--mix={run.mix}")
    if run.places:
        argv.append(f"--slow={','.join(map(str, run.places))}")
    if run.victim != FOLLOWER:
        argv.append(f"--victim={run.victim}")
    return [*argv, f"--perturb={determinism.fills(run.seed)[0]}"]


def parse_sample(line: dict[str, Any]) -> Sample:
    """KeyError, TypeError or ValueError when a field is missing or of another kind."""
    catch_up, fast_again = line["catch_up_ns"], line["fast_again_ns"]
    return Sample(
        throughput=float(line["throughput"]),
        offered=int(line["offered"]),
        unanswered=int(line["unanswered"]),
        mean_ns=int(line["mean_ns"]),
        p50_ns=int(line["p50_ns"]),
        p99_ns=int(line["p99_ns"]),
        longest_ns=int(line["longest_ns"]),
        completions=tuple(int(count) for count in line["completions"]),
        peak_held_bytes=int(line["peak_held_bytes"]),
        peak_heap_bytes=int(line["peak_heap_bytes"]),
        resident_bytes=int(line["resident_bytes"]),
        unfinished_coroutines=int(line["unfinished_coroutines"]),
        pending_requests=int(line["pending_requests"]),
        catch_up_ns=None if catch_up is None else int(catch_up),
        lag=int(line["lag"]),
        completed=int(line["completed"]),
        trace_hash=str(line["trace_hash"]),
        error=line["error"],
        violation=line["violation"],
        passed_over=int(line["passed_over"]),
        slow=tuple(int(replica) for replica in line["slow"]),
        waits=tuple(_parse_wait(wait) for wait in line.get("waits", [])),
        flows=tuple(_parse_flow(flow) for flow in line.get("flows", [])),
        unfinished=tuple(_parse_unfinished(row) for row in line.get("unfinished", [])),
        twins=str(line["twins"]),
        fast_again_ns=None if fast_again is None else int(fast_again),
        slowly=float(line["slowly"]),
        onset=_parse_onset(line["onset"]) if "onset" in line else None,
    )


def _parse_onset(onset: dict[str, Any]) -> Onset:
    return Onset(
        fault_from=int(onset["fault_from"]),
        fault_to=int(onset["fault_to"]),
        means_ns=tuple(int(mean) for mean in onset["means_ns"]),
        new_proposers=tuple(int(slot) for slot in onset["new_proposers"]),
        answers=tuple(tuple(int(count) for count in each) for each in onset["answers"]),
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
        queued=_parse_count(flow["queued"]),
        released=_parse_count(flow["released"]),
        wire=_parse_count(flow["wire"]),
        slots=tuple(int(count) for count in flow["slots"]),
    )


def _parse_count(count: dict[str, Any]) -> Count:
    return Count(frames=int(count["frames"]), bytes=int(count["bytes"]))


def _parse_unfinished(row: dict[str, Any]) -> Unfinished:
    return Unfinished(
        replica=int(row["replica"]),
        name=str(row["name"]),
        is_call=bool(row["is_call"]),
        now=int(row["now"]),
    )
