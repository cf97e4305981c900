"""`kit reproduce`: runs of fake variants, published figures beside ours, the handbook's page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from demands import some
from failslow.base.kit import Kit, this_kit
from failslow.extras.check import sweep
from failslow.extras.check.step import Context
from failslow.extras.reproduction import published, results, tables
from failslow.extras.reproduction.published import (
    BACKGROUND,
    NO_FINALIZE,
    REFERENCE,
    TRANSIENT,
    VARIANTS,
)
from failslow.extras.reproduction.results import Scale
from failslow.extras.reproduction.variants import WAITS_IN_TURN
from failslow.extras.shared import line_plot
from failslow.extras.site import reproduced
from fakes import write_program
from running import Expect

# A slow follower raises the transient warning in each window but the first. A run without Finalize
# has other warnings, too, and its backlog grows with time and with the seed.
VARIANT = """
import json, os, sys
variant = os.path.basename(sys.argv[0]).removeprefix("diagnose_")
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
seed, slow = int(options["seed"]), "slow" in options
if slow and options["slow"] == options["leader"]:
    sys.exit(3)
if open(__file__).read().endswith("# DIES\\n") and slow:
    sys.exit("replica 1 died")
windows = int(options["seconds"]) // 5
late = 3 if variant == "transient-performance" else 1
active = [dict(peer=1, answers=9, median_ns=10**6, p99_ns=2 * 10**6 * late, p999_ns=9 * 10**6)]
warnings = [dict(kind="transient-performance", count=7, active=active)] * (windows - 1)
if not slow:
    warnings = []
grows = variant == "no-finalize" and slow
if variant == "no-finalize":
    warnings = warnings + [dict(kind="not-finalized", count=100 * seed, active=[])] * windows
