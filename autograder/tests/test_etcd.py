"""etcd as the subject of experiments, with a program that answers as a member does."""

import json
import sys
from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import servers
from failslow.extras.cluster import replica_processes
from failslow.extras.commands import sweeps
from failslow.extras.faults import etcd, injectors, link_proxy, probe, slow_syncs
from failslow.extras.faults.catalogue import Catalogue, FaultKind
from failslow.extras.faults.injectors import SYNC_KINDS
from fakes import eventually, write_program
from running import Expect

MEMBER = f"""#!{sys.executable}
import http.server, sys
if sys.argv[1] == "--version":
    sys.exit(print("etcd Version: 3.4"))
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
leads = int(options["--name"] == "LEADER")
text = f"# HELP x\\netcd_server_is_leader {{leads}}\\netcd_server_proposals_applied_total 12\\n"

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass

host, port = options["--listen-client-urls"].removeprefix("http://").split(":")
http.server.HTTPServer((host, int(port)), Answer).serve_forever()
"""


@pytest.fixture
def member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that leads if it is m1."""
    path = tmp_path / "etcd"
    path.write_text(MEMBER.replace("LEADER", "m1"))
    path.chmod(0o755)
    monkeypatch.setattr(servers, "etcd_program", lambda _: path)
    return path


SLOW_SYNCS = """
import subprocess, sys
sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:]))
"""


@pytest.fixture
def syncs(kit: Kit) -> Path:
    """A program that starts another, as slow_syncs does."""
    return write_program(kit.binary(slow_syncs.PROGRAM), SLOW_SYNCS)


@pytest.fixture
def known() -> Catalogue:
    kinds = [FaultKind(0, name, "", 0, 1, "", True, False) for name in link_proxy.KINDS]
    return Catalogue({kind.name: kind for kind in kinds}, {})


@pytest.mark.usefixtures("member", "syncs")
def test_members_are_found_as_replicas_are(kit: Kit, known: Catalogue, tmp_path: Path) -> None:
    with etcd.running(kit, known, 3, tmp_path / "out") as bench:
        assert bench.proposers() == [bench.target("leader")] == [1]
        assert bench.target("follower") == 0
        # `running` waits for a leader only; the others may still be on their way up.
        eventually(lambda: [bench.applied(each) for each in bench.place.replicas] == [12] * 3)
        assert bench.watch_held(1, 0)() == 0
        assert bench.place.current.solution == "etcd Version: 3.4"
        found = [bench.place.process(number) for number in bench.place.replicas]
        assert replica_processes.find(bench.layout.data) == found, "and not what starts them"
        with pytest.raises(CannotDo, match="etcd has no pilot, but follower, leader"):
            bench.target("pilot")
        replica_processes.kill(found[2:])
        assert bench.applied(2) is None
        data = bench.layout.data
    assert replica_processes.find(data) == []
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("member", "syncs")
def test_a_member_that_has_ended_is_started_again(
    kit: Kit, known: Catalogue, tmp_path: Path
) -> None:
    with etcd.running(kit, known, 3, tmp_path) as bench:
        eventually(lambda: bench.applied(2) == 12)
        killed = bench.place.process(2)
        replica_processes.kill([killed])
        injectors._start(bench.place, 2)
        eventually(lambda: bench.applied(2) == 12)
        started = bench.place.process(2)
        assert started.pid != killed.pid
        injectors._start(bench.place, 2)
        now = bench.place.process(2)
        assert (now.pid, now.start_ticks) == (started.pid, started.start_ticks), "it runs already"
        data = bench.layout.data
    assert replica_processes.find(data) == []


@pytest.mark.usefixtures("member")
def test_without_the_kernels_help_members_get_no_fault_of_the_disk(
    kit: Kit, known: Catalogue, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reason = "slow_syncs: not here"
    write_program(kit.binary(slow_syncs.PROGRAM), f"import sys; sys.exit({reason!r})")
    with etcd.running(kit, known, 3, tmp_path) as bench:
        eventually(lambda: bench.applied(0) == 12)
        assert bench.kinds.isdisjoint(SYNC_KINDS)
        assert bench.kinds.issuperset(link_proxy.KINDS)
    said = capfd.readouterr().err
    assert all(f"{name}: not on etcd ({reason})" in said for name in SYNC_KINDS)


@pytest.mark.usefixtures("syncs")
def test_members_without_a_leader_are_ended(
    kit: Kit, known: Catalogue, tmp_path: Path, member: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member.write_text(MEMBER.replace("LEADER", "nobody"))
    monkeypatch.setattr(etcd, "LEADER_S", 0.1)
    with pytest.raises(CannotDo, match="elects no leader"), etcd.running(kit, known, 3, tmp_path):
        pass
    assert [each for each in replica_processes.find() if tmp_path in each.data.parents] == []


@pytest.mark.usefixtures("member", "syncs")
def test_etcd_gets_the_faults_that_slow_a_replica(
    kit: Kit, known: Catalogue, tmp_path: Path
) -> None:
    with etcd.running(kit, known, 3, tmp_path) as bench:

        def has(name: str) -> bool:
            return bench.can_have(FaultKind(0, name, "", 0, 1, "", True, False))

        assert all(map(has, ("cpu-slow", "net-slow", "packet-loss", *SYNC_KINDS)))
        assert not any(map(has, ("crash", "disk-error", "disk-full", "bit-flip")))


@pytest.mark.usefixtures("syncs")
def test_the_check_tries_the_faults_of_etcds_disk(
    kit: Kit, expect: Expect, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = next(each for each in probe.SYNC_TRIALS if each.kind == "fs-delay")
    effect = probe.Effect(trial, healthy=1e6, slow=11e6, recovered=1e6)
    monkeypatch.setattr(probe, "measure_syncs", lambda *_: iter([effect]))
    rows = {each["fault"]: each for each in json.loads(check(expect))}
    assert rows["fs-delay"]["faithful"]
    assert "slow_syncs" in rows["fs-delay"]["mechanism"]
    assert rows["net-slow"]["faithful"] is None
    assert "crash" not in rows
    write_program(kit.binary(slow_syncs.PROGRAM), "import sys; sys.exit('not here')")
    rows = {each["fault"]: each for each in json.loads(check(expect))}
    assert rows["fs-delay"]["works"] is False
    assert rows["fs-delay"]["measured"] == "not here"


def check(expect: Expect) -> str:
    return expect(0, "faults", "check", "--versus", "etcd", "--json").out


def test_etcd_has_two_roles() -> None:
    assert sweeps._of_etcd(None) == ["follower", "leader"]
    assert sweeps._of_etcd(["pilot", "follower"]) == ["follower"]
    with pytest.raises(CannotDo, match="--versus: etcd has no pilot"):
        sweeps._of_etcd(["pilot"])
