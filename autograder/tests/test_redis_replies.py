"""The comparison of the Redis port with a real Redis: what it reads, and what it reports."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest

from failslow.check import redis_clients, redis_replies
from failslow.check.redis_replies import Line, compare, read_lines, read_reply
from failslow.errors import CannotDo
from failslow.kit import this_kit

Replies = Callable[[list[bytes]], bytes]
"""The reply to a command."""


@contextmanager
def serving(replies: Replies) -> Iterator[str]:
    """A server that answers commands, and closes the connection at anything else."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while (head := self.rfile.readline()).startswith(b"*") and head[1:].strip().isdigit():
                words = []
                for _ in range(int(head[1:])):
                    length = self.rfile.readline()
                    if not length[1:].strip().isdigit():
                        return
                    words.append(self.rfile.read(int(length[1:])))
                    self.rfile.readline()
                self.wfile.write(replies(words))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def echo(words: list[bytes]) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(words[-1]), words[-1])


def test_the_lines_of_the_kit_are_read() -> None:
    lines = read_lines(this_kit().root / "autograder" / "redis_clients" / "lines.txt")
    assert Line(("SET", "text", "two words")) in lines
    assert Line(("SET", "b", "")) in lines
    assert Line(("HELLO",), same_form=True) in lines
    assert len(lines) > 100


def test_comments_and_empty_lines_are_no_commands(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("# none\n\n~ INFO # of the server\nGET 'a b'\n")
    assert read_lines(tmp_path / "lines") == [Line(("INFO",), True), Line(("GET", "a b"))]


def test_random_lines_depend_on_the_seed_alone() -> None:
    assert redis_replies.random_lines(1, 50) == redis_replies.random_lines(1, 50)
    assert redis_replies.random_lines(1, 50) != redis_replies.random_lines(2, 50)


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (b"+OK\r\n", b"+"),
        (b"$-1\r\n", b"$"),
        (b"_\r\n", b"_"),
        (b"$4\r\na\r\nb\r\n", b"$"),
        (b"=7\r\ntxt:a\r\n\r\n", b"="),
        (b"*-1\r\n", b"*"),
        (b"*2\r\n$1\r\na\r\n*1\r\n:1\r\n", b"*$*"),
        (b"%1\r\n+k\r\n~1\r\n:1\r\n", b"%+~"),
    ],
)
def test_a_reply_is_read_whole(reply: bytes, form: bytes) -> None:
    stream = BytesIO(reply + b"+next\r\n")
    found = read_reply(stream)
    assert (found.bytes, found.form) == (reply, form)
    assert stream.read() == b"+next\r\n"


@pytest.mark.parametrize("text", [b"", b"+OK", b"!x\r\n", b"$3\r\nab\r\n", b"*1\r\n", b"*x\r\n"])
def test_a_reply_that_ends_or_is_malformed_is_refused(text: bytes) -> None:
    with pytest.raises(CannotDo):
        read_reply(BytesIO(text))


def test_equal_servers_differ_in_nothing() -> None:
    lines = [Line(("GET", "a")), Line(("GET", "b"))]
    with serving(echo) as ours, serving(echo) as redis:
        counts = compare(ours, redis, lines)
    assert counts.problems == []
    assert counts.passed == 4 * len(lines) + len(redis_replies.MALFORMED)


def test_a_difference_is_reported_once_for_each_way_to_ask() -> None:
    def nil_differs(words: list[bytes]) -> bytes:
        return b"$-1\r\n" if words == [b"GET", b"b"] else echo(words)

    lines = [Line(("GET", "a")), Line(("GET", "b")), Line(("GET", "b"), same_form=True)]
    with serving(nil_differs) as ours, serving(echo) as redis:
        problems = compare(ours, redis, lines).problems
    assert len(problems) == 4
    assert problems[0] == "GET b (RESP2): b'$-1\\r\\n', and Redis b'$1\\r\\nb\\r\\n'"


def test_a_server_that_does_not_answer_cannot_be_compared() -> None:
    with serving(echo) as ours, pytest.raises(CannotDo, match="does not answer"):
        compare(ours, "127.0.0.1:1", [Line(("GET", "a"))])


def test_a_redis_tells_its_version() -> None:
    with serving(lambda _: b"$22\r\nredis_version:7.0.15\r\n\r\n") as redis:
        assert redis_replies.version(redis) == "7.0.15"
    with serving(echo) as redis, pytest.raises(CannotDo, match="no version"):
        redis_replies.version(redis)


def test_a_client_whose_tools_are_missing_is_skipped() -> None:
    lacking = redis_clients._lacking("sh", "no-such-program", "nor-this")
    assert lacking is not None
    assert lacking.skipped == "not installed: no-such-program, nor-this"
    assert redis_clients._lacking("sh") is None


def test_tools_that_are_too_old_are_skipped() -> None:
    argv = ["echo", "go version go1.21.3 linux/amd64"]
    assert redis_clients._older(argv, (1, 21)) is None
    old = redis_clients._older(argv, (1, 22))
    assert old is not None
    assert old.skipped.startswith("echo 1.22 or later is needed, not go version go1.21.3")
    assert redis_clients._older(["true"], (1, 0)) is not None


def test_a_clients_script_that_fails_is_a_problem(tmp_path: Path) -> None:
    words = ["127.0.0.1", "1"]
    good = redis_clients._run(["sh", "-c", "echo client 1.0", *words], tmp_path)
    assert (good.passed, good.remarks) == (1, ["client 1.0"])
    bad = redis_clients._run(["sh", "-c", "echo get: nil; exit 1", *words], tmp_path)
    assert bad.passed == 0
    assert "exit code 1\nget: nil" in bad.problems[0]
