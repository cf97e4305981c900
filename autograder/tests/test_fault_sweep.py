"""The report of a sweep: danger zones, faults that cost less than weaker ones, findings."""

from pathlib import Path

import pytest

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.commands import sweeps
from failslow.extras.faults import findings, sweep, sweep_page
from failslow.extras.faults.catalogue import Catalogue, load
from failslow.extras.faults.experiment import HEALTHY, SLOW, Experiment, Run
from failslow.extras.faults.findings import DOES_NOT, HOLDS, UNKNOWN
from failslow.extras.faults.sweep import Cell, Row
from failslow.extras.faults.verdict import TOLERANT, Cost, Costs, Verdict

MS = 10**6


def cell(
    amount: int,
    loss: float,
    kind: str = "net-slow",
    target: str = "follower",
    workload: str = "small",
    changed: bool = False,
) -> Cell:
    fault = f"{kind} {amount // MS} ms" if kind == "net-slow" else f"{kind} {amount}%"
    cost = Cost(loss, loss - 0.02, loss + 0.02)
    return Cell(target, workload, kind, amount, fault, "PASS", "", cost, changed)


@pytest.fixture
def known(kit: Kit) -> Catalogue:
    return load(kit)


def row(*cells: Cell) -> Row:
    return Row(cells[0].target, cells[0].workload, cells[0].kind, cells)


def judged(number: int, *rows: Row) -> tuple[str, str]:
    (found,) = (each for each in findings.of(rows) if each.number == number)
    return found.verdict, found.seen


def test_faults_are_ordered_by_how_strong_they_are(known: Catalogue) -> None:
    net, cpu = sweep.rows_of(
        [
            cell(3, 0.1, "cpu-slow"),
            cell(400 * MS, 0.2),
            cell(50, 0.3, "cpu-slow"),
            cell(MS, 0.4),
        ],
        known,
    )[::-1]
    assert [each.amount for each in cpu.cells] == [50, 3]
    assert [each.amount for each in net.cells] == [MS, 400 * MS]


def test_rows_are_apart_by_target_workload_and_kind(known: Catalogue) -> None:
    cells = [
        cell(MS, 0, target=target, workload=workload, kind=kind)
        for target in ("follower", "leader")
        for workload in ("small", "large")
        for kind in ("net-slow", "cpu-slow")
    ]
    assert len(sweep.rows_of(cells, known)) == 8


def test_a_danger_zone_is_between_little_and_much() -> None:
    mild, some, much = cell(MS, 0.1), cell(2 * MS, 0.3), cell(3 * MS, 0.5)
    assert row(mild, some, much).danger_zone == (mild, much)
    assert row(mild, cell(2 * MS, 0.05), much).danger_zone == (cell(2 * MS, 0.05), much)
    assert row(mild, some).danger_zone is None
    assert row(some, much).danger_zone is None
    assert row(much, mild).danger_zone is None


def test_milder_than_a_weaker_fault_only_beyond_the_intervals() -> None:
    weak, strong = cell(MS, 0.30), cell(2 * MS, 0.20)
    assert row(weak, strong).milder == [strong]
    assert row(weak, cell(2 * MS, 0.22)).milder == []
    assert row(weak, cell(2 * MS, 0.40), cell(3 * MS, 0.30)).milder == [cell(3 * MS, 0.30)]


def test_finding_2() -> None:
    assert judged(2, row(cell(MS, 0.1)))[0] == UNKNOWN
    assert judged(2, row(cell(MS, 0.1), cell(2 * MS, 0.2)))[0] == DOES_NOT
    verdict, seen = judged(2, row(cell(MS, 0.3), cell(2 * MS, 0.1)))
    assert (verdict, "net-slow 2 ms on a follower" in seen) == (HOLDS, True)


def test_finding_3() -> None:
    assert judged(3, row(cell(MS, 0.4)))[0] == UNKNOWN
    verdict, seen = judged(3, row(cell(MS, 0.4), cell(2 * MS, 0.6)), row(cell(5, 0.1, "cpu-slow")))
    assert (verdict, seen) == (HOLDS, "net-slow costs 50 % on average, cpu-slow 10 %")
    assert judged(3, row(cell(MS, 0.4)), row(cell(5, 0.3, "cpu-slow")))[0] == DOES_NOT
    assert judged(3, row(cell(MS, 0.05)), row(cell(5, 0.01, "cpu-slow")))[0] == DOES_NOT


def test_finding_4() -> None:
    slow = row(cell(MS, 0.4))
    assert judged(4, slow)[0] == UNKNOWN
    assert judged(4, slow, row(cell(2 * MS, 0.1, target="leader")))[0] == UNKNOWN
    assert judged(4, slow, row(cell(MS, 0.39, target="leader")))[0] == DOES_NOT
    verdict, seen = judged(4, slow, row(cell(MS, 0.1, target="leader")))
    assert (verdict, "40 %; leader: 10 %" in seen) == (HOLDS, True)


