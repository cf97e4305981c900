"""`kit bench slow` from the command line, against fakes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from failslow.base.kit import Kit
from failslow.extras.bench import slow
from failslow.extras.bench.slow import Measured, Options, Result
from failslow.extras.check import sweep
from failslow.extras.check.step import Context
from failslow.extras.site import measured
from failslow.measurement.sweep import Cell, Spread
from fakes import this_kit, write_catalogue, write_submission
from running import Expect

FAULTS = ("cpu-slow", "net-slow")
TINY = ("--seeds", 2, "--replicas", "3,5")


@pytest.fixture(autouse=True)
def catalogue(kit: Kit) -> None:
    write_catalogue(kit.binary("fault_catalogue"), (*FAULTS, "crash"))


def test_all_faults_that_slow_are_measured_at_all_sizes(expect: Expect) -> None:
    content = json.loads(expect(0, "bench", "slow", *TINY, "--json").out)
    cells = [(cell["solution"], cell["replicas"], cell["fault"]) for cell in content["cells"]]
    assert cells == [("reference", size, fault) for size in (3, 5) for fault in FAULTS]


def test_the_options_of_a_result_are_the_command_that_makes_it_again(expect: Expect) -> None:
    words = (*TINY, "--faults", "cpu-slow", "--victim", "leader")
    first = expect(0, "bench", "slow", *words, "--json").out
    command = Options.from_json(json.loads(first)["options"]).command()
    assert command == (
        "./kit bench slow --solution reference --seeds 2 --replicas 3,5 --faults cpu-slow"
        " --victim leader"
    )
    assert expect(0, *command.split()[1:], "--json").out == first


def test_a_reference_that_waits_for_all_misses_the_bars(expect: Expect, kit: Kit) -> None:
    write_submission_again(kit, "WAITS_FOR_ALL")
    said = expect(1, "bench", "slow", *TINY)
    assert "Missed: reference, 5 replicas, cpu-slow: latency grown 1900 %" in said.err
    assert "95%" in said.out
    assert expect(0, "bench", "slow", *TINY, "--victim", "leader").err.count("Missed") == 0


def test_a_replica_that_dies_misses_the_bars(expect: Expect, kit: Kit) -> None:
    write_submission_again(kit, "MISBEHAVES")
    assert "cpu-slow: replica 1 died" in expect(1, "bench", "slow", *TINY).err


def write_submission_again(kit: Kit, behaviour: str) -> None:
    (kit.reference / "lab2-raft" / "raft.cc").write_text(f"// {behaviour}\n")


def test_solutions_are_measured_beside_each_other(expect: Expect, kit: Kit, tmp_path: Path) -> None:
    mine = write_submission(tmp_path / "mine", "", "")
    file = "lab2-raft/raft.cc"
    patch = kit.reference / "lab2-raft/mutants" / "waits.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text(
        "Description: Waits.\nCaught-by: measurement\n"
        f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-// \n+// WAITS_FOR_ALL\n"
    )
    content = json.loads(
        expect(0, "bench", "slow", *TINY, "--solution", f"{mine},lab2/waits", "--json").out
    )
    grown = {(cell["solution"], cell["latency"]) for cell in content["cells"]}
    assert grown == {(str(mine), 0.0), ("lab2/waits", 19.0)}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("slow --lab lab1", "lab1 has no log that is measured (lab2, lab5)"),
        ("slow --lab lab9", "lab9"),
        (
            "slow --victim pilot",
            "lab2 has no pilot, but leader, follower, one-follower, leader+follower",
        ),
        ("slow --faults net-fast", "no 'net-fast' among cpu-slow, net-slow"),
        ("slow --solution lab2/unknown", "'lab2/unknown' is no directory"),
        ("slow --replicas 3,4", "other sizes than 3, 5, 7 and 9"),
        ("slow --seeds 0", "no number from 1"),
        ("sim --seeds 3", "--seeds goes with slow"),
        ("slow --versus etcd", "raft has the peer etcd"),
    ],
)
def test_wrong_words_are_refused(expect: Expect, words: str, says: str) -> None:
    assert says in expect(2, "bench", *words.split()).reason


def test_another_labs_patch_is_no_solution(expect: Expect, kit: Kit) -> None:
    patch = kit.reference / "lab1-quorum-event/alternatives" / "other.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text("Description: Other.\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    said = expect(2, "bench", "slow", "--solution", "lab1/other")
    assert "lab1/other is not one of lab2" in said.reason


CELL = Cell(
    victim="follower",
    replicas=3,
    fault="cpu-slow",
    throughput=Spread(0.0, 0.0),
    latency=Spread(0.0, 0.0),
    p99=1.0,
    longest_ns=0.0,
    stall_ns=0.0,
    unanswered=0.0,
    held_bytes=0.0,
    heap_bytes=0.0,
    catch_up_ns=0.0,
    lag=500,
    misbehaved=None,
)


@pytest.mark.parametrize(
    ("figure", "good", "bad"),
    [
        ("throughput", Spread(0.009, 0.049), Spread(0.01, 0.01)),
        ("throughput", Spread(0.009, 0.049), Spread(0.0, 0.05)),
        ("latency", Spread(0.019, 0.049), Spread(0.02, 0.02)),
        ("latency", Spread(0.019, 0.049), Spread(0.0, 0.05)),
    ],
)
def test_each_bar_counts_for_the_reference_alone(figure: str, good: Spread, bad: Spread) -> None:
    def missed(solution: str, spread: Spread) -> list[str]:
        found = Measured(solution, {}, [replace(CELL, **{figure: spread})])
        assert slow.missed(found, None) == []
        return slow.missed(found, slow.BARS)

    assert missed("reference", good) == []
    (sentence,) = missed("reference", bad)
    assert sentence.startswith("reference, 3 replicas, cpu-slow: ")
    assert missed("lab2/waits-for-all", bad) == []


def test_another_lab_has_bars_for_its_graded_faults_alone() -> None:
    bars = slow.bars_of(this_kit(), Options(lab="lab5", victim="pilot"))
    assert bars != slow.bars_of(this_kit(), Options(lab="lab5", victim="one-follower"))
    assert slow.bars_of(this_kit(), Options(lab="lab5", victim="pilot+follower")) == bars

    def missed(fault: str) -> int:
        cell = replace(CELL, fault=fault, latency=Spread(0.3, 0.3))
        return len(slow.missed(Measured("reference", {}, [cell]), bars))

    assert (missed("cpu-slow"), missed("net-slow-1ms")) == (1, 0)


def test_an_infinite_figure_is_null() -> None:
    never = replace(CELL, throughput=Spread(float("inf"), 0.0), latency=Spread(1 / 3, 0.0))
    text = slow.as_text(Result(Options(), [Measured("reference", {3: 2000.0}, [never])]))
    (found,) = json.loads(text)["cells"]
    assert (found["throughput"], found["latency"]) == (None, 0.33333)


@pytest.fixture
def context(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setattr(sweep, "SEEDS", 1)
    return Context(kit, True, tmp_path)


def test_the_check_counts_every_fault_and_size(context: Context) -> None:
    assert sweep.reference(context).passed == len(FAULTS) * len(slow.REPLICAS)
    write_submission_again(context.kit, "WAITS_FOR_ALL")
    counts = sweep.reference(context)
    assert (counts.passed, counts.failed) == (0, len(FAULTS) * len(slow.REPLICAS))
    assert "latency grown 1900 %" in counts.problems[0]


def test_the_check_notices_results_of_another_day(expect: Expect, context: Context) -> None:
    path = context.kit.site / measured.RESULTS / "followers.json"
    path.parent.mkdir(parents=True)
    path.write_text(expect(0, "bench", "slow", *TINY, "--json").out)
    assert sweep.committed(context).passed == 1
    write_submission_again(context.kit, "WAITS_FOR_ALL")
    (problem,) = sweep.committed(context).problems
    assert "followers.json is not what its command gives: ./kit bench slow" in problem
