"""`--docker`: replicas in another mount namespace, and an engine that is a script."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import containers, replica_processes, state
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import control_group, injectors
from fakes import REPLICA, eventually, write_program
from running import Expect

PEERS = "10.0.0.10:5400,10.0.0.11:5400,10.0.0.12:5400"
ENGINE = """
import json, pathlib, sys
here = pathlib.Path(__file__).parent
word, *rest = sys.argv[1:]
with (here / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
known = json.loads((here / "containers.json").read_text())
if word == "ps":
    print("\\n".join(each["Id"] for each in known))
elif word == "inspect":
    print(json.dumps([each for each in known if each["Id"] in rest]))
elif word == "start":
    for each in known:
        if each["Id"] in rest:
            source = pathlib.Path(each["Mounts"][0]["Source"])
            (source / "replica-0.metrics").write_text('{"uptime_ms": 1}\\n')
"""


def may_mount() -> bool:
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


with_mounts = pytest.mark.skipif(not may_mount(), reason="needs root: a mount namespace")


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    path = tmp_path / "volume"
    path.mkdir()
    return path


@pytest.fixture
def run(tmp_path: Path, volume: Path) -> Iterator[Callable[[int], int]]:
    """Starts a fake replica that sees the volume as /mnt; returns its process id."""
    program = write_program(tmp_path / "program", REPLICA)
    started: list[subprocess.Popen[bytes]] = []

    def start(number: int) -> int:
        base = f"/mnt/replica-{number}"
        argv = [sys.executable, "-I", program, "--id", number, "--peers", PEERS, "--data", base]
        argv += ["--metrics", f"{base}.metrics", "--faults", f"{base}.faults"]
        script = 'mount --bind "$0" /mnt && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", script, volume, *argv]
        process = subprocess.Popen([str(word) for word in words], stderr=subprocess.DEVNULL)
        started.append(process)
        eventually(lambda: (volume / f"replica-{number}.metrics").exists())
        return process.pid

    yield start
    for each in started:
        each.kill()
        each.wait()


def container(kit: Kit, volume: Path, service: str, pid: int, **labels: str) -> dict[str, Any]:
    return {
        "Id": f"id-of-{service}",
        "Config": {
            "Labels": {
                containers.SERVICE: service,
                containers.PROJECT: "main",
                containers.WORKING_DIR: str(kit.root),
                **labels,
            }
        },
        "State": {"Running": pid > 0, "Pid": pid, "Status": "running" if pid else "exited"},
        "Mounts": [{"Destination": "/cluster", "Source": str(volume)}],
        "NetworkSettings": {
            "Networks": {"default": {"IPAMConfig": {"IPv4Address": f"10.0.0.1{service[-1]}"}}}
        },
    }


Engine = Callable[..., Path]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Makes the given containers the engine's. Returns the file of its calls."""
    directory = tmp_path / "bin"
    write_program(directory / "docker", ENGINE)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")

    def install(*known: dict[str, Any]) -> Path:
        (directory / "containers.json").write_text(json.dumps(known))
        return directory / "calls"

    return install


def replicas(kit: Kit, volume: Path, pids: list[int]) -> list[dict[str, Any]]:
    labels = {containers.LAB: "lab2", containers.SOLUTION: "labs"}
    made = [
        container(kit, volume, f"replica-{number}", pid, **labels)
        for number, pid in enumerate(pids)
    ]
    return [container(kit, volume, "load", 7), *reversed(made)]


@with_mounts
def test_replicas_in_containers_are_found_by_their_directory(
    volume: Path, run: Callable[[int], int], tmp_path: Path
) -> None:
    pids = [run(0), run(2)]
    found = replica_processes.find(volume)
    assert [(each.number, each.pid, each.port) for each in found] == [
        (0, pids[0], 5400),
        (2, pids[1], 5400),
    ]
    assert all(each.data == volume for each in found)
    other = tmp_path / "other"
    other.mkdir()
    assert replica_processes.find(other) == []
    assert not {each.pid for each in replica_processes.find()} & set(pids)


@with_mounts
def test_commands_on_containers(
    kit: Kit, volume: Path, run: Callable[[int], int], engine: Engine, expect: Expect
) -> None:
    pids = [run(number) for number in range(3)]
    engine(*replicas(kit, volume, pids))
    shown = json.loads(expect(0, "cluster", "status", "--docker", "--json").out)
    assert shown["solution"] == "labs"
    assert [(each["id"], each["pid"], each["state"]) for each in shown["replicas"]] == [
        (number, pid, "runs") for number, pid in enumerate(pids)
    ]
    current = state.load(Layout(volume))
    assert current is not None
    assert current.endpoints == PEERS.split(",")
    said = expect(0, "faults", "inject", "net-slow", "--target", 1, "--for", "1ms", "--docker")
    assert "net-slow 400 ms on replica 1 (follower): healed" in said.err
    expect(0, "cluster", "kill", 1, "--docker")
    assert [each.number for each in replica_processes.find(volume)] == [0, 2]


@with_mounts
def test_a_crash_in_a_container_is_healed_by_the_engine(
    kit: Kit, volume: Path, run: Callable[[int], int], engine: Engine
) -> None:
    calls = engine(*replicas(kit, volume, [run(0), 0, 0]))
    layout = containers.adopted(kit)
    current = state.load(layout)
    assert current is not None
    replica_processes.kill(replica_processes.find(volume))
    calls.unlink()
    started = run(0)
    assert containers.start(layout, current, 0) == started
    assert calls.read_text() == "start id-of-replica-0\n"


in_a_group = pytest.mark.skipif(os.getuid() != 0, reason="needs root: a control group")


@contextmanager
def limited(controller: str, code: str) -> Iterator[tuple[control_group.Group, int]]:
    """A control group of this process's, and another process to be put into it."""
    try:
        group = control_group.make(os.getpid(), controller)
    except CannotDo as error:
        pytest.skip(str(error))
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        try:
            yield group, child.pid
        finally:
            child.kill()
            child.wait()
            control_group.remove(group)


@in_a_group
def test_a_quota_is_a_share_of_what_the_process_had() -> None:
    with limited(control_group.CPU, "while True: pass") as (group, busy):
        control_group.limit_cpu(group, busy, 10, 10_000)
        before = replica_processes.cpu_ms(busy) or 0
        assert str(busy) in (group.path / "cgroup.procs").read_text()
        eventually(lambda: (replica_processes.cpu_ms(busy) or 0) >= before + 20)
        files = {each.name: each.read_text().split() for each in group.path.glob("cpu.*")}
    if "cpu.max" in files:
        assert files["cpu.max"] == ["1000", "10000"]
    else:
        assert (files["cpu.cfs_quota_us"], files["cpu.cfs_period_us"]) == (["1000"], ["10000"])
    assert not group.path.exists()


@in_a_group
def test_the_kernel_takes_the_throttle_of_a_disk(tmp_path: Path) -> None:
    try:
        device = control_group.device_of(tmp_path)
    except CannotDo as error:
        pytest.skip(str(error))
    with limited(control_group.DISK, "input()") as (group, idle):
        control_group.limit_disk(group, idle, device, 1 << 20)
        limits = group.limit.read_text()
        assert str(idle) in (group.path / "cgroup.procs").read_text()
    assert device in limits
    assert str(1 << 20) in limits
    assert not group.path.exists() or group.limit.read_text() == group.before


@pytest.mark.parametrize(
    ("limit", "files"),
    [
        (
            "blkio.throttle.write_bps_device",
            {
                "blkio.throttle.read_bps_device": "8:16 4096",
                "blkio.throttle.write_bps_device": "8:16 4096",
            },
        ),
        ("io.max", {"io.max": "8:16 rbps=4096 wbps=4096"}),
    ],
)
def test_a_disk_is_throttled_in_both_versions(
    tmp_path: Path, limit: str, files: dict[str, str]
) -> None:
    group = control_group.Group(tmp_path, tmp_path, tmp_path / limit)
    control_group.limit_disk(group, 42, "8:16", 4096)
    written = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert written == files | {"cgroup.procs": "42"}


@pytest.fixture
def scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group of version 2 with a limit of its own, and this process in it."""
    (tmp_path / "cgroup.controllers").write_text("io")
    path = tmp_path / "engine.scope"
    path.mkdir()
    (path / "io.max").write_text("8:0 rbps=max wbps=9999\n")
    monkeypatch.setattr(control_group, "MOUNT", tmp_path)
    monkeypatch.setattr(control_group, "_group_of", lambda *_: (tmp_path, path.name))
    return path


def test_version_2_throttles_the_group_that_has_the_open_files(
    scope: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, str]] = []
    monkeypatch.setattr(
        control_group, "_write", lambda file, text: written.append((file.name, text))
    )
    group = control_group.make(42, control_group.DISK)
    assert group.path == scope
    control_group.limit_disk(group, 42, "8:16", 4096)
    limits = "8:0 rbps=max wbps=9999\n8:16 rbps=4096 wbps=4096\n"
    group.limit.write_text(limits)
    control_group.remove(group)
    assert written == [
        ("io.max", "8:16 rbps=4096 wbps=4096"),
        ("cgroup.procs", "42"),
        ("io.max", "8:0 rbps=max wbps=max"),
        ("io.max", "8:16 rbps=max wbps=max"),
        ("io.max", "8:0 rbps=max wbps=9999"),
    ]
    written.clear()
    control_group.remove_of(42, control_group.DISK)
    assert written == [("io.max", "8:0 rbps=max wbps=max"), ("io.max", "8:16 rbps=max wbps=max")]
    assert [each.name for each in scope.parent.iterdir() if each.is_dir()] == [scope.name]


def test_a_limit_that_nobody_changed_is_not_written(scope: Path) -> None:
    before = (scope / "io.max").stat().st_mtime_ns
    control_group.remove(control_group.make(42, control_group.DISK))
    assert (scope / "io.max").stat().st_mtime_ns == before


def test_a_disk_that_cannot_be_throttled_has_the_file_layer() -> None:
    with pytest.raises(CannotDo, match="/proc is on no disk of its own"):
        control_group.device_of(Path("/proc"))
    assert injectors.in_containers(Path("/proc"))["disk-slow"] is injectors.INJECTORS["disk-slow"]


def test_one_project_of_this_checkout_is_meant(
    kit: Kit, volume: Path, engine: Engine, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine()
    assert "this checkout has no containers" in expect(2, "cluster", "status", "--docker").reason
    ours, theirs = (replicas(kit, volume, [0, 0, 0]) for _ in range(2))
    for each in theirs:
        each["Id"] += "-elsewhere"
        each["Config"]["Labels"][containers.WORKING_DIR] = "/elsewhere"
    engine(*ours, *theirs)
    current = state.load(containers.adopted(kit))
    assert current is not None
    assert current.containers == [f"id-of-replica-{number}" for number in range(3)]
    assert not current.up
    for each in theirs:
        each["Config"]["Labels"] |= {
            containers.WORKING_DIR: str(kit.root),
            containers.PROJECT: "second",
        }
    engine(*ours, *theirs)
    reason = expect(2, "cluster", "status", "--docker").reason
    assert "COMPOSE_PROJECT_NAME (main, second)" in reason
    monkeypatch.setenv("COMPOSE_PROJECT_NAME", "second")
    current = state.load(containers.adopted(kit))
    assert current is not None
    assert current.containers[0] == "id-of-replica-0-elsewhere"


def test_the_containers_load_is_back_afterwards(kit: Kit, volume: Path, engine: Engine) -> None:
    calls = engine(*replicas(kit, volume, [0, 0, 0]))
    with pytest.raises(ZeroDivisionError), containers.without_load(kit):
        assert calls.read_text().splitlines()[-1] == "stop id-of-load"
        raise ZeroDivisionError
    assert calls.read_text().splitlines()[-1] == "start id-of-load"


def test_an_engine_that_does_not_answer_is_named(
    kit: Kit, expect: Expect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "cannot run docker" in expect(2, "faults", "list", "--docker").reason
    write_program(tmp_path / "docker", "import sys\nsys.exit('no daemon here\\nmore')")
    assert "docker ps: no daemon here" in expect(2, "faults", "list", "--docker").reason


def test_a_cluster_is_named_once(expect: Expect) -> None:
    assert "not allowed with" in expect(2, "faults", "heal", "--docker", "--data", "x").err
