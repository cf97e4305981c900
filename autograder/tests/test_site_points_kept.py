"""The handbook's table of the points that mistakes keep."""

import json
from pathlib import Path

from demands import some
from failslow.base.kit import this_kit
from failslow.extras.site import points_kept
from failslow.lab.mutants import MEASUREMENT, load_mutants


def test_only_measured_mutants_are_in_the_table(tmp_path: Path) -> None:
    slow = {"lab2": {"points": 140, "of": 200}, "slow-follower": {"points": 2.1, "of": 50}}
    mutants = [
        {"name": "lab2/waits", "description": "Waits.", "kept": slow},
        {
            "name": "lab2/votes",
            "description": "Votes twice.",
            "kept": {"lab2": {"points": 7, "of": 200}},
        },
    ]
    results = tmp_path / points_kept.RESULTS
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"mutants": mutants}))
    assert points_kept.table(tmp_path).splitlines()[2:] == ["| Waits. | 2.1 of 50 |"]


def test_the_committed_results_are_of_these_mutants() -> None:
    kit = this_kit()
    content = json.loads((kit.site / points_kept.RESULTS).read_text())
    found = {mutant["name"]: mutant for mutant in content["mutants"]}
    slow = [
        mutant
        for mutant in load_mutants(kit)
        if any(name.split("/")[0] == MEASUREMENT for name in mutant.caught_by)
    ]
    for mutant in some(slow):
        result = found.get(mutant.name)
        assert result, f"{mutant.name} is missing: see the handbook's page on mutants"
        assert result["description"] == mutant.description
        assert points_kept.measured(result), mutant.name
    bounds = [(mutant.name, bound) for mutant in slow for bound in mutant.keeps]
    for name, bound in some(bounds):
        points = found[name]["kept"][bound.of]
        assert 100 * points["points"] <= bound.per_cent * points["of"], name
