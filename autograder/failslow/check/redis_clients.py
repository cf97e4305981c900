"""The Redis port of the replicas: clients run a script of theirs by their defaults, and the replies
are compared with a real Redis's."""

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from failslow import console, process, waiting
from failslow.bench import redis_load, servers
from failslow.bench.servers import Servers
from failslow.check import redis_replies
from failslow.check.step import Context, Counts
from failslow.errors import CannotDo
from failslow.kit import Kit

READY_S = 30.0
SCRIPT_S = 120.0
INSTALL_S = 900.0
OLDEST_MAJOR = 7
"""Of the Redis whose replies the port gives. Errors of earlier ones have other words."""

NODE, GO = (20, 0), (1, 21)
"""The oldest versions that will do. From this one on, Go fetches a later one by itself."""

SEED, RANDOM_LINES = 1, 400

Start = Callable[[Kit], AbstractContextManager[Servers]]
STORES: dict[str, Start] = {"lab3": servers.kv, "lab5": servers.copilot_kv}


def beside_redis(context: Context) -> Counts:
    """The store on each log gives a real Redis's replies, byte for byte."""
    counts = Counts()
    lines = redis_replies.read_lines(_scripts(context) / "lines.txt")
    lines += redis_replies.random_lines(SEED, RANDOM_LINES)
    with console.progress("Comparing replies with Redis"):
        for lab in STORES:
            with servers.redis(context.kit) as redis, _cluster(context, lab) as address:
                redis_load.await_answer(redis.redis[0])
                version = redis_replies.version(redis.redis[0])
                if int(version.split(".")[0]) < OLDEST_MAJOR:
                    return Counts(skipped=f"Redis {version} has other errors than 7.0")
                compared = redis_replies.compare(address, redis.redis[0], lines)
                compared.problems = [f"{lab}: {each}" for each in compared.problems]
                counts.add(compared)
    counts.remarks.append(f"beside Redis {version}")
    return counts


def common(context: Context) -> Counts:
    counts = Counts()
    for lab in STORES:
        with console.progress(f"Running Redis clients ({lab})"), _cluster(context, lab) as address:
            argv = [sys.executable, "-I", _scripts(context) / "redis_py.py", *_words(address)]
            counts.add(_run(argv, context.scratch))
            counts.add(_redis_cli(address))
    counts.remarks = sorted(set(counts.remarks))
    return counts


def of_node(context: Context) -> Counts:
    place = context.kit.build / "redis-clients" / "node"
    if lacking := _lacking("node", "npm") or _older(["node", "--version"], NODE):
        return lacking
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_scripts(context) / "node", place)
    _install(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], place)
    return _run_on_cluster(
        context, [["node", place / name] for name in ("node_redis.mjs", "ioredis.mjs")]
    )


def of_go(context: Context) -> Counts:
    if lacking := _lacking("go") or _older(["go", "version"], GO):
        return lacking
    place = context.kit.build / "redis-clients"
    place.mkdir(parents=True, exist_ok=True)
    _install(["go", "build", "-mod=readonly", "-o", place / "go"], _scripts(context) / "go")
    return _run_on_cluster(context, [[place / "go"]])


def of_java(context: Context) -> Counts:
    if lacking := _lacking("javac", "mvn"):
        return lacking
    jars = context.kit.build / "redis-clients" / "java"
    scripts = _scripts(context) / "java"
    argv = ["mvn", "--quiet", "--batch-mode", "--file", scripts / "pom.xml"]
    _install([*argv, "dependency:copy-dependencies", f"-DoutputDirectory={jars}"], scripts)
    return _run_on_cluster(context, [["java", "-cp", f"{jars}/*", scripts / "Jedis.java"]])


def _scripts(context: Context) -> Path:
    return context.kit.root / "autograder" / "redis_clients"


@contextmanager
def _cluster(context: Context, lab: str) -> Iterator[str]:
    """Runs three replicas. Yields the address for Redis clients of one that need not lead."""
    with STORES[lab](context.kit) as cluster:
        address = cluster.redis[-1]

        def is_served() -> bool:
            return redis_replies.ask(address, "DEL", "x").bytes.startswith(b":")

        redis_load.await_answer(address)
        if not waiting.until(is_served, READY_S):
            raise CannotDo(f"{lab}: the cluster takes no command within {READY_S:.0f} s")
        yield address


def _run_on_cluster(context: Context, programs: Sequence[Sequence[str | Path]]) -> Counts:
    counts = Counts()
    with console.progress("Running Redis clients"), _cluster(context, "lab3") as address:
        for program in programs:
            counts.add(_run([*program, *_words(address)], context.scratch))
    return counts


def _run(argv: Sequence[str | Path], place: Path) -> Counts:
    """Runs a client's script; its last line is the client's name and version."""
    done = process.run(argv, cwd=place, timeout_s=SCRIPT_S)
    counts = Counts()
    said = f"{done.output}{done.errors}".rstrip()
    counts.expect(done.exit_code == 0, f"{Path(argv[-3]).name}: {done.how_it_ended()}\n{said}")
    counts.remarks += done.output.splitlines()[-1:] if done.exit_code == 0 else []
    return counts


def _redis_cli(address: str) -> Counts:
    """What a person types, in both versions of the protocol."""
    counts = Counts()
    host, port = _words(address)
    for flags in ([], ["-3"]):
        for words, wanted in (
            (["SET", "cli", "1"], "OK"),
            (["GET", "cli"], '"1"'),
            (["INCRBY", "cli", "41"], "(integer) 42"),
            (["DECR", "cli"], "(integer) 41"),
            (["GET", "cli-absent"], "(nil)"),
            (["DEL", "cli"], "(integer) 1"),
            (["EXPIRE", "cli", "1"], "(error) ERR unknown command 'EXPIRE'"),
        ):
            argv = ["redis-cli", "--no-raw", *flags, "-h", host, "-p", port, *words]
            done = process.run(argv, timeout_s=SCRIPT_S)
            problem = f"{' '.join(argv)}: {done.output!r} instead of {wanted!r}"
            counts.expect(done.output.strip() == wanted, problem)
    version = process.run(["redis-cli", "--version"]).output.split()
    counts.remarks.append(" ".join(version[:2]))
    return counts


def _lacking(*programs: str) -> Counts | None:
    """A step that cannot be taken, if one of the programs is not installed."""
    missing = [name for name in programs if shutil.which(name) is None]
    return Counts(skipped=f"not installed: {', '.join(missing)}") if missing else None


def _older(argv: Sequence[str], least: tuple[int, int]) -> Counts | None:
    """A step that cannot be taken, if the program's version is below `least`."""
    said = process.run(argv).output.strip()
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is not None and (int(found[1]), int(found[2])) >= least:
        return None
    return Counts(skipped=f"{argv[0]} {least[0]}.{least[1]} or later is needed, not {said}")


def _install(argv: Sequence[str | Path], place: Path) -> None:
    """CannotDo when the registry cannot be reached."""
    with console.progress(f"Fetching Redis clients with {argv[0]}"):
        done = process.run(argv, cwd=place, timeout_s=INSTALL_S, merge_errors=True)
    if done.exit_code != 0:
        raise CannotDo(f"{argv[0]}: {done.how_it_ended()}", done.output)


def _words(address: str) -> list[str]:
    host, _, port = address.rpartition(":")
    return [host, port]