def test_finding_6() -> None:
    assert judged(6, row(cell(MS, 0.4)))[0] == UNKNOWN
    assert judged(6, row(cell(MS, 0.4)), row(cell(MS, 0.1, workload="large")))[0] == HOLDS
    assert judged(6, row(cell(MS, 0.4)), row(cell(MS, 0.3, workload="large")))[0] == DOES_NOT


def test_finding_7() -> None:
    assert judged(7, row(cell(MS, 0.4)))[0] == UNKNOWN
    assert judged(7, row(cell(MS, 0.1), cell(2 * MS, 0.4)))[0] == DOES_NOT
    verdict, seen = judged(7, row(cell(MS, 0.1), cell(2 * MS, 0.6)))
    assert (verdict, "net-slow 1 ms (10 %) to net-slow 2 ms (60 %)" in seen) == (HOLDS, True)


def test_finding_11() -> None:
    stays = cell(MS, 0.6, target="leader")
    changes = cell(2 * MS, 1.0, target="leader", changed=True)
    assert judged(11, row(cell(MS, 0.6)))[0] == UNKNOWN
    assert judged(11, row(changes))[0] == DOES_NOT
    verdict, seen = judged(11, row(stays, changes))
    assert (verdict, "under 1 of 2 faults" in seen) == (HOLDS, True)


def test_a_cell_says_what_a_client_that_waits_would_lose(known: Catalogue) -> None:
    costs = Costs(Cost(1.0, 0.6, 3.0), Cost(0.1, 0.0, 0.2))
    runs = [Run(each, [[1]], 1.0, 0.0, each == SLOW, 0.0, 0, 0, 0.0, 0) for each in (HEALTHY, SLOW)]
    done = Experiment(
        "net-slow 1 ms", "leader", 9, runs, costs, TOLERANT, Verdict("FAIL", "slow"), 1.0
    )
    made = sweep.cell_of(done, "small", known.kinds["net-slow"], MS)
    assert made.loss == Cost(0.5, 1 - 1 / 1.6, 0.75)
    assert made.leader_changed
    assert (made.verdict, made.reason, made.target) == ("FAIL", "slow", "leader")
    nothing = Costs(Cost(-1.0, -1.0, -0.5), Cost(1.0, 0.9, 1.0))
    done = Experiment(
        "net-slow 1 ms", "leader", 9, runs, nothing, TOLERANT, Verdict("FAIL", "slow"), 1.0
    )
    assert sweep.cell_of(done, "small", known.kinds["net-slow"], MS).loss == nothing.throughput


def test_a_sweep_goes_on_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sweep.jsonl"
    assert sweep.read(path, "mine") == []
    sweep.append(path, "mine", cell(MS, 0.1))
    sweep.append(path, "another", cell(2 * MS, 0.1))
    sweep.append(path, "mine", cell(3 * MS, 0.1))
    assert sweep.read(path, "mine") == [cell(MS, 0.1), cell(3 * MS, 0.1)]
    path.write_text("{")
    with pytest.raises(CannotDo, match="is damaged"):
        sweep.read(path, "mine")


def test_a_kind_stands_for_all_its_strengths(known: Catalogue) -> None:
    def names(text: str | None, quick: bool = False) -> list[tuple[str, int]]:
        return [(kind.name, amount) for kind, amount in sweeps._faults(known, text, quick)]

    assert names("fs-delay,net-slow") == [("fs-delay", MS), ("net-slow", 400 * MS)]
    assert names("fs-delay-1ms,fs-delay") == [("fs-delay", MS)]
    assert names(None, quick=True) == [("cpu-slow", 5), ("net-slow", 400 * MS)]
    assert ("crash", 0) not in names(None)
    with pytest.raises(CannotDo, match="there is no fault 'net'"):
        names("net")


def test_the_page_marks_what_is_dangerous() -> None:
    rows = [
        row(cell(MS, -0.001), cell(2 * MS, 0.8), cell(3 * MS, 0.5)),
        row(cell(5, 1.0, "cpu-slow", "leader", changed=True)),
    ]
    page = sweep_page.render([("<mine>", rows), ("etcd", rows[:1])])
    assert page.count('class="danger"') == 2 + 2
    assert page.count("% ↓<") == 1 + 1
    assert page.count("% ⚑<") == 1
    assert "<h2>Slow leader of &lt;mine&gt;, small values" in page
    assert "<h2>Findings of document 004 for etcd</h2>" in page
    assert "<mine>" not in page
    assert "-0 %" not in page, "noise is no gain"


def test_a_sweep_strikes_every_role_of_the_lab() -> None:
    kit = this_kit()
    assert sweeps._targets(kit, "lab2", None) == ("follower", "leader")
    assert sweeps._targets(kit, "lab5", None) == ("follower", "pilot", "copilot")
    assert sweeps._targets(kit, "lab5", ["pilot"]) == ["pilot"]
    with pytest.raises(CannotDo, match="lab5 has no leader, but follower, pilot, copilot"):
        sweeps._targets(kit, "lab5", ["pilot", "leader"])
    with pytest.raises(CannotDo, match="lab1 has no cluster"):
        sweeps._targets(kit, "lab1", None)
