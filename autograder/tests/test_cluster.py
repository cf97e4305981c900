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

from clusters import RunKit, error_line, pids, shown
from failslow.cluster import replica_processes, start
from failslow.cluster.replica_processes import Process
from failslow.kit import Kit
from fakes import PATIENCE_S, eventually, write_program


def test_each_replica_is_a_process_that_outlives_the_command(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    running = replica_processes.find(data)
    assert [process.number for process in running] == [0, 1, 2]
    assert all(os.getsid(process.pid) == process.pid for process in running)
    status = shown(run_kit, data, capsys)
    assert [replica["port"] for replica in status["replicas"]] == [each.port for each in running]
    assert [replica["pid"] for replica in status["replicas"]] == [each.pid for each in running]
    leader = status["replicas"][0]
    assert leader["shows"] == {"role": "leader", "term": 3}
    assert leader["requests_per_s"] == 7
    assert leader["frames_per_s"] == 14
    assert leader["cpu_percent"] == 25
    assert leader["held_bytes"] == [0, 0, 2048]
    assert status["replicas"][1]["shows"]["role"] == "follower"


def test_tables_name_ports_and_roles(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    assert run_kit("cluster", "status", "--data", data) == 0
    out = capsys.readouterr().out
    assert str(replica_processes.find(data)[2].port) in out
    assert "leader" in out
    assert "2.0 KiB" in out


def test_five_replicas_listen_from_the_given_port_on(up: RunKit, data: Path) -> None:
    base = free_ports(5)
    assert up("", "--replicas", 5, "--port", base) == 0
    assert [process.port for process in replica_processes.find(data)] == list(range(base, base + 5))


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


def test_down_ends_this_cluster_and_no_other(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = data.with_name("other")
    assert up() == 0
    assert run_kit("cluster", "up", data.parent / "mine", "--data", other) == 0
    running = pids(data)
    assert run_kit("cluster", "down", "--data", data) == 0
    assert pids(data) == []
    assert len(pids(other)) == 3
    out = capsys.readouterr().out
    assert all(f"(pid {pid}): ended by SIGTERM" in out for pid in running)
    assert run_kit("cluster", "down", "--data", data) == 0
    assert "no replica runs" in capsys.readouterr().out


def test_a_replica_that_ignores_sigterm_is_killed_and_named(
    up: RunKit,
    run_kit: RunKit,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert up("STUBBORN:1") == 0
    patient = replica_processes.end
    monkeypatch.setattr(
        replica_processes, "end", lambda replicas, grace_s=0.2: patient(replicas, grace_s)
    )
    assert run_kit("cluster", "down", "--data", data) == 0
    out = capsys.readouterr().out
    assert out.count("ended by SIGKILL, because it ignored SIGTERM") == 1
    assert pids(data) == []


def test_a_suspended_replica_is_shown_and_ended(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    victim = replica_processes.find(data)[2]
    os.kill(victim.pid, signal.SIGSTOP)
    eventually(lambda: replica_processes.find(data)[2].status == replica_processes.SUSPENDED)
    replica = shown(run_kit, data, capsys)["replicas"][2]
    assert replica["state"] == "suspended"
    assert replica["frames_per_s"] is None
    assert run_kit("cluster", "dump", 2, "--data", data) == 2
    assert run_kit("cluster", "down", "--data", data) == 0
    assert "SIGKILL" not in capsys.readouterr().out
    assert pids(data) == []


def test_up_again_keeps_ports_and_logs(up: RunKit, run_kit: RunKit, data: Path) -> None:
    assert up("first") == 0
    ports = [process.port for process in replica_processes.find(data)]
    assert run_kit("cluster", "down", "--data", data) == 0
    (data / "replica-1" / "kept").write_text("data")
    assert up("second") == 0
    assert [process.port for process in replica_processes.find(data)] == ports
    assert (data / "replica-1" / "kept").exists()
    assert (data / "replica-0.log.1").read_text() == "replica 0 is up\n"
    assert len((data / "replica-0.metrics").read_text().splitlines()) == 2


def test_a_port_that_is_taken_meanwhile_is_replaced(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    ports = [process.port for process in replica_processes.find(data)]
    assert run_kit("cluster", "down", "--data", data) == 0
    with socket.create_server(("127.0.0.1", ports[1])):
        assert up() == 0
        now = [process.port for process in replica_processes.find(data)]
    assert now[0] == ports[0]
    assert now[1] != ports[1]
    assert f"port {ports[1]} is in use; replica 1 gets" in capsys.readouterr().err


def test_up_is_refused_while_the_cluster_runs(
    up: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    running = pids(data)
    capsys.readouterr()
    assert up() == 2
    said = capsys.readouterr().err
    assert all(f"pid {pid}" in said for pid in running)
    assert f"./kit cluster down --data {data}" in said
    assert pids(data) == running


def test_leftovers_of_a_removed_directory_are_named_and_ended(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    left = replica_processes.find(data)
    shutil.rmtree(data)
    capsys.readouterr()
    assert up() == 2
    said = capsys.readouterr().err
    assert "an earlier cluster whose cluster.json is gone" in said
    for process in left:
        assert f"pid {process.pid}, port {process.port}" in said
    assert run_kit("cluster", "status", "--data", data) == 2
    assert f"pid {left[0].pid}" in capsys.readouterr().err
    assert run_kit("cluster", "down", "--data", data) == 0
    assert pids(data) == []
    assert up() == 0


def test_a_port_of_another_cluster_is_named(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    port = replica_processes.find(data)[0].port
    other = data.with_name("other")
    capsys.readouterr()
    arguments = ("--data", other, "--port", port)
    assert run_kit("cluster", "up", data.parent / "mine", *arguments) == 2
    assert f"port {port} is in use by replica 0 of the cluster in {data}" in error_line(capsys)
    assert not other.exists()


def test_a_replica_that_dies_at_start_takes_the_others_down(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up("DIES:1") == 2
    said = capsys.readouterr().err
    assert "kit: replica 1 ended at once: exit code 2" in said
    assert "cannot stand it" in said
    assert pids(data) == []
    assert run_kit("cluster", "status", "--data", data) == 2
    assert "is down" in error_line(capsys)


def test_a_cluster_without_a_leader_runs_and_says_so(
    up: RunKit, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "READY_S", 0.5)
    assert up("NOLEADER:0") == 1
    assert "no replica reports 'role: leader'" in capsys.readouterr().err
    assert len(pids(data)) == 3


def test_an_interrupted_up_ends_what_it_started(
    up: RunKit, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> bool:
        if len(pids(data)) < 3:  # a program that has not begun yet has no arguments to find it by
            return False
        raise KeyboardInterrupt

    monkeypatch.setattr("failslow.process.stop_all", lambda: None)  # the tests go on
    monkeypatch.setattr("failslow.cluster.status.serves", interrupt)
    assert up() == 130
    assert "what was started is stopped again" in error_line(capsys)
    assert pids(data) == []


def test_an_interrupt_waits_until_a_start_is_complete(kit: Kit) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), start.uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the rest")
    assert done == ["the rest"]


def test_a_dead_replica_is_shown_and_started_again(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    victim = replica_processes.find(data)[2]
    replica_processes.kill([victim])
    assert run_kit("cluster", "status", "--data", data) == 1
    replica = shown(run_kit, data, capsys)["replicas"][2]
    assert (replica["state"], replica["pid"]) == ("dead", victim.pid)
    assert replica["remark"] == "its log ends with: replica 2 is up"
    assert run_kit("cluster", "start", 2, "--data", data) == 0
    again = replica_processes.find(data)[2]
    assert (again.number, again.port) == (2, victim.port)
    assert again.pid != victim.pid
    assert run_kit("cluster", "status", "--data", data) == 0
    assert run_kit("cluster", "start", 2, "--data", data) == 2
    assert f"already runs (pid {again.pid})" in error_line(capsys)


@pytest.mark.parametrize(("action", "how"), [("stop", "SIGTERM"), ("kill", "SIGKILL")])
def test_one_replica_is_ended(
    up: RunKit,
    run_kit: RunKit,
    data: Path,
    action: str,
    how: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert up() == 0
    assert run_kit("cluster", action, 1, "--data", data) == 0
    assert [process.number for process in replica_processes.find(data)] == [0, 2]
    remark = shown(run_kit, data, capsys)["replicas"][1]["remark"]
    assert remark == f"ended by ./kit cluster with {how}"
    assert run_kit("cluster", action, 1, "--data", data) == 2
    assert "replica 1 does not run" in error_line(capsys)


def test_a_replica_that_does_not_come_up_is_not_left_running(
    up: RunKit,
    run_kit: RunKit,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert up() == 0
    assert run_kit("cluster", "kill", 1, "--data", data) == 0
    program = data / "lab2_real"
    program.write_text(f"{program.read_text()}# MUTE:1\n")
    monkeypatch.setattr(start, "READY_S", 0.5)
    assert run_kit("cluster", "start", 1, "--data", data) == 2
    assert "replica 1 has written no metrics" in error_line(capsys)
    assert [process.number for process in replica_processes.find(data)] == [0, 2]


def test_logs_and_dump(
    up: RunKit, run_kit: RunKit, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    eventually(lambda: all((data / f"replica-{n}.log").stat().st_size > 0 for n in range(3)))
    capfd.readouterr()
    assert run_kit("cluster", "logs", 1, "--data", data) == 0
    assert capfd.readouterr().out == "replica 1 is up\n"
    assert run_kit("cluster", "logs", "--data", data) == 0
    out = capfd.readouterr().out
    assert all(f"replica {number} is up" in out for number in range(3))
    assert run_kit("cluster", "dump", 2, "--data", data) == 0
    assert capfd.readouterr().out == "replica 2: 0 suspended coroutines\n"


def test_a_followed_log_grows_until_interrupted(kit: Kit, up: RunKit, data: Path) -> None:
    assert up() == 0
    # Whoever runs the tests in the background may have told them to ignore interrupts.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from failslow import cli; sys.exit(cli.main(sys.argv[1:]))"
    )
    argv = [sys.executable, "-c", code, "cluster", "logs", "0", "--follow", "--data", str(data)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline() == "replica 0 is up\n"
        replica_processes.send(replica_processes.find(data)[0], signal.SIGUSR1)
        assert tail.stdout.readline() == "replica 0: 0 suspended coroutines\n"
        os.killpg(tail.pid, signal.SIGINT)
        assert tail.wait(PATIENCE_S) == 0


def test_a_restart_of_the_machine_is_recognised(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    replica_processes.kill(replica_processes.find(data))
    state = json.loads((data / "cluster.json").read_text())
    (data / "cluster.json").write_text(json.dumps({**state, "boot": "another"}))
    assert run_kit("cluster", "status", "--data", data) == 2
    assert "ended when the machine restarted" in error_line(capsys)
    assert up() == 0
    assert "the machine restarted" in capsys.readouterr().err


def test_a_process_that_merely_looks_alike_is_not_touched(tmp_path: Path) -> None:
    program = write_program(tmp_path / "other" / "lab2_real", "import signal; signal.pause()")
    data = tmp_path / "cluster"
    argv = [program, "--id", "0", "--data", data / "replica-0"]
    with subprocess.Popen([str(word) for word in argv]) as alike:
        eventually(lambda: str(program) in Path(f"/proc/{alike.pid}/cmdline").read_text())
        assert replica_processes.find(data) == []
        alike.kill()


def test_a_reused_process_id_gets_no_signal(up: RunKit, data: Path) -> None:
    assert up() == 0
    real = replica_processes.find(data)[0]
    earlier = Process(data, 0, real.pid, real.start_ticks - 1, real.status, real.port)
    assert replica_processes.end([earlier]) == []
    assert pids(data)[0] == real.pid


@pytest.mark.parametrize(
    "arguments",
    [
        ["cluster"],
        ["cluster", "frobnicate"],
        ["cluster", "up", "nowhere"],
        ["cluster", "up", "--lab", "lab9"],
        ["cluster", "up", "--replicas", "4"],
        ["cluster", "up", "--port", "many"],
        ["cluster", "kill"],
        ["cluster", "kill", "one"],
        ["cluster", "logs", "--data", "nowhere"],
    ],
)
def test_wrong_input_is_one_line_and_exit_2(
    run_kit: RunKit, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run_kit(*arguments) == 2
    error_line(capsys)


def test_a_replica_that_does_not_exist_is_refused(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    for action in ("start", "stop", "kill", "dump", "logs"):
        capsys.readouterr()
        assert run_kit("cluster", action, 3, "--data", data) == 2
        assert "there is no replica 3 (0 to 2)" in error_line(capsys)
    assert run_kit("cluster", "logs", "--lines", -1, "--data", data) == 2


@pytest.fixture
def with_redis(kit: Kit) -> None:
    """The lab's replicas have a port for Redis clients."""
    path = kit.labs / "lab2-raft" / "lab.yaml"
    path.write_text(path.read_text().replace("cluster:\n", "cluster:\n  redis: true\n"))


def redis_ports(run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]) -> list[int]:
    return [each["redis_port"] for each in shown(run_kit, data, capsys)["replicas"]]


@pytest.mark.usefixtures("with_redis")
def test_redis_ports_are_told_and_stay(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    out = capsys.readouterr().out
    before = redis_ports(run_kit, data, capsys)
    assert "redis: " + ",".join(f"127.0.0.1:{port}" for port in before) in out
    assert len({*before, *(process.port for process in replica_processes.find(data))}) == 6
    for port in before:
        socket.create_connection(("127.0.0.1", port)).close()
    assert run_kit("cluster", "kill", 1, "--data", data) == 0
    assert run_kit("cluster", "start", 1, "--data", data) == 0
    socket.create_connection(("127.0.0.1", before[1])).close()
    assert run_kit("cluster", "down", "--data", data) == 0
    assert up() == 0
    assert redis_ports(run_kit, data, capsys) == before


@pytest.mark.usefixtures("with_redis")
def test_redis_ports_follow_the_given_ports(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = free_ports(6)
    assert up("", "--port", base) == 0
    assert redis_ports(run_kit, data, capsys) == [base + 3, base + 4, base + 5]
    assert run_kit("cluster", "down", "--data", data) == 0
    assert up("", "--port", 65532) == 2
    assert "there are no 6 ports from 65532 on" in error_line(capsys)


def test_a_lab_without_redis_has_no_such_port(
    up: RunKit, run_kit: RunKit, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert up() == 0
    assert "redis: " not in capsys.readouterr().out
    assert redis_ports(run_kit, data, capsys) == [None, None, None]
