"""`kit cluster`, with replicas that are small scripts: real processes, real ports."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from demands import some
from failslow.base.kit import Kit
from failslow.extras.cluster import replica_processes, start
from failslow.extras.cluster.replica_processes import Process
from fakes import PATIENCE_S, eventually, write_program
from recordings import edge
from running import Cluster, Expect


def test_each_replica_is_a_process_that_outlives_the_command(cluster: Cluster) -> None:
    assert "redis: " not in cluster.up().out
    assert redis_ports(cluster) == [None, None, None]
    assert cluster.numbers() == [0, 1, 2]
    assert all(os.getsid(pid) == pid for pid in some(cluster.pids()))
    replicas = cluster.status()
    assert [replica["port"] for replica in replicas] == cluster.ports()
    assert [replica["pid"] for replica in replicas] == cluster.pids()
    leader = replicas[0]
    assert leader["shows"] == {"role": "leader", "term": 3}
    assert leader["requests_per_s"] == 7
    assert leader["frames_per_s"] == 14
    assert leader["cpu_percent"] == 25
    assert leader["held_bytes"] == [0, 0, 2048]
    assert replicas[1]["shows"]["role"] == "follower"
    out = cluster.expect(0, "status").out
    for shown in (cluster.ports()[2], "leader", "2.0 KiB"):
        assert str(shown) in out


def test_five_replicas_listen_from_the_given_port_on(cluster: Cluster) -> None:
    base = free_ports(5)
    cluster.up("", "--replicas", 5, "--port", base)
    assert cluster.ports() == list(range(base, base + 5))


def test_groups_are_kept_from_one_start_to_the_next(cluster: Cluster) -> None:
    cluster.up("", "--groups", "2,3")
    assert [replica["shows"]["role"] for replica in cluster.status()] == [
        "leader",
        "follower",
        "leader",
        "follower",
        "follower",
    ]
    cluster.expect(0, "down")
    cluster.up("")
    assert [replica["shows"]["role"] for replica in cluster.status()].count("leader") == 2
    cluster.expect(0, "down")
    assert "data of other groups" in cluster.up("", "--groups", "3,2", code=2).reason
    refused = cluster.up("", "--groups", "2,3", "--replicas", 5, code=2)
    assert "leave --replicas out" in refused.reason


def free_ports(count: int) -> int:
    """The first of `count` ports in a row that were free a moment ago, from below those that the
    kernel gives out."""
    for base in range(20000, 30000, count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for number, each in enumerate(sockets):
                each.bind(("127.0.0.1", base + number))
            return base
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()
    raise AssertionError("no free ports")


def test_down_ends_this_cluster_and_no_other(cluster: Cluster, expect: Expect) -> None:
    other = Cluster(expect, cluster.data.with_name("other"))
    cluster.up()
    other.up()
    running = cluster.pids()
    out = cluster.expect(0, "down").out
    assert all(f"(pid {pid}): ended by SIGTERM" in out for pid in some(running))
    assert cluster.pids() == []
    assert len(other.pids()) == 3
    assert "no replica runs" in cluster.expect(0, "down").out


def test_a_replica_that_ignores_sigterm_is_killed_and_named(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.up("STUBBORN:1")
    patient = replica_processes.end
    monkeypatch.setattr(
        replica_processes, "end", lambda replicas, grace_s=0.2: patient(replicas, grace_s)
    )
    out = cluster.expect(0, "down").out
    assert out.count("ended by SIGKILL, because it ignored SIGTERM") == 1
    assert cluster.pids() == []


def test_a_replica_whose_disk_has_failed_says_so(started: Cluster) -> None:
    line = json.loads((started.data / "replica-2.metrics").read_text().splitlines()[-1])
    line["disk_failure"] = "cannot write raft.wal: No space left on device"
    (started.data / "replica-2.metrics").write_text(json.dumps(line) + "\n")
    replica = json.loads(started.expect(1, "status", "--json").out)["replicas"][2]
    assert replica["state"] == "out of service"
    said = "its disk has failed: cannot write raft.wal: No space left on device"
    assert replica["remark"] == said
    assert f"replica 2: {said}" in started.expect(1, "status").out


def test_a_suspended_replica_is_shown_and_ended(started: Cluster) -> None:
    before = started.running()
    os.kill(before[2].pid, signal.SIGSTOP)
    eventually(lambda: started.running()[2].status == replica_processes.SUSPENDED)
    assert started.running() == before, "the same processes"
    replica = started.status()[2]
    assert replica["state"] == "suspended"
    assert replica["frames_per_s"] is None
    started.expect(2, "dump", 2)
    assert "SIGKILL" not in started.expect(0, "down").out
    assert started.pids() == []


def test_up_again_keeps_ports_and_logs(cluster: Cluster) -> None:
    cluster.up("first")
    ports = cluster.ports()
    cluster.expect(0, "down")
    (cluster.data / "replica-1" / "kept").write_text("data")
    cluster.up("second")
    assert cluster.ports() == ports
    assert (cluster.data / "replica-1" / "kept").exists()
    assert (cluster.data / "replica-0.log.1").read_text() == "replica 0 is up\n"
    assert len((cluster.data / "replica-0.metrics").read_text().splitlines()) == 2


def test_a_port_that_is_taken_meanwhile_is_replaced(started: Cluster) -> None:
    ports = started.ports()
    started.expect(0, "down")
    with socket.create_server(("127.0.0.1", ports[1])):
        said = started.up()
        now = started.ports()
    assert now[0] == ports[0]
    assert now[1] != ports[1]
    assert f"port {ports[1]} is in use; replica 1 gets" in said.err


def test_up_is_refused_while_the_cluster_runs(started: Cluster) -> None:
    running = started.pids()
    said = started.up(code=2).err
    assert all(f"pid {pid}" in said for pid in some(running))
    assert f"./kit cluster down --data {started.data}" in said
    assert started.pids() == running


def test_leftovers_of_a_removed_directory_are_named_and_ended(started: Cluster) -> None:
    left = started.running()
    shutil.rmtree(started.data)
    said = started.up(code=2).err
    assert "an earlier cluster whose cluster.json is gone" in said
    for process in some(left):
        assert f"pid {process.pid}, port {process.port}" in said
    assert f"pid {left[0].pid}" in started.expect(2, "status").err
    started.expect(0, "down")
    assert started.pids() == []
    started.up()


def test_a_port_of_another_cluster_is_named(started: Cluster, expect: Expect) -> None:
    port = started.ports()[0]
    other = Cluster(expect, started.data.with_name("other"))
    reason = other.up("", "--port", port, code=2).reason
    assert f"port {port} is in use by replica 0 of the cluster in {started.data}" in reason
    assert not other.data.exists()


def test_a_replica_that_dies_at_start_takes_the_others_down(cluster: Cluster) -> None:
    said = cluster.up("DIES:1", code=2)
    assert said.reason == "kit: replica 1 ended at once: cannot stand it"
    assert cluster.pids() == []
    assert "is down" in cluster.expect(2, "status").reason


def test_a_cluster_without_a_leader_runs_and_says_so(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "READY_S", 0.5)
    assert "no replica reports 'role: leader'" in cluster.up("NOLEADER:0", code=1).err
    assert len(cluster.pids()) == 3


def test_an_interrupted_up_ends_what_it_started(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> bool:
        # A program that has not begun yet has no arguments to find it by.
        if len(cluster.pids()) < 3:
            return False
        raise KeyboardInterrupt

    monkeypatch.setattr("failslow.base.process.stop_all", lambda: None)  # the tests go on
    monkeypatch.setattr("failslow.extras.cluster.status.serves", interrupt)
    assert "what was started is stopped again" in cluster.up(code=130).reason
    assert cluster.pids() == []


def test_an_interrupt_waits_until_a_start_is_complete() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), start.uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the rest")
    assert done == ["the rest"]


def test_a_dead_replica_is_shown_and_started_again(started: Cluster) -> None:
    victim = started.running()[2]
    replica_processes.kill([victim])
    started.expect(1, "status")
    replica = started.status()[2]
    assert (replica["state"], replica["pid"]) == ("dead", victim.pid)
    assert replica["remark"] == "its log ends with: replica 2 is up"
    started.expect(0, "start", 2)
    again = started.running()[2]
    assert (again.number, again.port) == (2, victim.port)
    assert again.pid != victim.pid
    started.expect(0, "status")
    assert f"already runs (pid {again.pid})" in started.expect(2, "start", 2).reason


@pytest.mark.parametrize(("action", "how"), [("stop", "SIGTERM"), ("kill", "SIGKILL")])
def test_one_replica_is_ended(started: Cluster, action: str, how: str) -> None:
    started.expect(0, action, 1)
    assert started.numbers() == [0, 2]
    assert started.status()[1]["remark"] == f"ended by ./kit cluster with {how}"
    assert "replica 1 does not run" in started.expect(2, action, 1).reason


def test_a_replica_that_does_not_come_up_is_not_left_running(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.up()
    cluster.expect(0, "kill", 1)
    program = cluster.data / "lab2_real"
    program.write_text(f"{program.read_text()}# MUTE:1\n")
    monkeypatch.setattr(start, "READY_S", 0.5)
    assert "replica 1 has written no metrics" in cluster.expect(2, "start", 1).reason
    assert cluster.numbers() == [0, 2]


def test_logs_and_dump(started: Cluster) -> None:
    logs = [started.data / f"replica-{number}.log" for number in range(3)]
    eventually(lambda: all(log.stat().st_size > 0 for log in logs))
    assert started.expect(0, "logs", 1).out == "replica 1 is up\n"
    out = started.expect(0, "logs").out
    assert all(f"replica {number} is up" in out for number in range(3))
    assert started.expect(0, "dump", 1).out == "replica 1: 1 suspended coroutine\n"
    assert started.expect(0, "dump", 2).out == "replica 2: 2 suspended coroutines\n"


def test_a_followed_log_grows_until_interrupted(started: Cluster) -> None:
    code = "import sys; from failslow import cli; sys.exit(cli.main(sys.argv[1:]))"
    argv = [sys.executable, "-c", code, "cluster", "logs", "0", "--follow", "--data", started.data]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline() == "replica 0 is up\n"
        replica_processes.send(started.running()[0], signal.SIGUSR1)
        assert tail.stdout.readline() == "replica 0: 0 suspended coroutines\n"
        os.killpg(tail.pid, signal.SIGINT)
        assert tail.wait(PATIENCE_S) == 0


def test_the_graph_is_that_of_all_replicas_that_verify_themselves(
    started: Cluster, tmp_path: Path
) -> None:
    assert "--verify" in started.expect(2, "graph").reason
    started.expect(0, "down")
    started.up("", "--verify")
    out = tmp_path / "drawn"
    assert "try again" in started.expect(2, "graph", "--out", out).reason
    edges = [edge(0, [1], "green", count=3, total_ns=6_000_000, worst_ns=4_000_000)]
    window: dict[str, object] = {"graph": {"replicas": 3, "edges": edges}, "warnings": []}
    for number in (0, 1):
        (started.data / f"replica-{number}.verification").write_text(json.dumps(window) + "\n")
    assert "no warning" in started.expect(0, "graph", "--out", out).out
    assert "6 waits, mean 2.0 ms, worst 4.0 ms" in (out / "slowness.html").read_text()
    assert "6 waits, mean 2.0 ms" in (out / "slowness.dot").read_text()
    assert len(json.loads((out / "slowness.json").read_text())) == 2
    warning = {"kind": "stalled-wait", "replica": 2, "coroutine": "round", "wait": "quorum 2/3"}
    window["warnings"] = [{**warning, "peers": [1], "text": "it waits"}]
    (started.data / "replica-2.verification").write_text(json.dumps(window) + "\n")
    said = started.expect(1, "graph", "--out", out).out
    assert "stalled-wait, replica 2, 1 window: it waits" in said
    started.expect(0, "down")
    started.up("", "--verify")
    assert not (started.data / "replica-2.verification").exists()


def test_a_restart_of_the_machine_is_recognised(started: Cluster) -> None:
    replica_processes.kill(started.running())
    file = started.data / "cluster.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "boot": "another"}))
    assert "ended when the machine restarted" in started.expect(2, "status").reason
    assert "the machine restarted" in started.up().err


def test_a_process_that_merely_looks_alike_is_not_touched(tmp_path: Path) -> None:
    program = write_program(tmp_path / "other" / "lab2_real", "import signal; signal.pause()")
    data = tmp_path / "cluster"
    argv = [program, "--id", "0", "--data", data / "replica-0"]
    with subprocess.Popen([str(word) for word in argv]) as alike:
        eventually(lambda: str(program) in Path(f"/proc/{alike.pid}/cmdline").read_text())
        assert replica_processes.find(data) == []
        alike.kill()


def test_a_reused_process_id_gets_no_signal(started: Cluster) -> None:
    real = started.running()[0]
    earlier = Process(started.data, 0, real.pid, real.start_ticks - 1, real.status, real.port)
    assert replica_processes.end([earlier]) == []
    assert started.pids()[0] == real.pid


def test_a_replica_that_does_not_exist_is_refused(started: Cluster) -> None:
    for action in ("start", "stop", "kill", "dump", "logs"):
        assert "there is no replica 3 (0 to 2)" in started.expect(2, action, 3).reason
    started.expect(2, "logs", "--lines", -1)


@pytest.fixture
def with_redis(kit: Kit) -> None:
    """The lab's replicas have a port for Redis clients."""
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("cluster:\n", "cluster:\n  redis: true\n"))


def redis_ports(cluster: Cluster) -> list[int]:
    return [replica["redis_port"] for replica in cluster.status()]


@pytest.mark.usefixtures("with_redis")
def test_redis_ports_are_told_and_stay(cluster: Cluster) -> None:
    out = cluster.up().out
    before = redis_ports(cluster)
    assert "redis: " + ",".join(f"127.0.0.1:{port}" for port in before) in out
    assert len({*before, *cluster.ports()}) == 6
    for port in before:
        socket.create_connection(("127.0.0.1", port)).close()
    cluster.expect(0, "kill", 1)
    cluster.expect(0, "start", 1)
    socket.create_connection(("127.0.0.1", before[1])).close()
    cluster.expect(0, "down")
    cluster.up()
    assert redis_ports(cluster) == before


@pytest.mark.usefixtures("with_redis")
def test_redis_ports_follow_the_given_ports(cluster: Cluster) -> None:
    base = free_ports(6)
    cluster.up("", "--port", base)
    assert redis_ports(cluster) == [base + 3, base + 4, base + 5]
    cluster.expect(0, "down")
    reason = cluster.up("", "--port", 65532, code=2).reason
    assert "there are no 6 ports from 65532 on" in reason
