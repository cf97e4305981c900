"""`kit faults`, on replicas that are small scripts: real processes, real signals, real files."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from demands import some
from failslow.base.kit import Kit, this_kit
from failslow.extras.cluster import replica_processes
from failslow.extras.faults import claim, fault_file, targets
from failslow.extras.faults.catalogue import POWER_CUT, Catalogue, load
from failslow.extras.faults.claim import Claim
from failslow.extras.faults.injectors import INJECTORS, LOCK_S
from fakes import FAULT_KINDS, eventually
from recordings import edge
from running import Cluster, Expect, Said

# Under nohup the tests ignore SIGHUP, and what they start would, too.
RUN = """
import signal
import sys
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from failslow import cli
from failslow.base.kit import Kit
from failslow.build import cmake
cmake.build = lambda *_, **__: None
sys.exit(cli.main(sys.argv[2:], Kit(Path(sys.argv[1]))))
"""
LONG = "1000s"

Injector = subprocess.Popen[str]
Start = Callable[..., Injector]


@pytest.fixture
def start(kit: Kit, cluster: Cluster) -> Iterator[Start]:
    """Runs `kit faults inject ARGUMENTS...` as a process of its own, for LONG."""
    started: list[Injector] = []

    def run(*words: object) -> Injector:
        argv = [sys.executable, "-c", RUN, kit.root, "faults", "inject", *words]
        argv += ["--for", LONG, "--data", cluster.data]
        started.append(
            subprocess.Popen([str(word) for word in argv], stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield run
    for each in started:
        each.terminate()
        each.wait()


@pytest.fixture
def known(kit: Kit) -> Catalogue:
    return load(kit)


def said(cluster: Cluster, expect: Expect, code: int, *words: object) -> Said:
    return expect(code, "faults", *words, "--data", cluster.data)


def board(cluster: Cluster, replica: int) -> Path:
    return cluster.data / f"replica-{replica}.faults"


def slot(cluster: Cluster, replica: int, name: str) -> tuple[int, ...]:
    """Until, amount, receivers."""
    content = board(cluster, replica).read_bytes()
    return struct.unpack_from("=qqq", content, 8 + 24 * [*FAULT_KINDS].index(name))


def is_on(cluster: Cluster, known: Catalogue, replica: int, name: str) -> bool:
    return fault_file.is_on(board(cluster, replica), known.kinds[name])


def leftovers(cluster: Cluster) -> list[str]:
    return sorted(path.name for path in cluster.data.glob("*.injection"))


# ---- faults in a replica's file ----


def test_a_fault_is_in_the_file_while_it_lasts(
    started: Cluster, known: Catalogue, start: Start, expect: Expect
) -> None:
    injector = start("net-slow", "--target", "follower")
    eventually(lambda: is_on(started, known, 1, "net-slow"))
    until_ns, amount, _ = slot(started, 1, "net-slow")
    assert amount == 400 * 10**6
    assert 0 < until_ns - time.monotonic_ns() <= 1000 * 10**9
    assert not is_on(started, known, 2, "net-slow")
    (on,) = json.loads(said(started, expect, 0, "list", "--json").out)["on"]
    assert (on["replica"], on["fault"], on["pid"]) == (1, "net-slow 400 ms", injector.pid)
    assert "replica 1: net-slow 400 ms for" in said(started, expect, 0, "list").out


def test_a_fault_is_over_after_its_time(started: Cluster, expect: Expect, known: Catalogue) -> None:
    words = ("--target", 2, "--strength", "40 ms", "--for", "10ms")
    out = said(started, expect, 0, "inject", "net-slow", *words).err
    assert "net-slow 40 ms on replica 2 (follower) for 0.01 s, by link layer" in out
    assert "net-slow 40 ms on replica 2 (follower): healed" in out
    assert slot(started, 2, "net-slow") == (0, 0, 0)
    assert leftovers(started) == []


def test_the_target_of_a_role_waits_for_a_replica_that_has_just_started(
    cluster: Cluster, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.up()
    reports = iter([{0: "leader", 1: ""}, {0: "leader", 1: ""}, {0: "leader", 1: "follower"}])
    monkeypatch.setattr(targets, "roles", lambda *_: next(reports))
    words = ("--target", "follower", "--for", "1ms")
    assert "on replica 1 (follower)" in said(cluster, expect, 0, "inject", "net-slow", *words).err


def test_a_target_is_a_role_in_a_group(cluster: Cluster, expect: Expect) -> None:
    cluster.up("", "--groups", "2,3")
    for word, found in (("g1:leader", "2 (leader)"), ("g1:follower", "3 (follower)")):
        words = ("--target", word, "--for", "1ms")
        assert f"on replica {found}" in said(cluster, expect, 0, "inject", "net-slow", *words).err
    refused = said(cluster, expect, 2, "inject", "net-slow", "--target", "g2:leader")
    assert refused.reason == "kit: --target: there is no group 2"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_however_the_injector_ends_the_fault_ends(
    started: Cluster, known: Catalogue, start: Start, number: signal.Signals
) -> None:
    injector = start("net-slow", "--target", 1)
    eventually(lambda: is_on(started, known, 1, "net-slow"))
    injector.send_signal(number)
    injector.wait()
    eventually(lambda: not is_on(started, known, 1, "net-slow"))
    if number != signal.SIGKILL:
        assert injector.returncode == 130
        assert injector.stderr is not None
        assert "interrupted; net-slow 400 ms on replica 1 (follower) is healed" in (
            injector.stderr.read()
        )
        assert leftovers(started) == []


def test_heal_ends_every_fault_and_may_come_twice(
    started: Cluster, known: Catalogue, start: Start, expect: Expect
) -> None:
    slow, cut = start("net-slow", "--target", 1), start("cut", "--target", 2, "--to", "0")
    eventually(lambda: is_on(started, known, 1, "net-slow") and is_on(started, known, 2, "cut"))
    lines = said(started, expect, 0, "heal").out.splitlines()
    assert sorted(lines) == [
        "replica 1: net-slow 400 ms is healed",
        "replica 2: cut is healed",
    ]
    assert (slow.wait(), cut.wait()) == (130, 130)
    assert not any(
        is_on(started, known, each, name) for each in (1, 2) for name in some(FAULT_KINDS)
    )
    assert said(started, expect, 0, "heal").out == "no fault is on\n"


def test_heal_ends_what_a_killed_injector_and_its_guard_have_left(
    started: Cluster, known: Catalogue, expect: Expect
) -> None:
    kind = known.kinds["net-slow"]
    fault_file.inject(board(started, 1), known, kind, 5, time.monotonic_ns() + 10**12)
    assert "net-slow is healed" in said(started, expect, 0, "heal").out
    assert not is_on(started, known, 1, "net-slow")


def test_one_injector_for_a_replica_and_a_kind(
    started: Cluster, known: Catalogue, start: Start, expect: Expect
) -> None:
    start("net-slow", "--target", 1)
    eventually(lambda: is_on(started, known, 1, "net-slow"))
    before = slot(started, 1, "net-slow")
    reason = said(started, expect, 2, "inject", "net-slow", "--target", 1).reason
    assert "replica 1 has net-slow already (pid" in reason
    assert slot(started, 1, "net-slow") == before
    said(started, expect, 0, "inject", "net-slow", "--target", 2, "--for", "1ms")


def test_a_partition_is_on_both_sides(
    started: Cluster, known: Catalogue, start: Start, expect: Expect
) -> None:
    start("partition", "--target", 1)
    eventually(lambda: all(is_on(started, known, each, "partition") for each in (0, 1, 2)))
    receivers = [slot(started, each, "partition")[2] for each in (0, 1, 2)]
    assert receivers == [0b010, 0b101, 0b010]
    reason = said(started, expect, 2, "inject", "partition", "--target", 2).reason
    assert "has partition already" in reason


def test_an_injector_ends_with_its_replica(
    started: Cluster, known: Catalogue, start: Start
) -> None:
    injector = start("net-slow", "--target", 1)
    eventually(lambda: is_on(started, known, 1, "net-slow"))
    started.expect(0, "kill", 1)
    _, errors = injector.communicate()
    assert injector.returncode == 1
    assert "replica 1 has ended, and the fault with it" in errors
    assert leftovers(started) == []


# ---- faults by signals ----


def test_a_share_of_the_processor(started: Cluster, start: Start) -> None:
    injector = start("cpu-slow", "--target", 1)
    eventually(lambda: started.running()[1].status == replica_processes.SUSPENDED)
    eventually(lambda: started.running()[1].status != replica_processes.SUSPENDED)
    eventually(lambda: started.running()[1].status == replica_processes.SUSPENDED)
    injector.kill()
    injector.wait()
    eventually(lambda: goes_on(started, 1))


def goes_on(cluster: Cluster, number: int) -> bool:
    """Whether the replica is not stopped, and no injector or guard can stop it."""
    process = cluster.running()[number]
    return process.status != replica_processes.SUSPENDED and not any(
        claim.is_held(path) for path in cluster.data.glob("*.injection")
    )


def test_heal_lets_a_replica_go_on_that_nobody_guards(started: Cluster, expect: Expect) -> None:
    pid = started.pids()[1]
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: started.running()[1].status == replica_processes.SUSPENDED)
    record = Claim(1, "cpu-slow", "cpu-slow 5%", "", pid, start_ticks=0, ends_s=0)
    (started.data / "replica-1.cpu-slow.injection").write_text(json.dumps(asdict(record)))
    assert "replica 1: cpu-slow 5% is healed" in said(started, expect, 0, "heal").out
    eventually(lambda: started.running()[1].status != replica_processes.SUSPENDED)
    assert leftovers(started) == []


# ---- ends, and damage ----


def test_a_crash_is_an_end_and_a_restart(started: Cluster, expect: Expect) -> None:
    before = started.pids()
    said(started, expect, 0, "inject", "crash", "--target", "leader", "--for", "10ms")
    after = started.pids()
    assert after[1:] == before[1:]
    assert after[0] != before[0]


def test_a_crashed_replica_stays_down_with_its_cluster(started: Cluster, start: Start) -> None:
    injector = start("crash", "--target", 1)
    eventually(lambda: started.numbers() == [0, 2])
    started.expect(0, "down")
    injector.terminate()
    injector.wait()
    assert started.numbers() == []


def test_replicas_without_power_lose_what_is_not_synced_and_stay_down(
    started: Cluster, start: Start, expect: Expect
) -> None:
    unsynced = [started.data / f"replica-{each}" / "unsynced" for each in range(3)]
    for file in unsynced:
        file.touch()
    at_once = [start("power-cut", "--target", each) for each in (0, 2)]
    errors = [injector.communicate()[1] for injector in at_once]
    assert [injector.returncode for injector in at_once] == [0, 0], errors
    assert "power-cut on replica 0 (leader), by SIGKILL, and a cut of its files\n" in errors[0]
    assert "replica 2 (follower): it is down until ./kit cluster start\n" in errors[1]
    assert started.numbers() == [1]
    assert [file.exists() for file in unsynced] == [False, True, False]
    assert started.status()[2]["remark"] == "its power was cut by ./kit faults"
    assert said(started, expect, 0, "heal").out == "no fault is on\n"
    started.expect(0, "start", 2)
    assert started.numbers() == [1, 2]


def test_a_disk_that_has_lost_a_promise_is_not_cut(cluster: Cluster, expect: Expect) -> None:
    cluster.up("DAMAGED:1")
    began = time.monotonic()
    reason = said(cluster, expect, 2, "inject", "power-cut", "--target", 1).reason
    assert "kit: replica 1: the disk has lost what this replica had promised: wal" in reason
    assert time.monotonic() - began < LOCK_S, "it has tried again"
    assert leftovers(cluster) == []


def test_a_broken_disk_is_healed_by_a_restart(started: Cluster, expect: Expect) -> None:
    before = started.pids()
    words = ("--target", 1, "--strength", "10%", "--for", "1ms")
    said(started, expect, 0, "inject", "disk-error", *words)
    after = started.pids()
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] != before[1]


def test_one_bit_of_each_file_is_flipped(started: Cluster, expect: Expect) -> None:
    file = started.data / "replica-1" / "wal"
    file.write_bytes(bytes(1000))
    (started.data / "replica-1" / "empty").touch()
    words = ("--target", 1, "--strength", "500 per mille")
    assert "the damage stays" in said(started, expect, 0, "inject", "bit-flip", *words).err
    content = file.read_bytes()
    assert [at for at, byte in enumerate(content) if byte] == [500]
    assert content[500].bit_count() == 1


# ---- wrong input ----


WRONG = [
    ("net-slo --target 1", "there is no fault 'net-slo'; is it net-slow? (see ./kit faults"),
    ("zzz --target 1", "there is no fault 'zzz' (see ./kit faults list)"),
    ("net-slow --target 3", "there is no replica 3 (0 to 2)"),
    ("net-slow --target -1", "neither a replica's number nor follower or leader"),
    ("net-slow --target boss", "'boss' is neither a replica's number nor"),
    ("net-slow --target pilot", "'pilot' is neither a replica's number nor follower or leader"),
    ("net-slow --target 1 --strength fast", "'fast' is no strength of net-slow (such as 1 s"),
    ("net-slow --target 1 --strength 5%", "'5%' is no strength of net-slow"),
    ("cpu-slow --target 1 --strength 0%", "cpu-slow takes 1% to 100%, not 0%"),
    ("cpu-slow --target 1 --strength 101%", "cpu-slow takes 1% to 100%, not 101%"),
    ("crash --target 1 --strength 5%", "--strength: crash has none"),
    ("power-cut --target 1 --strength 5%", "--strength: power-cut has none"),
    ("power-cut --target 7", "there is no replica 7 (0 to 2)"),
    ("power-cu --target 1", "there is no fault 'power-cu'; is it power-cut?"),
    ("fs-delay --target 1", "fs-delay needs a --strength (or say fs-delay-1ms, fs-delay-10ms, "),
    ("disk-error --target 1", "disk-error needs a --strength"),
    ("net-slow --target 1 --to 2", "--to: net-slow is not on links"),
    ("cut --target 1 --to 1", "replica 1 is not at the other end of a link"),
    ("cut --target 1 --to 7", "replica 7 is not at the other end of a link"),
    ("cut --target 1 --to x", "'x' is no list of replicas (such as 0,2)"),
    ("net-slow --target 1 --for 0s", "'0s' is no time from 1ms to 60m (such as 10s)"),
    ("net-slow --target 1 --for ever", "'ever' is no time"),
    ("net-slow --target 1 --for 61m", "'61m' is no time"),
    ("net-slow", "the following arguments are required: --target"),
]


def test_a_role_that_no_replica_has_is_no_target(
    cluster: Cluster, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("failslow.extras.cluster.start.READY_S", 0.5)
    cluster.up("NOLEADER:0", code=1)
    there = "(0: follower, 1: follower, 2: follower)"
    reason = said(cluster, expect, 2, "inject", "net-slow", "--target", "leader").reason
    assert f"no replica is a leader now {there}" in reason


def test_wrong_words_change_nothing(started: Cluster, expect: Expect) -> None:
    before = [board(started, each).read_bytes() for each in range(3)]
    for words, reason in WRONG:
        assert reason in said(started, expect, 2, "inject", *words.split()).reason
    assert [board(started, each).read_bytes() for each in range(3)] == before
    assert leftovers(started) == []


def test_a_dead_replica_gets_no_fault(started: Cluster, expect: Expect) -> None:
    started.expect(0, "kill", 1)
    reason = said(started, expect, 2, "inject", "net-slow", "--target", 1).reason
    assert "replica 1 does not run" in reason
    assert leftovers(started) == []


def test_without_a_cluster_there_is_nothing_to_slow(expect: Expect, tmp_path: Path) -> None:
    where = tmp_path / "none"
    expect(2, "faults", "inject", "net-slow", "--target", 1, "--data", where)
    assert expect(0, "faults", "heal", "--data", where).out == "no fault is on\n"


def test_a_replica_of_an_older_kit_is_told(cluster: Cluster, expect: Expect) -> None:
    cluster.up("OLD:1")
    reason = said(cluster, expect, 2, "inject", "net-slow", "--target", 1).reason
    assert "was the replica started by an older kit?" in reason
    board(cluster, 2).write_bytes(struct.pack("=q", 99) + bytes(99 * 24))
    reason = said(cluster, expect, 2, "inject", "net-slow", "--target", 2).reason
    assert "is of another version of the kit: start the cluster again" in reason
    assert leftovers(cluster) == []


# ---- what is shown ----


def test_top_shows_replicas_load_and_faults(
    started: Cluster, known: Catalogue, start: Start
) -> None:
    out = started.expect(0, "top").out
    assert "leader" in out
    assert "2.0 KiB" in out
    assert "no fault is on" in out
    assert "start the cluster with --verify" in out
    start("net-slow", "--target", 1)
    eventually(lambda: is_on(started, known, 1, "net-slow"))
    assert "replica 1: net-slow 400 ms for" in started.expect(0, "top").out


def test_top_shows_the_waits_of_the_latest_windows(cluster: Cluster) -> None:
    cluster.up("", "--verify")
    times = {"count": 1234, "total_ns": 1234 * 5_000_000}
    waits = [edge(0, [1, 2], "green", needed=2, total=3, **times)]
    windows = [{"replica": 0, "graph": {"replicas": 3, "edges": edges}} for edges in ([], waits)]
    text = "".join(json.dumps(window) + "\n" for window in windows)
    (cluster.data / "replica-0.verification").write_text(text)
    out = cluster.expect(0, "top").out
    assert "s1, s2" in out
    assert "2/3" in out
    assert "1,234" in out
    assert "5.00 ms" in out


def test_the_list_names_every_fault_and_preset(started: Cluster, expect: Expect) -> None:
    out = said(started, expect, 0, "list").out
    assert all(name in out for name in (*FAULT_KINDS, POWER_CUT.name))
    assert "fs-delay-1ms (1 ms)" in out
    assert POWER_CUT.name in json.loads(said(started, expect, 0, "list", "--json").out)["faults"]
    assert "no fault is on" in out


def test_every_kind_of_the_real_catalogue_has_an_injector() -> None:
    header = (this_kit().root / "framework" / "faults" / "catalogue.h").read_text()
    names = [line.split('"')[1] for line in header.split("KindRow{") if ', "' in line[:60]]
    assert names
    assert {*names, POWER_CUT.name} == set(INJECTORS)
