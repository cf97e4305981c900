"""etcd as the subject of experiments, with a program that answers as a member does."""

import sys
from pathlib import Path

import pytest

from failslow.bench import servers
from failslow.cluster import replica_processes
from failslow.commands import sweeps
from failslow.errors import CannotDo
from failslow.faults import etcd, link_proxy
from failslow.faults.catalogue import Catalogue, FaultKind
from failslow.kit import Kit
from fakes import eventually

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


@pytest.fixture
def known() -> Catalogue:
    kinds = [FaultKind(0, name, "", 0, 1, "", True, False) for name in link_proxy.KINDS]
    return Catalogue({kind.name: kind for kind in kinds}, {})


@pytest.mark.usefixtures("member")
def test_members_are_found_as_replicas_are(kit: Kit, known: Catalogue, tmp_path: Path) -> None:
    with etcd.running(kit, known, 3, tmp_path / "out") as bench:
        assert bench.proposers() == [bench.target("leader")] == [1]
        assert bench.target("follower") == 0
        # `running` waits for a leader only; the others may still be on their way up.
        eventually(lambda: [bench.applied(each) for each in bench.place.replicas] == [12] * 3)
        assert bench.watch_held(1, 0)() == 0
        assert bench.place.current.solution == "etcd Version: 3.4"
        found = [bench.place.process(number) for number in bench.place.replicas]
        assert [each.number for each in found] == [0, 1, 2]
        with pytest.raises(CannotDo, match="etcd has no pilot, but follower, leader"):
            bench.target("pilot")
        replica_processes.kill(found[2:])
        assert bench.applied(2) is None
        data = bench.layout.data
    assert replica_processes.find(data) == []
    assert list((tmp_path / "out").iterdir()) == []


def test_members_without_a_leader_are_ended(
    kit: Kit, known: Catalogue, tmp_path: Path, member: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member.write_text(MEMBER.replace("LEADER", "nobody"))
    monkeypatch.setattr(etcd, "LEADER_S", 0.1)
    with pytest.raises(CannotDo, match="elects no leader"), etcd.running(kit, known, 3, tmp_path):
        pass
    assert [each for each in replica_processes.find() if tmp_path in each.data.parents] == []


def test_etcd_gets_the_faults_of_processor_and_links() -> None:
    def has(name: str) -> bool:
        kind = FaultKind(0, name, "", 0, 1, "", True, False)
        return etcd.EtcdBench.can_have(None, kind)

    names = ("cpu-slow", "net-slow", "packet-loss", "disk-slow", "fs-delay", "memory-share")
    assert [has(name) for name in names] == [True, True, True, False, False, False]


def test_etcd_has_two_roles() -> None:
    assert sweeps._of_etcd(None) == ["follower", "leader"]
    assert sweeps._of_etcd(["pilot", "follower"]) == ["follower"]
    with pytest.raises(CannotDo, match="--versus: etcd has no pilot"):
        sweeps._of_etcd(["pilot"])
