"""`kit bench kv`: its runs of redis-benchmark, its reading of the output, and its figures."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from demands import some
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.bench import clocks, kv, redis_load, servers
from failslow.extras.bench import rounds as rounds_
from failslow.extras.bench.redis_load import Commands
from failslow.extras.bench.servers import Servers
from failslow.extras.cluster.metrics import Metrics
from failslow.lab.labs import ClusterView, load_labs
from fakes import write_program
from running import Expect
from test_bench import verdicts

HEADER = (
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",'
    '"p99_latency_ms","max_latency_ms"\n'
)
TABLE = HEADER + '"GET","48780.49","0.068","0.024","0.063","0.095","0.135","2.191"\n'
SERVERS = Servers("kv", redis=["127.0.0.1:1"])


def result(per_second: float, p99: float | None = 2.0) -> redis_load.Result:
    return redis_load.Result(per_second, p99 and p99 / 2, p99, 0.5, 0.5, 0.1)


def results(ours: float, theirs: float | None = None) -> kv.Results:
    each = {("kv", commands): result(ours) for commands in kv.COMMANDS}
    if theirs is not None:
        each |= {("redis", commands): result(theirs) for commands in kv.COMMANDS}
    return each


def rounds(ours: float, theirs: float | None = None) -> kv.Rounds:
    return {key: [each] for key, each in results(ours, theirs).items()}


def test_a_table_is_read_by_the_names_of_its_columns() -> None:
    row = redis_load.parse(TABLE, "GET")
    assert (row["rps"], row["p50_latency_ms"], row["p99_latency_ms"]) == (48780.49, 0.063, 0.135)


def test_an_old_table_has_rates_only() -> None:
    assert redis_load.parse('"SET","1000.00"\n"GET","2000.00"\n', "GET") == {"rps": 2000.0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        TABLE.replace("GET", "SET"),
        HEADER + '"GET","fast","0","0","0","0","0","0"\n',
        HEADER + '"GET","1.0"\n',
        '"GET"\n',
        '"GET","0.00"\n',
        '"GET","inf"\n',
    ],
)
def test_a_table_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(CannotDo, match="redis-benchmark"):
        redis_load.parse(text, "GET")


@pytest.fixture
def redis_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a program that runs as redis-benchmark, on any core."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(redis_load, "pinned", lambda _core, argv: argv)
    monkeypatch.setattr(clocks, "CORES", ("cpu0",))
    return tmp_path / "redis-benchmark"


@pytest.mark.parametrize(
    ("commands", "data"),
    [(kv.DEFAULT[0], "-d 3"), (kv.LARGER[0], "-d 256 -r 10000")],
)
def test_redis_benchmark_gets_the_load_in_its_words(
    redis_benchmark: Path, commands: Commands, data: str
) -> None:
    words = f"-h 127.0.0.1 -p 1 -c 50 -n 7 --csv -t get -P 16 {data}"
    program = f"import sys\nassert sys.argv[1:] == {words.split()!r}\nprint({TABLE!r})"
    write_program(redis_benchmark, program)
    told = redis_load.run(SERVERS, SERVERS.redis[0], replace(commands, name="GET", pipeline=16), 7)
    assert (told.per_second, told.median, told.p99) == (48780.49, 0.063, 0.135)


def test_a_redis_benchmark_that_fails_loses_the_measurement(redis_benchmark: Path) -> None:
    write_program(redis_benchmark, f"import sys\nprint({TABLE!r})\nsys.exit('Error from server')")
    with pytest.raises(CannotDo, match="failed: exit code 1"):
        redis_load.run(SERVERS, SERVERS.redis[0], Commands("GET"), 7)


def test_without_redis_benchmark_its_package_is_named(redis_benchmark: Path) -> None:
    assert not redis_benchmark.exists()
    with pytest.raises(CannotDo, match="install the package redis-tools"):
        redis_load.program()


def test_a_server_that_ended_loses_the_measurement(redis_benchmark: Path) -> None:
    write_program(redis_benchmark, f"print({TABLE!r})")
    gone = Servers("redis", processes=[2**22 + 1], redis=["127.0.0.1:1"])
    with pytest.raises(CannotDo, match="is not there"):
        redis_load.run(gone, gone.redis[0], Commands("GET"), 7)


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """A server that gives each connection one of the answers, in order."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                client, _ = listener.accept()
                with client:
                    client.recv(64)
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_a_server_that_still_loads_is_waited_for() -> None:
    with answering(b"-LOADING Redis is loading\r\n", b"+PONG\r\n") as address:
        redis_load.await_answer(address)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_load, "READY_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(CannotDo, match=address):
        redis_load.await_answer(address)