calls = [each * seed if grows else 5 for each in range(windows * 10)]
backlog = dict(from_ns=10**9, interval_ns=5 * 10**8, calls=calls, held_bytes=[0, 2048 * seed, 0])
clients = dict(p99_ns=10**7 + (10**6 if slow else 0), offered=50, unanswered=20 * grows)
edge = dict(color="red", needed=1, total=1, coroutine=variant, event="RpcEvent", count=seed)
edge |= {"from": int(options["leader"]), "to": [2], "total_ns": 3 * 10**6, "worst_ns": 3 * 10**6}
graph = dict(replicas=3, edges=[edge])
print(json.dumps(dict(warnings=warnings, backlog=backlog, clients=clients, graph=graph)))
"""


@pytest.fixture(autouse=True)
def variants(kit: Kit) -> None:
    patch = kit.reference / "lab4-finalize/variants" / "no-finalize.patch"
    patch.parent.mkdir(parents=True)
    patch.touch()
    for variant in (*VARIANTS, WAITS_IN_TURN):
        write_program(kit.binary(f"diagnose_{variant}"), VARIANT)


def summary(found: dict[str, Any], variant: str, slow: bool) -> dict[str, Any]:
    (one,) = [
        each for each in found["variants"] if (each["variant"], each["slow"]) == (variant, slow)
    ]
    return one


def rows(found: dict[str, Any], name: str) -> dict[str, tuple[str, ...]]:
    """By their first cell."""
    return {row[0]: row for row in tables.TABLES[name](found).rows}


@pytest.fixture
def measured(kit: Kit) -> dict[str, Any]:
    return json.loads(results.as_text(results.measure(kit, Scale(seconds=20, runs=3, seeds=2))))


def test_warnings_are_medians_by_kind(measured: dict[str, Any]) -> None:
    assert summary(measured, REFERENCE, slow=False)["warnings"] == {}
    assert summary(measured, REFERENCE, slow=True)["warnings"] == {"transient-performance": 3}
    without = summary(measured, NO_FINALIZE, slow=True)
    assert without["warnings"] == {"not-finalized": 4, "transient-performance": 3}
    assert without["coroutines"] == 4 * 200  # of the second of three seeds


def test_the_table_of_warnings_has_the_published_numbers_beside_ours(
    measured: dict[str, Any],
) -> None:
    table = tables.warnings(measured)
    assert "36 windows in document 000, 4 here" in table.title
    assert ("DepFastRaft", "slow", "108", "36", "3", "3 transient-performance") in table.rows
    assert ("BG-Raft", "healthy", "0", "0", "0", "") in table.rows
    assert table.rows[-1][:5] == ("NF-Raft", "slow", "21,288", "21,196", "7")
    assert "800 coroutines" in table.note


def test_the_backlog_is_that_of_the_median_run(measured: dict[str, Any]) -> None:
    calls = measured["backlog"][NO_FINALIZE]["calls"]
    assert calls == [2 * number for number in range(40)]
    assert rows(measured, "backlog")["NF-Raft"][2:] == ("78", "78", "4.0 KiB", "40 %")
    assert rows(measured, "backlog")["DepFastRaft"][2:] == ("5", "5", "4.0 KiB", "0 %")


def test_latencies_are_those_of_the_warnings(measured: dict[str, Any]) -> None:
    table = rows(measured, "quorums")
    assert table["DepFastRaft"] == ("DepFastRaft", "14.8", "36.2", "46.2", "1.0", "2.0", "9.0")
    assert table["TP-Raft"][4:] == ("1.0", "6.0", "9.0")
    note = tables.quorums(measured).note
    assert "p99 is 2.3 times in document 000, 3.0 times here" in note
    assert rows(measured, "tails")["BG-Raft"][1:3] == ("6.4 %", "10 %")


def test_slow_followers_are_measured_at_both_sizes(measured: dict[str, Any]) -> None:
    found = {(row[0], row[1]) for row in tables.costs(measured).rows}
    faults = {*published.FAULTS, *published.FAULTS_002, "dead"}
    assert found == {(fault, size) for fault in faults for size in ("3", "5")}
    assert rows(measured, "costs")["net-slow"][2:] == ("0 % / 0 %",) * 4
    claims = tables.claims(measured).rows
    assert claims[0] == ("000, 5.1.2", "of 36 metrics, lose over 5 %", "3", "0", "0")
    assert [row[3:] for row in claims[1:]] == [("0 %", "0 %")] * 4


def test_a_reference_that_waits_for_all_is_over_the_published_figures(kit: Kit) -> None:
    (kit.reference / "lab2-raft" / "raft.cc").write_text("// WAITS_FOR_ALL\n")
    found = results.measure(kit, Scale(seconds=5, runs=1, seeds=1))
    claims = tables.claims(found).rows
    assert claims[0][3:] == ("36", "36")
    assert [row[4] for row in claims[1:]] == ["1900 %", "95 %", "95 %", "1900 %"]


def test_the_command_prints_all_tables_or_json(expect: Expect) -> None:
    said = expect(0, "reproduce", "--quick").out
    assert "21,288" in said and "400,000" in said and "under 5 %" in said
    text = expect(0, "reproduce", "--quick", "--json").out
    scale = Scale(**json.loads(text)["scale"])
    assert scale == results.QUICK
    assert expect(0, *scale.command().split()[1:]).out == text


def test_a_students_kit_has_nothing_to_run(expect: Expect, kit: Kit) -> None:
    (kit.reference / "lab4-finalize/variants" / "no-finalize.patch").unlink()
    assert "no variants of lab4" in expect(2, "reproduce", "--quick").reason


def test_a_run_that_fails_is_named(expect: Expect, kit: Kit) -> None:
    write_program(kit.binary(f"diagnose_{TRANSIENT}"), VARIANT + "# DIES\n")
    reason = expect(2, "reproduce", "--quick").reason
    assert "transient-performance, a slow follower, seed 1 has no run: replica 1 died" in reason


def test_a_reference_that_misbehaves_is_named(expect: Expect, kit: Kit) -> None:
    (kit.reference / "lab2-raft" / "raft.cc").write_text("// MISBEHAVES\n")
    assert "replica 1 died" in expect(2, "reproduce", "--quick").reason


def test_the_check_notices_results_of_another_day(kit: Kit, tmp_path: Path) -> None:
    path = kit.site / reproduced.RESULTS
    path.parent.mkdir(parents=True)
    path.write_text(results.as_text(results.measure(kit, Scale(seconds=10, runs=1, seeds=1))))
    context = Context(kit, True, tmp_path)
    assert sweep.reproduced_results(context).passed == 1
    path.write_text(path.read_text().replace('"windows": 2', '"windows": 3'))
    (problem,) = sweep.reproduced_results(context).problems
    assert "./kit reproduce --json" in problem


def test_lines_stay_between_the_axes() -> None:
    drawn = line_plot.draw({"a <b>": [(0.0, 0.0), (90.0, 700.0)], "c": [(1.0, 5.0)]}, "s", "calls")
    assert "a &lt;b&gt;" in drawn
    (path, _) = re.findall(r'class="line series-\d" d="M([^"]+)"', drawn)
    (left, low), (right, high) = (map(float, point.split()) for point in path.split("L"))
    assert (left, low) == (line_plot.LEFT, line_plot.HEIGHT - line_plot.BOTTOM)
    assert right < line_plot.WIDTH - line_plot.RIGHT
    assert high > line_plot.TOP
    assert ">800</text>" in drawn and ">1,000</text>" not in drawn


# ---- the committed results ----


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    return json.loads((this_kit().site / reproduced.RESULTS).read_text(encoding="utf-8"))


def test_the_pages_ask_for_every_part(committed: dict[str, Any]) -> None:
    docs = this_kit().site / "docs"
    names = ("reproduction.md", "slowness-graph.md")
    pages = "\n".join((docs / name).read_text(encoding="utf-8") for name in names)
    assert set(reproduced.WANTED.findall(pages)) == set(reproduced.parts(this_kit()))
    filled = reproduced.fill(this_kit(), pages)
    assert "{{ reproduced" not in filled
    # Plots, the marks of their legends, graphs, and the plots of SAUCR with their marks.
    assert filled.count("<svg") == 2 + 4 + 2 + 17


def test_the_committed_results_have_the_papers_shape(committed: dict[str, Any]) -> None:
    checks = committed["windows"]
    assert checks == 36
    for variant in some(VARIANTS):
        healthy, slow = (summary(committed, variant, slow)["warnings"] for slow in (False, True))
        assert healthy == {}
        assert slow["transient-performance"] >= checks - 1
        assert ("not-finalized" in slow) == (variant == NO_FINALIZE)
        assert ("repeated-entries" in slow) == (variant == BACKGROUND)
    reference, transient = (summary(committed, name, slow=True) for name in (REFERENCE, TRANSIENT))
    assert transient["quorum"]["p999_ns"] >= 2 * reference["quorum"]["p999_ns"]
    assert transient["p99_ns"] >= 2 * reference["p99_ns"]
    finalized, grown = (committed["backlog"][name]["calls"] for name in (REFERENCE, NO_FINALIZE))
    most = max(grown)
    assert most > 100 * max(finalized)
    assert most * 0.4 < grown[grown.index(most) // 2] < most * 0.6  # linear
