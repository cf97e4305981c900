"""The template of a foreign system, with real faults: each bites, and nothing outlives a run."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.errors import EXIT_INTERRUPTED
from failslow.base.kit import Kit
from failslow.extras.cluster.ports import HOST
from failslow.extras.faults import catalogue, control_group, injection
from failslow.extras.faults.effect_counts import LINKS
from failslow.extras.faults.experiment import prepare
from failslow.extras.faults.injectors import INJECTORS, SYNC_KINDS, Injection
from failslow.extras.shared import waiting
from failslow.extras.systems import description, running

TEMPLATE = Path("tools") / "systems" / "template" / "system.yaml"
LONG_S = 120.0


def servers(out: Path) -> list[int]:
    """The processes that run in a directory below `out`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if out in (entry / "cwd").readlink().parents:
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


def test_all_lines_of_the_template_work(kit: Kit, tmp_path: Path) -> None:
    done = process.run(
        [kit.root / "kit", "faults", "system", "check", kit.root / TEMPLATE, "--out", tmp_path],
        timeout_s=LONG_S,
        merge_errors=True,
    )
    assert done.exit_code == 0, done.output
    for said in ("role: 0: leader, 1: follower, 2: follower", "syncs under load", "All lines work"):
        assert said in done.output
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("fault", ["net-slow-3ms", "fs-delay-10ms", "cpu-slow-leader"])
def test_a_fault_of_the_leader_bites_and_of_a_follower_too(
    kit: Kit, tmp_path: Path, fault: str
) -> None:
    known = catalogue.load(kit)
    preset = known.presets[fault]
    kind = known.kinds[preset.kind]
    (system,) = description.load(kit.root / TEMPLATE)
    with running.running(kit, known, system, tmp_path) as bench:
        if kind.name in SYNC_KINDS and not bench.can_have(kind):
            pytest.skip("this kernel catches no syncs")
        prepare(bench)
        for number in (bench.target("leader"), bench.target("follower")):
            bites = [bench.watch_bite(kind, each) for each in bench.place.replicas]
            sent = bench.count(number, LINKS)
            argv = bench.put_load("--clients", 2, "--window-ms", round(LONG_S * 1000))
            with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as load:
                assert waiting.until(
                    lambda sent=sent, number=number: bench.count(number, LINKS) != sent,
                    LONG_S,
                )
                wanted = Injection(kind, preset.amount, number, (), 1.0)
                assert injection.inject(bench.place, wanted, lambda: None)
                load.terminate()
            assert [bool(why()) for why in bites] == [each != number for each in range(3)]
    assert [*tmp_path.iterdir()] == servers(tmp_path) == []


def test_nothing_outlives_a_sweep_that_is_killed(kit: Kit, tmp_path: Path) -> None:
    words = ["faults", "sweep", "--system", str(kit.root / TEMPLATE), "--out", str(tmp_path)]
    argv = [sys.executable, "-m", "failslow", *words]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
        assert waiting.until(lambda: len(servers(tmp_path)) >= 3, LONG_S)
        sweep.send_signal(signal.SIGKILL)
    assert waiting.until(lambda: servers(tmp_path) == [], LONG_S)
    assert waiting.until(lambda: not [*tmp_path.glob("system-*")], LONG_S)


CALM = """
import signal, sys
from failslow import cli
from failslow.extras.faults import verdict
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
verdict.OTHERS_CORES_MAX = 1000  # no figure counts here
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.full
def test_an_interrupted_sweep_goes_on_and_leaves_nothing(kit: Kit, tmp_path: Path) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    cells, mark = out / "sweep.jsonl", f"SWEPT={tmp_path}"
    scratch.mkdir()
    memory = "memory-contention"
    words = ["faults", "sweep", "--system", str(kit.root / TEMPLATE), "--out", str(out)]
    words += ["--fault", f"net-slow-10ms,{memory}-leader,net-jitter"]
    words += ["--target", "follower", "--duration", "1"]
    argv = [sys.executable, "-c", CALM, *words]
    environment = {**os.environ, "SWEPT": str(tmp_path), "TMPDIR": str(scratch)}
    with subprocess.Popen(argv, env=environment, start_new_session=True) as sweep:
        try:
            # In the middle of the second cell.
            assert waiting.until(cells.exists, LONG_S)
            assert waiting.until(lambda: [*out.glob("system-*/*.injection")] != [], LONG_S)
            left = marked(mark)
            used = {port for pid in left for port in ports_of(pid)}
            os.killpg(sweep.pid, signal.SIGINT)
            assert sweep.wait(LONG_S) == EXIT_INTERRUPTED
        finally:
            sweep.kill()
    assert len(left) > 3
    assert len(used) == 3 * 3, "two of its own, and that by which others see it"
    kept = cells.read_bytes()
    assert kept.count(b"\n") == 1

    def assert_nothing_is_left() -> None:
        assert marked(mark) == []
        for port in used:
            with socket.socket() as other:
                assert other.connect_ex((HOST, port)) != 0
        assert {each.name for each in out.iterdir()} <= {"sweep.jsonl", "sweep.json", "sweep.html"}
        assert [*scratch.iterdir()] == []
        names = {control_group.NAME.format(pid=pid) for pid in left}
        assert not [each for each in control_group.MOUNT.rglob("failslow-*") if each.name in names]

    assert_nothing_is_left()
    done = process.run(argv, env=environment, timeout_s=LONG_S, merge_errors=True)
    assert done.exit_code == 0, done.output
    assert cells.read_bytes().startswith(kept)
    kinds = [json.loads(line)["cell"]["kind"] for line in cells.read_text().splitlines()]
    has_memory = INJECTORS[memory].missing() is None
    assert kinds == ["net-slow", *[memory] * has_memory, "net-jitter"], "each cell is made once"
    assert_nothing_is_left()


def marked(mark: str) -> list[int]:
    """The processes that a sweep has started, by a variable that all of them inherit."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def ports_of(pid: int) -> set[int]:
    """Those in the command line of a server of the template."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    if not words[1:] or not words[1].endswith("server.py"):
        return set()
    *_, client, peer, others, _ = words
    return {int(client), int(peer), *(int(each.rpartition(":")[2]) for each in others.split(","))}