@pytest.fixture(scope="module")
def view() -> ClusterView:
    view = load_labs(this_kit()).get("lab3").cluster
    assert view is not None
    return view


def role(number: int) -> Metrics:
    return Metrics({"observed": {"1": [7, number]}}, None)


def test_the_leader_is_who_shows_it(view: ClusterView) -> None:
    assert kv.leader_of([role(0), None, role(2)], view) == 2
    assert kv.leader_of([role(0), role(1), Metrics({"observed": {}}, None)], view) is None


@pytest.mark.parametrize("commands", kv.COMMANDS)
def test_each_load_has_its_own_bar_beside_redis(commands: Commands) -> None:
    bar = 100 * kv.TIMES_REDIS_AT_LEAST[commands]
    for ours, passed in ((bar, True), (bar - 1, False)):
        of_all = verdicts(kv.ratios(rounds(ours, theirs=100.0)))
        assert len(of_all) == len(kv.COMMANDS)
        assert of_all[f"{commands.describe()}, ours to Redis's"] is passed


def test_alone_there_is_no_bar() -> None:
    assert kv.ratios(rounds(50.0)) == []


def test_a_disturbed_measurement_is_made_again_and_then_given_up() -> None:
    told = [CannotDo("the leader changed"), replace(result(1.0), other_share=0.6), result(2.0)]

    def settled(answers: list[CannotDo | redis_load.Result]) -> redis_load.Result:
        left = iter(answers)

        def measure() -> redis_load.Result:
            answer = next(left)
            if isinstance(answer, CannotDo):
                raise answer
            return answer

        return rounds_.settled(measure, lambda found: found.other_share)

    assert settled(told).per_second == 2.0
    with pytest.raises(rounds_.Disturbed, match="used 60 % of a processor, 3 times"):
        settled([*told[:2], told[1]])
    with pytest.raises(rounds_.Disturbed, match="the leader changed, 3 times"):
        settled(told[:1] * 3)


def test_a_load_without_a_result_is_left_out() -> None:
    key, *_ = kv.COMMANDS
    some = {each: found for each, found in rounds(50.0, 100.0).items() if each[1] != key}
    assert len(kv.ratios(some)) == len(kv.COMMANDS) - 1
    labels = kv.plots({each: found[0] for each, found in some.items()})[0].labels
    assert len(labels) == len(kv.COMMANDS) - 1


def test_a_ratio_is_that_of_two_turns_of_a_round() -> None:
    """The machine was three times as fast in one round."""
    each = kv.COMMANDS[0]
    ours = [result(50.0), result(180.0), result(70.0)]
    theirs = [result(100.0), result(300.0), result(100.0)]
    (figure,) = kv.ratios({("kv", each): ours, ("redis", each): theirs})
    assert figure.value == 0.6


def test_an_old_redis_benchmark_leaves_latencies_out() -> None:
    untold = {key: result(1.0, p99=None) for key in results(1.0)}
    titles = [plot.title for plot in kv.plots(untold)]
    assert len(titles) == len(kv.plots(results(1.0))) - 1
    assert not any("p99" in figure.name for figure in some(kv.command_figures(untold)))


def test_the_median_round_counts() -> None:
    median = redis_load.median([result(1.0, 9.0), result(5.0, 2.0), result(3.0, 4.0)])
    assert (median.per_second, median.p99) == (3.0, 4.0)


def test_a_package_that_cannot_be_fetched_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    write_program(tmp_path / "apt-get", "import sys\nprint('no network')\nsys.exit(100)")
    with pytest.raises(CannotDo, match="cannot get the packages redis-server and redis-tools"):
        servers.redis_program(Kit(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("kv", "--versus", "mysql"), "kv has redis"),
        (("raft", "--versus", "redis"), "raft has the peer etcd"),
        (("--versus", "etcd"), "raft has the peer etcd"),
    ],
)
def test_a_peer_that_there_is_not_is_refused(
    expect: Expect, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    said = expect(2, "bench", *arguments, "--out", tmp_path / "out")
    assert complaint in said.reason and said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
