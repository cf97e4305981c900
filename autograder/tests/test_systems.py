"""Systems in one file: bad files, questions, loads, and the template, run for real."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest

from demands import some
from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.cluster import replica_processes
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.ports import HOST
from failslow.extras.commands import sweeps
from failslow.extras.faults import (
    control_group,
    duty_cycle,
    effect_counts,
    fault_file,
    injection,
    injectors,
    link_proxy,
    slow_syncs,
)
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.effect_counts import Count
from failslow.extras.faults.injectors import Injection
from failslow.extras.faults.socket_owner import SocketOwners
from failslow.extras.faults.sweep import MIXES
from failslow.extras.shared import waiting
from failslow.extras.systems import description, load, placeholders, questions, running, supervisor
from failslow.extras.systems.description import Question
from fakes import eventually, write_program
from running import Expect

FILES = this_kit().root / "tools" / "systems"
TEMPLATE = FILES / "template" / "system.yaml"
LONG_S = 30.0

GOOD = """
name: mine
ports: [client, peer]
start: [mine, "{n}", "{client.own}", "{each:{peer.seen}}"]
ready: {line: status, at: "{client.own}"}
role: {line: status, at: "{client.own}", match: "^(.*)$", words: {leads: leader, follows: follower}}
load:
  write: {line: "set {key} {value}"}
"""


def loaded(tmp_path: Path, text: str) -> list[description.System]:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return description.load(path)


# ---- the file ----


@pytest.mark.parametrize("path", sorted(FILES.rglob("*.yaml")), ids=lambda path: path.stem)
def test_our_files_are_as_they_must_be(path: Path) -> None:
    assert description.load(path)[0].replicas == 3


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("name: mine", "name: ''", "name: '' does not match"),
        ("load:", "loads:", "'loads' was unexpected"),
        ("name: mine", "name: mine\nreplicas: 1", "replicas: 1 is less than the minimum of 2"),
        ("{client.own}", "{clinet.own}", "start: there is no {clinet.own}, but n, data, here, cli"),
        ("{each:{peer.seen}}", "{each:{peer.seen}", "start: '{each:{peer.seen}' has no closing br"),
        ("{peer.seen}", "{3:peer.seen}", "start: {3:peer.seen}: there is no replica 3"),
        ('[mine, "{n}"', '[[mine], "{n}"', "start: words, or a list of words for each replica"),
        ('line: "set', 'lin: "set', "load/write: Additional properties"),
        ("{key}", "{kex}", "load/write: there is no {kex}"),
        ("{key}", "{client.own}", "load/write: there is no {client.own}, but key, value, key.ba"),
        ("^(.*)$", "^.*$", "role/match: the pattern needs one group"),
        ("^(.*)$", "(", "role/match: '(' is no pattern"),
        (', match: "^(.*)$"', "", "role: it needs match: the value in the answer"),
        ("words: {leads: leader", "words: {leads: king", "'king' is not one of"),
        ('{line: status, at: "{client.own}"}', "{line: status}", "ready: line needs at"),
        ('{line: "set', '{http: "PUT /", line: "set', "load/write: it needs one of http, redis,"),
        ('{line: "set {key} {value}"}', "{command: [x], lines: y}", "the pattern needs a group"),
        ('{line: "set {key} {value}"}', '{line: x, body: "y"}', "load/write/body: it goes with h"),
        (
            "load:",
            "load:\n  read: {command: [x], lines: '(?P<ended>x)'}",
            "load: write and read are",
        ),
        ("load:", "load:\n  port: peer", "load: Additional properties are not allowed ('port'"),
        (GOOD, "[", "is not YAML"),
        (GOOD, "3", "3 is not of type 'object'"),
    ],
)
def test_a_bad_file_has_one_line(tmp_path: Path, before: str, after: str, complaint: str) -> None:
    assert before in GOOD
    with pytest.raises(CannotDo, match=re.escape(complaint)) as caught:
        loaded(tmp_path, GOOD.replace(before, after, 1))
    said = str(caught.value)
    assert "mine.yaml" in said
    assert "\n" not in said


def test_braces_of_a_pattern_are_no_names(tmp_path: Path) -> None:
    text = GOOD.replace('"^(.*)$"', "'^({a}|[0-9]{3})$'").replace("{leads:", "{'{leads}':")
    text = text.replace('{key} {value}"}', '{key}", answer: "^{done}"}')
    (system,) = loaded(tmp_path, text)
    assert system.role is not None
    assert system.role.match == "^({a}|[0-9]{3})$"
    assert system.works["write"]["answer"] == "^{done}"


def test_a_version_changes_what_it_names(tmp_path: Path) -> None:
    text = GOOD + "versions:\n  old: {start: [older], replicas: 5}\n"
    now, old = loaded(tmp_path, text)
    assert (now.name, now.start, now.replicas) == ("mine", (now.start[0],), 3)
    assert (old.name, old.start, old.replicas) == ("mine old", (("older",),), 5)
    assert now.text != old.text, "their measurements are not the same"
    assert now.text == loaded(tmp_path, GOOD)[0].text


def test_the_last_words_start_all_further_replicas(tmp_path: Path) -> None:
    (system,) = loaded(
        tmp_path, GOOD.replace('[mine, "{n}"', '[[a], [b, "{n}"').replace('}}"]', '}}"]]')
    )
    assert [system.start_of(number)[0] for number in range(3)] == ["a", "b", "b"]


def test_names_stand_for_those_of_a_replica() -> None:
    def names(number: int) -> dict[str, str]:
        return {"n": str(number), "peer.seen": f"h:{number}"}

    def filled(text: str) -> str:
        return placeholders.fill(text, names, 1, 3)

    assert filled("{n} {0:n} {2:peer.seen}") == "1 0 h:2"
    assert filled("--all={each:m{n}={peer.seen}}!") == "--all=m0=h:0,m1=h:1,m2=h:2!"
    assert filled("{lines:s{n}}") == "s0\ns1\ns2"
    assert filled('{"key": "{n}"} {} {N}') == '{"key": "1"} {} {N}', "no name of ours"


# ---- questions ----


@contextmanager
def answering(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """HOST:PORT of a server that answers each line."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                self.wfile.write(answer(line))

    with served(Handler) as at:
        yield at


