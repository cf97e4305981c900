"""The output that unit tests read in place of a program's is what the program says today."""

import json

from failslow.base import process
from failslow.base.kit import Kit

RUN = (
    "--seed=7 --replicas=3 --roles=leader,follower --profile=low-jitter --fault=net-slow-1s"
    " --slow=1 --rate=1000 --shape=before --explain --twin=1 --perturb=2"
)


def test_a_recorded_run_has_the_fields_of_today(kit: Kit) -> None:
    recorded = kit.root / "autograder" / "tests" / "recorded" / "measured_run.json"
    replica = f"--replica={kit.binary('lab2_replica')}"
    said = json.loads(process.run([kit.binary("lab2_measure"), replica, *RUN.split()]).output)
    then = json.loads(recorded.read_text(encoding="utf-8"))
    assert then.keys() == said.keys()
    assert then["waits"][0].keys() == said["waits"][0].keys()
    assert then["flows"][0].keys() == said["flows"][0].keys()


def test_the_recorded_catalogue_is_that_of_today(kit: Kit) -> None:
    recorded = kit.root / "autograder" / "tests" / "recorded" / "fault_catalogue.json"
    said = process.run([kit.binary("fault_catalogue")]).output
    assert json.loads(recorded.read_text(encoding="utf-8")) == json.loads(said)
