"""The Redis port of a replicated store: redis-py and redis-cli drive it by their defaults."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.extras import waiting
from failslow.extras.bench import redis_load, servers
from failslow.extras.check.step import Context, Counts

READY_S = 30.0
SCRIPT_S = 120.0

TYPED = (
    (("SET", "cli", "1"), "OK"),
    (("GET", "cli"), '"1"'),
    (("INCRBY", "cli", "41"), "(integer) 42"),
    (("DECR", "cli"), "(integer) 41"),
    (("GET", "cli-absent"), "(nil)"),
    (("DEL", "cli"), "(integer) 1"),
    (("EXPIRE", "cli", "1"), "(error) ERR unknown command 'EXPIRE'"),
)
"""Commands as a person types them into redis-cli, each with the text that redis-cli prints."""

PROTOCOLS: tuple[tuple[str, ...], ...] = ((), ("-3",))
"""Options of redis-cli for RESP2 and RESP3."""


def run(context: Context) -> Counts:
    counts = Counts()
    with console.progress("Running Redis clients"), _cluster(context) as address:
        counts.add(_redis_py(context, address))
        counts.add(_redis_cli(address))
    return counts


@contextmanager
def _cluster(context: Context) -> Iterator[str]:
    """Runs three replicas. Yields the address for Redis clients of one that need not lead."""
    with servers.kv(context.kit) as cluster:
        address = cluster.redis[-1]

        def is_served() -> bool:
            return _typed(address, ("DEL", "x")).startswith("(integer)")

        redis_load.await_answer(address)
        if not waiting.until(is_served, READY_S):
            raise CannotDo(f"the cluster takes no command within {READY_S:.0f} s")
        yield address


def _redis_py(context: Context, address: str) -> Counts:
    """Runs the script of redis-py; its last line is the client's name and version."""
    script = context.kit.root / "autograder" / "redis_clients" / "redis_py.py"
    done = process.run(
        [sys.executable, "-I", script, *_host_and_port(address)],
        cwd=context.scratch,
        timeout_s=SCRIPT_S,
    )
    counts = Counts()
    said = f"{done.output}{done.errors}".rstrip()
    counts.expect(done.exit_code == 0, f"{script.name}: {done.how_it_ended()}\n{said}")
    counts.remarks += done.output.splitlines()[-1:] if done.exit_code == 0 else []
    return counts


def _redis_cli(address: str) -> Counts:
    counts = Counts()
    for options in PROTOCOLS:
        for words, wanted in TYPED:
            found = _typed(address, words, options)
            told = f"redis-cli {' '.join((*options, *words))}: {found!r} instead of {wanted!r}"
            counts.expect(found == wanted, told)
    version = process.run(["redis-cli", "--version"]).output.split()
    counts.remarks.append(" ".join(version[:2]))
    return counts


def _typed(address: str, words: Sequence[str], options: Sequence[str] = ()) -> str:
    """The text that redis-cli prints for a command."""
    host, port = _host_and_port(address)
    argv = ["redis-cli", "--no-raw", *options, "-h", host, "-p", port, *words]
    return process.run(argv, timeout_s=SCRIPT_S).output.strip()


def _host_and_port(address: str) -> list[str]:
    host, _, port = address.rpartition(":")
    return [host, port]