class WhoAsks(StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(f"{self.client_address[0]}\n".encode())


class OldPage(BaseHTTPRequestHandler):
    """In HTTP/1.0: it says no length, and closes."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"fine")

    do_PUT = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(handler: type[StreamRequestHandler]) -> Iterator[str]:
    """Its HOST:PORT."""
    ThreadingTCPServer.daemon_threads = True
    with ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def question(way: str, *text: str, at: str = "", **more: object) -> Question:
    defaults: dict[str, object] = {"match": "", "words": {}, "within_s": 1.0}
    return Question(way, text, at, **{**defaults, **more})


def asked(what: Question) -> str | None:
    return questions.ask(what, lambda _: {}, 0, 1)


def test_a_question_is_a_line_an_order_of_redis_a_page_or_a_command() -> None:
    with answering(lambda line: b"you said " + line) as at:
        assert asked(question("line", "hello", at=at)) == "you said hello"
    with answering(lambda _: b"*2\r\n$6\r\nmaster\r\n:12\r\n") as at:
        assert asked(question("redis", "ROLE", at=at)) == "master\n12"
    with answering(lambda _: b"-LOADING\r\n") as at:
        assert asked(question("redis", "ROLE", at=at)) is None
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
    with answering(lambda line: page if line == b"\r\n" else b"") as at:
        assert asked(question("http", f"http://{at}/")) == "fine"
    with served(OldPage) as at:
        assert asked(question("http", f"http://{at}/")) == "fine"
    with served(WhoAsks) as at:
        assert asked(question("line", "who?", at=at)) == HOST, "Redis refuses all others"
    assert asked(question("command", "echo", "yes")) == "yes\n"
    assert asked(question("command", "false")) is None
    assert asked(question("line", "hello", at="127.0.0.1:1")) is None, "nobody is there"


@pytest.mark.parametrize(
    ("match", "answer", "value"),
    [
        ("", "all of it", "all of it"),
        (r"^offset:(\d+)", "x\noffset:12\n", "12"),
        (r"^offset:(\d+)", "none", None),
        (r'"role": ?"(\w+)"', '{"a": [0], "role": "leader"}', "leader"),
    ],
)
def test_a_value_is_found_in_an_answer(match: str, answer: str, value: str | None) -> None:
    assert asked(question("command", "printf", "%s", answer, match=match)) == value


def test_a_value_means_what_the_words_say() -> None:
    def role(answer: str, **more: object) -> str | None:
        what = question("command", "echo", answer, match=r"(\w+)", **more)
        return asked(what)

    assert role("master", words={"master": "leader"}) == "leader"
    assert role("slave", words={"master": "leader"}) is None
    assert role("healthy") == "healthy"


# ---- loads ----


def run_load(spec: dict[str, object], *options: str) -> dict[str, object]:
    argv = [sys.executable, "-m", "failslow.extras.systems.load", json.dumps(spec), *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def spec_of(
    endpoints: list[str], work: dict[str, object], spread: bool = False, read_share: float = 0.0
) -> dict[str, object]:
    works = {"write": work, "read": {"line": "get {key}"}}
    of_loop = {"spread": spread, "read_share": read_share, "value_bytes": 3}
    return {"endpoints": endpoints, "works": works, **of_loop}


BRIEF = ("--warm-up-ms", "0", "--window-ms", "500", "--slice-ms", "100")


def test_a_load_speaks_three_protocols() -> None:
    seen: list[bytes] = []

    def answer(answer: bytes) -> Callable[[bytes], bytes]:
        return lambda line: (seen.append(line), answer)[1]

    with answering(answer(b"ok\n")) as at:
        report = run_load(spec_of([at], {"line": "set {key} {value}"}), *BRIEF)
    assert seen[0] == b"set key0 vvv\n"
    assert report["committed"] == sum(map(len, report["slices"])) > 0
    assert (len(report["slices"]), report["failed"], report["leader_changes"]) == (5, 0, 0)
    seen.clear()
    with answering(
        lambda line: (seen.append(line), b"+OK\r\n" if line == b"vvv\r\n" else b"")[1]
    ) as at:
        assert run_load(spec_of([at], {"redis": "SET {key} {value}"}), *BRIEF)["committed"] > 0
    assert b"".join(seen[:7]) == b"*3\r\n$3\r\nSET\r\n$4\r\nkey0\r\n$3\r\nvvv\r\n"
    seen.clear()
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    with answering(lambda line: (seen.append(line), ok if line == b"\r\n" else b"")[1]) as at:
        assert run_load(spec_of([at], {"http": "PUT /{key}"}), *BRIEF)["committed"] > 0
    assert seen[0] == b"PUT /key0 HTTP/1.1\r\n"
    with served(OldPage) as at:
        report = run_load(spec_of([at], {"http": "PUT /{key}", "answer": "^fine$"}), *BRIEF)
    assert report["committed"] > 1
    assert report["failed"] == 0, "a connection that the server closes is made again"


def test_a_load_goes_on_with_the_replica_that_takes_its_operations() -> None:
    work = {"line": "set {key}", "answer": "^ok"}
    with answering(lambda _: b"no\n") as no, answering(lambda _: b"ok\n") as ok:
        report = run_load(spec_of([no, "127.0.0.1:1", ok], work), *BRIEF)
        assert report["committed"] > 0
        assert report["failed"] == 2, "then it stays where it is"
        assert report["last_failure"]
        spread = run_load(spec_of([no, ok], work, spread=True), *BRIEF)
        assert spread["failed"] * 2 >= spread["committed"] > 0, "every second one is refused first"


def test_an_open_loop_counts_from_the_time_at_which_an_operation_was_due() -> None:
    def slow(_: bytes) -> bytes:
        time.sleep(0.1)
        return b"ok\n"

    with answering(slow) as at:
        report = run_load(spec_of([at], {"line": "x"}), "--rate", "100", *BRIEF)
    assert report["committed"] > 10, "arrivals do not wait for answers"
    assert min(map(min, filter(None, report["slices"]))) >= 100_000


def test_reads_are_a_share() -> None:
    lines: list[bytes] = []
    with answering(lambda line: (lines.append(line), b"ok\n")[1]) as at:
        run_load(spec_of([at], {"line": "set {key}"}, read_share=1), *BRIEF)
        assert {line[:3] for line in lines} == {b"get"}
        run_load(spec_of([at], {"line": "set {key}"}, read_share=0.5), *BRIEF)
    assert {line[:3] for line in lines} == {b"get", b"set"}


def test_a_command_prints_a_line_for_each_operation() -> None:
    program = "for n in $(seq 1000); do echo took 1.5 ms to {endpoint}, {here}; sleep 0.01; done"
    work = {"command": ["sh", "-c", program], "lines": r"took (?P<latency_ms>\S+) ms to h:1, /x"}
    report = run_load({**spec_of(["h:1"], work), "here": "/x"}, *BRIEF)
    assert {latency for each in report["slices"] for latency in each} == {1500}


def test_a_command_whose_lines_do_not_match_is_no_load() -> None:
    argv = [sys.executable, "-m", "failslow.extras.systems.load"]
    spec = spec_of(["h:1"], {"command": ["echo", "no such server"], "lines": r"(?P<ended>\d+)"})
    done = subprocess.run(
        [*argv, json.dumps(spec), *BRIEF], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "no line of echo matches; its last one: no such server\n"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_command_ends_with_its_load(tmp_path: Path, end: signal.Signals) -> None:
    note = tmp_path / "pid"
    program = f"echo $$ >{note}.new; mv {note}.new {note}; exec sleep 3600"
    spec = spec_of(["h:1"], {"command": ["sh", "-c", program], "lines": "(?P<ended>x)"})
    argv = [sys.executable, "-m", "failslow.extras.systems.load", json.dumps(spec)]
    with subprocess.Popen([*argv, "--window-ms", "60000"]) as running:
        eventually(note.exists)
        running.send_signal(end)
        try:
            running.wait(timeout=LONG_S)
        finally:
            running.kill()
    eventually(lambda: not replica_processes.lives(int(note.read_text())))


def test_a_line_for_many_operations_spreads_them_over_its_time() -> None:
    report = load.Report(0.0, 10.0, 1.0)
    began = report.from_s
    load.add_line(report, {"ended": "4", "latency_us": None}, began, began + 2, clients=2)
    second = 1_000_000  # two clients, and four in two seconds
    assert report.described()["slices"][:4] == [[second], [second] * 2, [second], []]


# ---- the supervisor ----


def kept(tmp_path: Path, *commands: list[str]) -> tuple[Layout, list[list[str]]]:
    layout = Layout(tmp_path / "data")
    for number in range(len(commands)):
        layout.replica(number).mkdir(parents=True)
    return layout, list(commands)


def environments(commands: list[list[str]]) -> list[dict[str, str]]:
    return [dict(os.environ) for _ in commands]


ORPHANS = ["sh", "-c", "setsid sh -c 'sleep 3600 & sleep 3600' & sleep 3600 & exec sleep 3600"]


@pytest.fixture
def stranger() -> Iterator[int]:
    """A process of another program, with the same words."""
    with process.background(["sleep", "3600"]) as pid:
        yield pid


def test_all_that_a_replica_has_started_ends_with_it(tmp_path: Path, stranger: int) -> None:
    layout, commands = kept(tmp_path, ORPHANS)
    with supervisor.running(layout, commands, environments(commands)) as mine:
        mine.start(0)
        eventually(lambda: len(mine.family(0)) == 5)
        processes = mine.family(0)
        replica_processes.kill([processes[0]])
        assert mine.family(0) == [], "its first process is the replica"
        mine.start(0)
        eventually(lambda: len(mine.family(0)) == 5)
        assert not any(replica_processes.lives(each.pid) for each in some(processes)), (
            "or its port is used"
        )
        processes = mine.family(0)
        os.kill(mine._host(0), signal.SIGKILL)  # the supervisor inherits its processes
    assert not any(replica_processes.lives(each.pid) for each in processes)
    assert not layout.data.exists()
    assert replica_processes.lives(stranger)


def test_a_replica_that_cannot_start_says_why(tmp_path: Path) -> None:
    layout, commands = kept(tmp_path, ["no-such-program"])
    with (
        supervisor.running(layout, commands, environments(commands)) as mine,
        pytest.raises(CannotDo, match="replica 0 does not start: no-such-program: No such file"),
    ):
        mine.start(0)


# ---- the owner of a socket, and proofs ----


def test_a_socket_belongs_to_the_process_that_has_it() -> None:
    owners = SocketOwners(lambda: {2: [os.getpid()]})
    strangers = SocketOwners(lambda: {})
    with answering(lambda line: line) as at:
        host, _, port = at.rpartition(":")
        with socket.create_connection((host, int(port))) as near:
            assert owners.replica(near.getsockname()[1], int(port)) == 2
            assert strangers.replica(near.getsockname()[1], int(port)) is None
        with socket.socket(socket.AF_INET6) as near:
            near.connect((f"::ffff:{host}", int(port)))
            assert owners.replica(near.getsockname()[1], int(port)) == 2
        assert owners.replica(1, int(port)) is None, "there is no such connection"


def test_counts_go_on_where_they_were(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    assert effect_counts.read(path) == Count(0, 0)
    for _ in range(2):
        counts = effect_counts.CountFile(path)
        counts.add(3, 1)
        counts.close()
    assert effect_counts.read(path) == Count(6, 2)


# ---- a system that runs ----

KINDS = [
    FaultKind(number, name, "percent", 0, 10**12, "", True, name == "link-slow")
    for number, name in enumerate((*link_proxy.KINDS, "cpu-slow", "fs-delay"))
]

SLOW_SYNCS = """
import os, sys
words = sys.argv[sys.argv.index("--") + 1:]
os.execvp(words[0], words)
"""


@pytest.fixture
def known() -> Catalogue:
    return Catalogue({kind.name: kind for kind in KINDS}, {})


@pytest.fixture
def bench(kit: Kit, known: Catalogue, tmp_path: Path) -> Iterator[running.SystemBench]:
    """The template. Its syncs are not caught."""
    write_program(kit.binary(slow_syncs.PROGRAM), SLOW_SYNCS)
    (system,) = description.load(TEMPLATE)
    with running.running(kit, known, system, tmp_path / "out") as made:
        yield made
    assert list((tmp_path / "out").iterdir()) == []


@contextmanager
def talking(bench: running.SystemBench, port: str) -> Iterator[Callable[[str], str]]:
    """Sends a line to replica 0, and gives the answer."""
    host, _, number = bench.names(0)[port].rpartition(":")
    with (
        socket.create_connection((host, int(number)), timeout=LONG_S) as near,
        near.makefile("rw") as lines,
    ):

        def say(line: str) -> str:
            lines.write(f"{line}\n")
            lines.flush()
            return lines.readline().rstrip()

        yield say


def test_the_template_has_roles_and_progress(bench: running.SystemBench) -> None:
    assert bench.proposers() == [bench.target("leader")] == [0]
    assert bench.target("follower") == 1
    assert bench.target("any") == 0
    with pytest.raises(CannotDo, match="template has no pilot, but follower, leader, any"):
        bench.target("pilot")
    with talking(bench, "client.seen") as say:
        assert [say("set key value") for _ in range(5)] == ["ok"] * 5
    eventually(lambda: [bench.applied(each) for each in bench.place.replicas] == [5, 5, 5])
    assert bench.count(0, effect_counts.LINKS).all > 0, "replicas speak through the proxy"


def test_a_fault_that_did_not_bite_is_void(bench: running.SystemBench, known: Catalogue) -> None:
    fault_file.inject(
        bench.layout.faults(0), known, known.kinds["net-slow"], 10**6, time.monotonic_ns() + 10**11
    )
    slow, other = (
        bench.watch_bite(known.kinds["net-slow"], 0),
        bench.watch_bite(known.kinds["net-slow"], 1),
    )
    disk = bench.watch_bite(known.kinds["fs-delay"], 0)
    assert slow() == "void: no byte came late"
    with talking(bench, "client.seen") as say:
        say("status")
    assert slow() == ""
    assert other() == "void: no byte came late"
    assert disk() == "void: no sync lasted longer"


def test_a_replica_that_is_stopped_at_work_is_counted(
    bench: running.SystemBench, known: Catalogue
) -> None:
    bite, ended = bench.watch_bite(known.kinds["cpu-slow"], 0), threading.Event()
    with talking(bench, "client.own") as say, ThreadPoolExecutor(1) as other:
        asked = other.submit(lambda: [say("status") for _ in iter(ended.is_set, True)])
        wanted = Injection(known.kinds["cpu-slow"], 50, 0, (), 0.5)
        # On a busy machine it may not have run between two looks.
        stopped = waiting.until(
            lambda: injection.inject(bench.place, wanted, lambda: None) and bite() == "", LONG_S
        )
        ended.set()
        assert asked.result(), "it was at work"
    assert stopped


def test_a_fault_of_the_processor_lasts_from_its_begin_on(
    bench: running.SystemBench, known: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, until = list[float](), list[float]()
    monkeypatch.setattr(duty_cycle, "keep", lambda *words: until.append(words[4]))
    wanted = Injection(known.kinds["cpu-slow"], 50, 0, (), 0.5)
    injection.inject(bench.place, wanted, lambda: began.append(time.monotonic()))
    assert until[0] >= began[0] + wanted.seconds, "however long a busy machine takes to begin"


def test_a_new_leader_is_seen_by_its_role(
    bench: running.SystemBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = ["leader", "follower", None]
    monkeypatch.setattr(questions, "ask", lambda _, __, number, ___: roles[number])
    new_leaders = bench.watch_leaders()
    assert new_leaders() == 0
    roles[1] = "leader"
    assert new_leaders() == 1, "also when the earlier one does not know"


def test_a_replica_of_a_system_starts_again(bench: running.SystemBench) -> None:
    killed = bench.place.process(2)
    replica_processes.kill([killed])
    with pytest.raises(CannotDo, match="replica 2 does not run"):
        bench.place.process(2)
    injectors._start(bench.place, 2)
    assert bench.place.process(2).pid != killed.pid
    eventually(lambda: bench.role(2) == "follower")


def test_only_memory_needs_a_privilege(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise CannotDo("only root may")

    monkeypatch.setattr(control_group, "make", refused)
    write_program(kit.binary(slow_syncs.PROGRAM), SLOW_SYNCS)
    (system,) = description.load(TEMPLATE)
    memory = {"memory-contention", "memory-share"}
    assert injectors.of_systems(lambda: None).keys() - running._kinds(kit, system) == memory


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("[mine", "[no-such-program", "there is no program no-such-program here"),
        (
            "[mine",
            "[sh, -c, 'echo the reason >&2; echo no disk >&2; exit 3'",
            "replica \\d (has ended|does not start): no disk",
        ),
        ("[mine", "[sleep, 60, x", "replica \\d (has ended|does not start): "),
        ('[mine, "{n}"', "[sh, -c, 'sleep 3600'", "ready: replica 0 is not, after 0.5 s; its last"),
    ],
)
def test_a_system_that_does_not_start_says_which_line_is_wrong(
    kit: Kit, known: Catalogue, tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    write_program(kit.binary(slow_syncs.PROGRAM), SLOW_SYNCS)
    text = GOOD.replace(before, after).replace("status, at", "status, within_s: 0.5, at", 1)
    (system,) = loaded(tmp_path, text)
    with (
        pytest.raises(CannotDo, match=complaint) as refused,
        running.running(kit, known, system, tmp_path / "out"),
    ):
        pass
    assert not [*tmp_path.glob("out/*")]
    assert ("the reason" in refused.value.detail) == ("the reason" in after)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--system", TEMPLATE, "--simulated"), "no foreign system is in the simulator"),
        (("--system", TEMPLATE, "--costs", "50"), "--costs needs --simulated"),
        (("labs", "--system", TEMPLATE, "--clients", "all"), "--simulated, or --system without"),
        (("--system", "no.yaml"), "cannot read no.yaml"),
        (("--system", TEMPLATE, "--system", TEMPLATE), "--system: two have one name (template, te"),
        (("template", "--system", TEMPLATE), "--system: two have one name (template, template)"),
        (("--system", TEMPLATE, "--target", "pilot"), "template has no pilot, but follower, lead"),
    ],
)
def test_a_sweep_of_a_system_that_cannot_be(
    expect: Expect, options: Sequence[object], complaint: str
) -> None:
    assert complaint in expect(2, "faults", "sweep", *options).reason


def test_a_mix_needs_lines_in_the_file(tmp_path: Path) -> None:
    (system,) = loaded(tmp_path, GOOD)
    assert sweeps._plan_of(system, sweeps.Options(mixes=("write",))).places == ("leader",)
    with pytest.raises(CannotDo, match=r"--workload: .*mine\.yaml has no load/read"):
        sweeps._plan_of(system, sweeps.Options(mixes=("write", "mixed")))
    (system,) = description.load(FILES / "zookeeper" / "system.yaml")
    with pytest.raises(CannotDo, match="reads or writes, not both"):
        sweeps._plan_of(system, sweeps.Options(mixes=("read", "mixed")))


def test_an_open_loop_needs_a_command_that_knows_the_rate(tmp_path: Path) -> None:
    open_loop = sweeps.Options(loads=("8", "500/s"))
    for command, refused in (("[x, '{clients}']", True), ("[x, '-r{rate}']", False)):
        work = f"{{command: {command}, lines: '(?P<ended>x)'}}"
        (system,) = loaded(tmp_path, GOOD.replace('{line: "set {key} {value}"}', work))
        with pytest.raises(CannotDo, match=r"has no \{rate\}") if refused else nullcontext():
            sweeps._plan_of(system, open_loop)
    (system,) = loaded(tmp_path, GOOD)
    assert sweeps._plan_of(system, open_loop).loads == open_loop.loads


def test_clients_are_where_a_point_says(bench: running.SystemBench) -> None:
    def spec(**axes: str) -> dict[str, Any]:
        return json.loads(replace(bench, **axes).put_load()[3])

    leader, one, all_ = (spec(at=each) for each in ("leader", "one", "all"))
    assert (len(leader["endpoints"]), leader["spread"]) == (3, False)
    assert (len(one["endpoints"]), one["spread"]) == (1, False)
    assert (len(all_["endpoints"]), all_["spread"]) == (3, True)
    assert [spec(mix=each)["read_share"] for each in MIXES] == [1.0, 0.5, 0.0]


def test_a_sweep_strikes_every_role_of_a_system(tmp_path: Path) -> None:
    (system,) = loaded(tmp_path, GOOD)

    def targets(wanted: list[str] | None) -> Sequence[str] | None:
        return sweeps._plan_of(system, sweeps.Options(targets=wanted)).targets

    assert targets(None) == ["follower", "leader"]
    assert targets(["leader"]) == ["leader"]
    assert targets(["any"]) == ["any"]
