"""The Redis port of a replicated store: redis-py and redis-cli drive it by their defaults."""

from collections.abc import Iterator, Sequence

import pytest
import redis

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.bench import redis_load, servers
from failslow.extras.shared import waiting

READY_S = 30.0
SCRIPT_S = 120.0
TOO_LONG = (1 << 20) + 1
PIPELINED = 200


@pytest.fixture(scope="module")
def port(kit: Kit) -> Iterator[tuple[str, str]]:
    """Three replicas run. Host and port for Redis clients of one that need not lead."""
    with servers.kv(kit) as cluster:
        host, _, number = cluster.redis[-1].rpartition(":")

        def is_served() -> bool:
            return typed((host, number), "DEL", "x").startswith("(integer)")

        redis_load.await_answer(cluster.redis[-1])
        assert waiting.until(is_served, READY_S), "the cluster takes no command"
        yield host, number


def typed(port: tuple[str, str], *words: str, options: Sequence[str] = ()) -> str:
    """The text that redis-cli prints for a command."""
    argv = ["redis-cli", "--no-raw", *options, "-h", port[0], "-p", port[1], *words]
    return process.run(argv, timeout_s=SCRIPT_S).output.strip()


@pytest.mark.parametrize("options", [(), ("-3",)], ids=["RESP2", "RESP3"])
def test_redis_cli_types_commands(port: tuple[str, str], options: tuple[str, ...]) -> None:
    for words, wanted in (
        (("SET", "cli", "1"), "OK"),
        (("GET", "cli"), '"1"'),
        (("INCRBY", "cli", "41"), "(integer) 42"),
        (("DECR", "cli"), "(integer) 41"),
        (("GET", "cli-absent"), "(nil)"),
        (("DEL", "cli"), "(integer) 1"),
        (("EXPIRE", "cli", "1"), "(error) ERR unknown command 'EXPIRE'"),
    ):
        assert typed(port, *words, options=options) == wanted, words


@pytest.fixture
def client(port: tuple[str, str]) -> Iterator[redis.Redis]:
    """Two keys are absent."""
    with redis.Redis(port[0], int(port[1])) as found:
        found.delete("py", "py-n")
        yield found


def test_redis_py_reads_and_writes_keys(client: redis.Redis) -> None:
    assert client.ping()
    assert client.set("py", "ä\r\n")
    assert client.get("py") == "ä\r\n".encode()
    assert client.get("py-absent") is None
    assert client.mset({"py": 1, "py-n": 2})
    assert client.mget("py", "py-absent") == [b"1", None]
    assert client.exists("py", "py-n") == 2
    assert client.incr("py") == 2
    assert client.incr("py", 40) == 42
    assert client.decr("py", 2) == 40
    assert client.append("py", "0") == 3
    assert client.strlen("py") == 3
    assert client.getset("py", "x") == b"400"
    assert client.setnx("py", "y") is False
    assert client.execute_command("CAS", "py", "x", "z") == 1


def test_redis_py_has_sessions_and_pipelines(client: redis.Redis) -> None:
    session = client.execute_command("SESSION", "NEW")
    for _ in range(2):
        assert client.execute_command("SESSION", session, 1, "INCR", "py-n") == 1, "a retry"
    pipeline = client.pipeline(transaction=False)
    for _ in range(PIPELINED):
        pipeline.incr("py-n").get("py-n")
    assert pipeline.execute()[-1] == str(PIPELINED + 1).encode()


def test_redis_py_asks_for_the_servers_settings(client: redis.Redis) -> None:
    assert client.config_get("save", "appendonly")["appendonly"] == "yes"
    assert "get" in client.command()


def test_redis_py_is_told_of_what_there_is_not(client: redis.Redis) -> None:
    client.set("py", "z")
    with pytest.raises(redis.ResponseError, match="MULTI is not supported"):
        client.pipeline().incr("py-n").execute()
    assert client.get("py-n") is None, "no part of a transaction is executed"
    for words, text in (
        (("EXPIRE", "py", "10"), "unknown command 'EXPIRE'"),
        (("SCAN", "0"), "unknown command 'SCAN'"),
        (("SET", "py", "v" * TOO_LONG), "string exceeds maximum"),
    ):
        with pytest.raises(redis.ResponseError, match=text):
            client.execute_command(*words)
    assert client.get("py") == b"z"
