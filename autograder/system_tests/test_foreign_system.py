"""The template of a foreign system, with real faults: each bites, and nothing outlives a run."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras import waiting
from failslow.extras.faults import catalogue, injection, tally
from failslow.extras.faults.experiment import prepare
from failslow.extras.faults.injectors import SYNC_KINDS, Injection
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
            sent = bench.count(number, tally.LINKS)
            argv = bench.put_load("--clients", 2, "--window-ms", round(LONG_S * 1000))
            with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as load:
                assert waiting.until(
                    lambda sent=sent, number=number: bench.count(number, tally.LINKS) != sent,
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
