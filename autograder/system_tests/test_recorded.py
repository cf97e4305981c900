"""The output that unit tests read in place of a program's is what the program says today."""

import json

from failslow.base import process
from failslow.base.kit import Kit


def test_the_recorded_catalogue_is_that_of_today(kit: Kit) -> None:
    recorded = kit.root / "autograder" / "tests" / "recorded" / "fault_catalogue.json"
    said = process.run([kit.binary("fault_catalogue")]).output
    assert json.loads(recorded.read_text(encoding="utf-8")) == json.loads(said)
