"""`kit cluster`: the replicas of a solution as processes on this machine."""

import argparse
import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.live import Live

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import (
    client,
    data_directory,
    replica_processes,
    restart,
    start,
    state,
    status,
    tables,
    up,
    verification,
)
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.replica_processes import Process
from failslow.extras.cluster.state import State
from failslow.extras.commands import cluster_options, top
from failslow.extras.commands.parsers import Command, Commands, Parser, add
from failslow.extras.shared import waiting
from failslow.extras.shared.solution import check_out
from failslow.extras.slowness import html_report
from failslow.extras.slowness.graph import dot, merged
from failslow.extras.slowness.warnings import joined
from failslow.lab.labs import load_labs

LOG_LINES = 20
TOP_S = 1.0
DUMP_S = 10.0
NO_TABLES = "print JSON, no tables"
DUMP_HEADER = re.compile(rb" suspended coroutines?\n")


def add_to(parser: Parser) -> None:
    """Adds the actions of `kit cluster`. A student's kit has neither files for other machines nor
    the page of a cluster."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    _add_up(actions)
    if find_spec("failslow.extras.cluster.bundle"):
        _add_build(actions)
    _add(actions, "down", "end the cluster", _down)
    shown = _add(actions, "status", "show the state of each replica", _status)
    shown.add_argument("--json", action="store_true", dest="as_json", help=NO_TABLES)
    _add(actions, "top", "show a running cluster until interrupted", _top)
    text = "draw the slowness propagation graph of a cluster that was started with --verify"
    drawn = _add(actions, "graph", text, _graph)
    drawn.add_argument("--out", type=Path, metavar="PATH", default=Path("out"), help="(out)")
    logs = _add(actions, "logs", "print the replicas' logs", _logs)
    logs.add_argument("replica", type=int, nargs="?", metavar="N", help="only this replica's log")
    logs.add_argument("--follow", action="store_true", help="go on until interrupted")
    logs.add_argument("--lines", type=int, default=LOG_LINES, metavar="K", help="last lines (20)")
    sent = _add(actions, "submit", "submit one command and print its answer", _submit)
    sent.add_argument("words", nargs="+", metavar="TEXT", help="such as: SET color green")
    for name, text, action in (
        ("stop", "end a replica with SIGTERM", _stop),
        ("kill", "end a replica with SIGKILL, as a crash would", _kill),
        ("dump", "print the event that each coroutine of a replica waits for", _dump),
    ):
        _add(actions, name, text, action).add_argument("replica", type=int, metavar="N")
    again = _add(actions, "start", "start a replica again with its data", _start)
    again.add_argument("replica", type=int, metavar="N")


def _add(
    actions: Commands, name: str, text: str, action: Command, data: str = cluster_options.ONLY
) -> Parser:
    parser = add(actions, name, text, action)
    cluster_options.add_to(parser, data, docker=action in _ON_CONTAINERS)
    return parser


def _add_up(actions: Commands) -> None:
    parser = _add(actions, "up", "build a solution and start its replicas", _up, "out/cluster/LAB")
    _add_solution(parser)
    parser.add_argument("--replicas", type=int, choices=(3, 5), help="number of replicas (3)")
    text = "the sizes of groups, each with a service of its own, such as 3,3 (one group)"
    parser.add_argument("--groups", type=_sizes, default=(), metavar="N,N", help=text)
    parser.add_argument("--port", type=int, metavar="BASE", help="the first port (any free ones)")
    parser.add_argument("--verify", action="store_true", help="with runtime verification")
    text = "with logs on disk; lab 5's are in memory otherwise, and no replica can start again"
    parser.add_argument("--durable", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", dest="as_json", help=NO_TABLES)


def _sizes(text: str) -> tuple[int, ...]:
    """ArgumentTypeError unless each is a positive number."""
    words = text.split(",")
    if not all(re.fullmatch(r"[1-9][0-9]?", word) for word in words):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of sizes (such as 3,3)")
    return tuple(int(word) for word in words)


def _add_build(actions: Commands) -> None:
    text = "build a solution's replica program for machines without the kit"
    parser = add(actions, "build", text, _build)
    _add_solution(parser)
    out = Path("out/replica")
    parser.add_argument("--out", type=Path, metavar="PATH", default=out, help=f"({out})")


def _add_solution(parser: Parser) -> None:
    parser.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="(the reference; without one, labs)"
    )
    parser.add_argument("--lab", help="a lab of the solution (the last that can run)")


def _build(kit: Kit, directory: Path | None, lab: str | None, out: Path) -> int:
    """0. CannotDo as `bundle.write`."""
    from failslow.extras.cluster import bundle

    bundle.write(kit, directory, lab, out)
    console.note(f"Wrote {out}")
    return 0


def _up(kit: Kit, as_json: bool, **asked: Any) -> int:  # noqa: ANN401
    """0 when the cluster serves, 1 when it runs but does not serve."""
    request = up.Request(**asked)
    if request.port is not None and not 1 <= request.port <= up.PORT_MAX:
        raise CannotDo(f"--port: {request.port} is not a port (1 to {up.PORT_MAX})")
    if request.replicas is not None and request.groups:
        raise CannotDo("--groups says the number of replicas: leave --replicas out")
    layout, serves = up.up(kit, request)
    current = data_directory.loaded(layout)
    _print(kit, layout, current, as_json, with_load=False)
    if not serves:
        ready = load_labs(kit).get(current.lab).cluster
        assert ready is not None, "it was started"
        console.note(
            f"no replica reports '{ready.ready_name}: {ready.ready_is}' after"
            f" {start.READY_S:.0f} s; the cluster still runs, end it with:"
            f" {data_directory.down_command(layout.data)}"
        )
    elif not as_json:
        _note_commands(kit, layout, current)
    return 0 if serves else 1


def _note_commands(kit: Kit, layout: Layout, current: State) -> None:
    default = layout.data == data_directory.default_data(kit, current.lab)
    suffix = "" if default else f" --data {shlex.quote(str(layout.data))}"
    console.note(f"Next: ./kit cluster status|logs|kill N|start N|dump N|down{suffix}")
    others = [each for each in replica_processes.find() if each.data != layout.data]
    if others:
        console.note(f"Other clusters that run:\n{data_directory.leftovers(others)}")


def _down(kit: Kit, data: Path | None) -> int:
    """0, even when no replica runs."""
    layout = data_directory.named_or_only(kit, data)
    if layout is None:
        print("there is no cluster to end")
        return 0
    running = replica_processes.find(layout.data)
    with data_directory.locked(layout) if layout.data.is_dir() else nullcontext():
        stubborn = replica_processes.end(running)
    for process in running:
        how = _how(process, stubborn)
        print(f"replica {process.number} (pid {process.pid}): ended by {how}")
    if not running:
        print(f"no replica runs in {layout.data}")
    with suppress(CannotDo):  # the replicas are ended even if the file is unusable
        current = state.load(layout)
        if current is not None and current.up:
            current.up = False
            state.save(layout, current)
    return 0


def _status(kit: Kit, data: Path | None, as_json: bool) -> int:
    """0 when all run, 1 when some are dead or out of service. CannotDo when there is no cluster."""
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    if not replica_processes.find(layout.data):
        if not current.up:
            raise CannotDo(f"the cluster in {layout.data} is down")
        if current.was_started_before_the_machine():
            raise CannotDo(f"the cluster in {layout.data} ended when the machine restarted")
    replicas = _print(kit, layout, current, as_json, with_load=True)
    lost = (status.DEAD, status.OUT_OF_SERVICE)
    return 1 if any(replica.state in lost for replica in replicas) else 0


def _print(
    kit: Kit, layout: Layout, current: State, as_json: bool, with_load: bool
) -> list[status.ReplicaStatus]:
    lab = load_labs(kit).get(current.lab)
    assert lab.cluster is not None, "it was started"
    replicas = status.of_all(layout, current, lab)
    if as_json:
        document = {"lab": current.lab, "solution": current.solution, "data": str(layout.data)}
        print(json.dumps({**document, "replicas": [asdict(each) for each in replicas]}, indent=1))
        return replicas
    out = console.stdout()
    tables.print_place(out, layout.data, current)
    tables.print_replicas(out, lab.cluster, replicas)
    if with_load:
        out.print(tables.load_table(replicas))
    return replicas


def _top(kit: Kit, data: Path | None) -> int:
    """Once, if the output is no terminal."""
    layout = data_directory.of_command(kit, data)
    lab = load_labs(kit).get(data_directory.loaded(layout).lab)
    out = console.stdout()
    if not out.is_terminal:
        out.print(top.view(layout, data_directory.loaded(layout), lab))
        return 0
    with suppress(KeyboardInterrupt), Live(console=out, screen=True, auto_refresh=False) as live:
        while True:
            live.update(top.view(layout, data_directory.loaded(layout), lab), refresh=True)
            time.sleep(TOP_S)
    return 0


def _graph(kit: Kit, data: Path | None, out: Path) -> int:
    """0 without a warning, 1 with one. CannotDo when there is nothing to draw yet."""
    check_out(out)
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    if not current.verify:
        raise CannotDo("the cluster runs without verification: ./kit cluster up --verify")
    windows = verification.read(layout, len(current.replicas))
    graph = merged(window["graph"] for window in windows)
    warned = joined(warning for window in windows for warning in window["warnings"])
    for each in warned:
        print(each.line())
    if not warned:
        print("runtime verification raised no warning")
    atomic.write_text(
        out / "slowness.html", html_report.document("Slowness propagation graph", graph, warned)
    )
    atomic.write_text(out / "slowness.dot", dot(graph))
    atomic.write_text(out / "slowness.json", json.dumps(windows, indent=1) + "\n")
    for name in ("slowness.html", "slowness.dot", "slowness.json"):
        console.note(f"Wrote {out / name}")
    return 1 if warned else 0


def _submit(kit: Kit, data: Path | None, words: Sequence[str]) -> int:
    """0 with an answer, 1 with an error or without one. CannotDo when no replica runs."""
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    if not replica_processes.find(layout.data):
        raise CannotDo(f"the cluster in {layout.data} is down")
    if not all(words):
        raise CannotDo("TEXT: a word is empty")
    lab = load_labs(kit).get(current.lab)
    assert lab.cluster is not None, "it was started"
    answer = client.submit(kit, lab.cluster, current.endpoints, words)
    print(answer.text)
    return 0 if answer.is_done else 1


def _logs(kit: Kit, data: Path | None, replica: int | None, follow: bool, lines: int) -> int:
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    if lines < 0:
        raise CannotDo(f"--lines: {lines} is negative")
    numbers = range(len(current.replicas)) if replica is None else [replica]
    files = [layout.log(_known(current, number)) for number in numbers]
    # -F: when the next `up` replaces a log, the new one is followed.
    argv = ["tail", f"--lines={lines}", *(["-F"] if follow else []), *map(str, files)]
    with suppress(KeyboardInterrupt):
        return min(1, subprocess.run(argv, check=False).returncode)
    return 0


def _stop(kit: Kit, data: Path | None, replica: int) -> int:
    layout, current, process = _running_replica(kit, data, replica)
    with data_directory.locked(layout):
        stubborn = replica_processes.end([process])
        _note_end(layout, current, process, _how(process, stubborn))
    return 0


def _kill(kit: Kit, data: Path | None, replica: int) -> int:
    layout, current, process = _running_replica(kit, data, replica)
    with data_directory.locked(layout):
        replica_processes.kill([process])
        _note_end(layout, current, process, "SIGKILL")
    return 0


def _how(process: Process, stubborn: Sequence[Process]) -> str:
    return "SIGKILL, because it ignored SIGTERM" if process in stubborn else "SIGTERM"


def _note_end(layout: Layout, current: State, process: Process, how: str) -> None:
    print(f"replica {process.number} (pid {process.pid}): ended by {how}")
    current.replicas[process.number].ended = f"ended by ./kit cluster with {how}"
    state.save(layout, current)


def _start(kit: Kit, data: Path | None, replica: int) -> int:
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    number = _known(current, replica)
    with data_directory.locked(layout):
        pid = restart.restart(layout, current, number)
        start.check_stays(layout, number, pid)
    print(f"replica {number}: runs, pid {pid}")
    return 0


def _dump(kit: Kit, data: Path | None, replica: int) -> int:
    layout, _, process = _running_replica(kit, data, replica)
    if process.status == replica_processes.SUSPENDED:
        raise CannotDo(f"replica {process.number} (pid {process.pid}) is suspended by a signal")
    log = layout.log(process.number)
    before = log.stat().st_size
    replica_processes.send(process, signal.SIGUSR1)

    def ask() -> bytes | None:
        text = _from(log, before)
        return text if _is_whole_dump(text, log, before) else None

    if (text := waiting.first(ask, DUMP_S)) is None:
        raise CannotDo(f"replica {process.number} prints no dump: is it stuck?")
    print(text.decode(errors="replace"), end="")
    return 0


def _is_whole_dump(text: bytes, log: Path, before: int) -> bool:
    """Whether `text` holds a dump, and the log has not grown since `text` was read."""
    return bool(DUMP_HEADER.search(text)) and text.endswith(b"\n") and _from(log, before) == text


def _from(log: Path, offset: int) -> bytes:
    with log.open("rb") as file:
        file.seek(offset)
        return file.read()


def _running_replica(kit: Kit, data: Path | None, number: int) -> tuple[Layout, State, Process]:
    """CannotDo when the replica does not exist or does not run."""
    layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    _known(current, number)
    for process in replica_processes.find(layout.data):
        if process.number == number:
            return layout, current, process
    raise CannotDo(f"replica {number} does not run")


def _known(current: State, number: int) -> int:
    if not 0 <= number < len(current.replicas):
        raise CannotDo(f"there is no replica {number} (0 to {len(current.replicas) - 1})")
    return number


_ON_CONTAINERS = (_status, _top, _graph, _submit, _stop, _kill, _start)
"""The engine has words of its own for the other actions."""
