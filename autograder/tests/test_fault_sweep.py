"""The report of a sweep: danger zones, bisection, findings; what goes on after an interrupt."""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from demands import some
from failslow.base.errors import CannotDo, CouldNotGrade
from failslow.base.kit import Kit, this_kit
from failslow.extras.commands import sweeps
from failslow.extras.commands.sweeps import Options
from failslow.extras.faults import findings, simulated, stages, sweep, sweep_page
from failslow.extras.faults.bench import Bench
from failslow.extras.faults.catalogue import Catalogue, FaultKind, load
from failslow.extras.faults.findings import DOES_NOT, HOLDS, READ, UNKNOWN
from failslow.extras.faults.simulated import System
from failslow.extras.faults.stages import Stages
from failslow.extras.faults.sweep import OPEN, Cell, Point, Row
from failslow.extras.faults.verdict import Cost
from failslow.extras.site import swept
from failslow.lab.labs import load_labs

MS = 10**6


def cell(
    amount: int, loss: float, kind: str = "net-slow", target: str = "leader", **changes: object
) -> Cell:
    """`changes`: of the point's axes, or of the cell."""
    point = Point("mine", target, kind, amount, 3.0)
    axes = {name: value for name, value in changes.items() if hasattr(point, name)}
    fault = f"{kind} {amount // MS} ms" if kind == "net-slow" else f"{kind} {amount}%"
    cost = Cost(loss, loss - 0.02, loss + 0.02)
    made = Cell(
        replace(point, **axes), fault, cost, 0.1, 0.5, 0.0, 1.0, 0, 1000, "", 2.0, ((9, 4000),)
    )
    return replace(made, **{name: value for name, value in changes.items() if name not in axes})


@pytest.fixture
def known(kit: Kit) -> Catalogue:
    return load(kit)


def row(*cells: Cell) -> Row:
    return Row(replace(cells[0].point, amount=0), cells)


def judged(number: int, *rows: Row, others: Sequence[Row] = ()) -> tuple[str, str]:
    (found,) = (each for each in findings.of(rows, others) if each.number == number)
    return found.verdict, found.seen


# ---- one run ----


def stages_of(before: int, slow: int, after: Sequence[int], slow_us: int = 9000) -> Stages:
    """A second of each of the first two stages, and a slice for each of the last; in commands."""
    slices = [[1000] * before] * 10 + [[slow_us] * slow] * 10 + [[1000] * each for each in after]
    return Stages(slices, 1.0, 1.0)


def test_a_run_is_measured_by_its_own_beginning() -> None:
    made = stages_of(10, 4, [0, 6, 10, 10])
    assert made.degradation == pytest.approx(0.6)
    assert made.recovery_s == 0.2
    assert made.residue == pytest.approx(0.65)
    assert (made.p99_growth, made.latency_growth) == (8.0, 8.0)
    assert stages_of(10, 4, [9, 9]).recovery_s is None
    assert stages_of(10, 0, [10]).latency_growth == float("inf")


def test_noise_before_the_fault_lowers_what_counts_as_recovered() -> None:
    quiet = Stages([[1000] * 10] * 4 + [[]] + [[1000] * 8] * 4, 0.4, 0.1)
    noisy = Stages([[1000] * 7, [1000] * 13] * 2 + [[]] + [[1000] * 8] * 4, 0.4, 0.1)
    assert (quiet.recovery_s, noisy.recovery_s) == (None, 0.0)


def test_a_slice_that_the_fault_had_in_part_is_slow() -> None:
    made = Stages([[1]] * 30, 1.05, 1.02)
    assert (len(made.before), len(made.slow), len(made.after)) == (10, 11, 9)


def test_commands_above_a_threshold_are_counted_under_the_fault() -> None:
    assert stages_of(10, 4, [10], stages.LATE_US + 1).late == 40
    assert stages_of(10, 4, [10], stages.LATE_US).late == 0


def test_the_tail_of_the_whole_run_counts() -> None:
    diluted = Stages([[1000] * 100] * 20 + [[90_000]] + [[1000] * 100] * 20, 2.0, 0.1)
    assert (diluted.p99_growth, diluted.degradation) == (0.0, pytest.approx(0.99))


def test_an_open_loop_loses_what_a_client_that_waits_would_lose() -> None:
    run = stages_of(10, 10, [10], slow_us=4000)
    point = Point("mine", "leader", "net-slow", MS, 1.0)
    assert sweep.cell_of(point, "", [run], [0]).loss.value == 0
    for words in (OPEN, "500/s"):
        open_loop = sweep.cell_of(replace(point, load=words), "", [run], [1])
        assert (open_loop.loss.value, open_loop.leader_changes) == (0.75, 1)


def test_a_cell_has_the_middle_of_its_runs_and_the_worst_recovery() -> None:
    runs = [stages_of(10, slow, after) for slow, after in ((1, [0, 10]), (4, [10]), (2, [10]))]
    made = sweep.cell_of(Point("mine", "leader", "net-slow", MS, 1.0), "", runs, [0, 2, 0])
    assert made.loss == Cost(0.8, 0.6, 0.9)
    assert (made.recovery_s, made.leader_changes) == (0.1, 2)
    lost = sweep.cell_of(made.point, "", [*runs, stages_of(10, 1, [1])], [0])
    assert lost.recovery_s is None


# ---- rows and bisection ----


def test_faults_are_ordered_by_how_strong_they_are(known: Catalogue) -> None:
    cells = [
        cell(3, 0.1, "cpu-slow"),
        cell(400 * MS, 0.2),
        cell(50, 0.3, "cpu-slow"),
        cell(MS, 0.4),
    ]
    cpu, net = sweep.rows_of(cells, known)
    assert [each.point.amount for each in cpu.cells] == [50, 3]
    assert [each.point.amount for each in net.cells] == [MS, 400 * MS]


def test_rows_are_apart_by_every_axis(known: Catalogue) -> None:
    axes = {"target": "follower", "seconds": 1.0, "mix": "read", "value_bytes": 9, "load": OPEN}
    axes |= {"at": "all", "costs": 50, "system": "etcd", "kind": "cpu-slow", "foreign": True}
    cells = [cell(5, 0.1)] + [cell(5, 0.1, **{name: value}) for name, value in axes.items()]
    assert len(sweep.rows_of(cells, known)) == len(cells)


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
    assert row(cell(MS, 0.06), cell(2 * MS, -0.30)).milder == [], "a gain is a cost of 0"


POINTS = [Point("mine", "leader", "net-slow", each * MS, 3.0) for each in (1, 100)]


def swept_cells(out: Path, known: Catalogue, stop: int = 1000) -> tuple[Cell, ...]:
    """Their loss grows with the square of the delay. The sweep is interrupted after `stop`."""
    left = iter(range(stop))

    def make(points: Sequence[Point], ended: sweeps.Ended) -> None:
        for point in points:
            if next(left, None) is None:
                raise KeyboardInterrupt
            loss = min(1.0, (point.amount / (20 * MS)) ** 2)
            ended(point, replace(cell(point.amount, loss), point=point))

    sweeping = sweeps._Sweeping(out)
    sweeping.complete("mine", "mine", POINTS, known, make)
    sweeping.show()
    (found,) = sweeping.maps["mine"]
    return found.cells


def test_a_danger_zone_is_bisected_until_it_is_known(known: Catalogue, tmp_path: Path) -> None:
    amounts = [each.point.amount for each in swept_cells(tmp_path, known)]
    for bound in (6.32 * MS, 14.14 * MS):  # where the curve is at 10 % and at 50 %
        below = max(each for each in amounts if each <= bound)
        above = min(each for each in amounts if each > bound)
        assert above / below <= sweep.RATIO_MAX
    assert all(each == round(each, sweep.DIGITS - len(str(each))) for each in some(amounts))
    assert len(amounts) < 14


def test_an_interrupted_sweep_ends_as_one_in_one_go(known: Catalogue, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    for stop in some(range(len(swept_cells(whole, known)))):
        out = tmp_path / f"{stop}"
        with pytest.raises(KeyboardInterrupt):
            swept_cells(out, known, stop)
        swept_cells(out, known)
        for name in (sweeps.CELLS, sweeps.RESULTS, sweeps.PAGE):
            assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_nothing_is_bisected_where_a_replica_has_died(known: Catalogue) -> None:
    rows = [row(cell(MS, 0.0), cell(100 * MS, 1.0, trouble="it died"))]
    assert sweep.refinements(rows, known) == []


def test_a_share_of_a_processor_is_bisected_downwards(known: Catalogue) -> None:
    rows = [row(cell(50, 0.0, "cpu-slow"), cell(5, 1.0, "cpu-slow"))]
    assert [each.amount for each in sweep.refinements(rows, known)] == [16]
    assert sweep.refinements([row(cell(5, 0.0, "cpu-slow"), cell(4, 1.0, "cpu-slow"))], known) == []


def test_a_sweep_goes_on_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sweep.jsonl"
    assert sweep.read(path, "mine") == {}
    mine = [cell(MS, 0.1, recovery_s=None), cell(3 * MS, 0.1, mix="read", load=OPEN)]
    sweep.append(path, "mine", mine[0])
    sweep.append(path, "another", cell(2 * MS, 0.1))
    sweep.append(path, "mine", mine[1])
    assert [*sweep.read(path, "mine").values()] == mine
    path.write_text("{")
    with pytest.raises(CannotDo, match="is damaged"):
        sweep.read(path, "mine")
    path.write_text(json.dumps({"subject": "mine", "cell": {"speed": 1}}))
    with pytest.raises(CannotDo, match="is damaged"):
        sweep.read(path, "mine")


# ---- findings ----


def test_finding_1() -> None:
    mine = row(cell(MS, 0.3), cell(100 * MS, 0.9))
    assert judged(1, mine)[0] == UNKNOWN
    pilots = [row(cell(100 * MS, loss, system="b", target=f"{loss}")) for loss in (-0.1, 0.05)]
    verdict, seen = judged(1, mine, others=pilots)
    assert (verdict, "leader: 90 % in mine; net-slow 100 ms on a 0.05: 5 % in b" in seen) == (
        HOLDS,
        True,
    )
    assert judged(1, mine, others=[row(cell(100 * MS, 0.2, system="b"))])[0] == DOES_NOT
    follower = row(cell(100 * MS, 0.0, system="b", target="follower"))
    assert judged(1, mine, others=[follower])[0] == UNKNOWN
    assert judged(1, mine, others=[row(cell(7 * MS, 0.0, system="b"))])[0] == UNKNOWN


NET = row(cell(MS, 0.4))
CPU = row(cell(5, 0.1, "cpu-slow"))
CRASHED = row(cell(0, 0.2, "crash"))
AT_FOLLOWER = row(cell(MS, 0.6, target="follower", at="one"))
SLOW_FOLLOWER = row(cell(MS, 0.4, target="follower", at="all"))
NEW_LEADER = cell(2 * MS, 0.2, leader_changes=1)


@pytest.mark.parametrize(
    ("number", "rows", "verdict", "seen"),
    [
        (2, [row(cell(MS, 0.1))], UNKNOWN, ""),
        (2, [row(cell(MS, 0.1), cell(2 * MS, 0.2))], DOES_NOT, ""),
        (2, [row(cell(MS, 0.3), cell(2 * MS, 0.1))], HOLDS, "leader: 30 %; net-slow 2 ms: 10 %"),
        (3, [NET], UNKNOWN, ""),
        (3, [NET, row(cell(5, 0.3, "cpu-slow"))], DOES_NOT, ""),
        # Neither costs anything.
        (3, [row(cell(MS, 0.0)), row(cell(5, -0.9, "cpu-slow"))], UNKNOWN, ""),
        (3, [NET, row(cell(5, 0.1, "cpu-slow", at="all"))], UNKNOWN, ""),
        (4, [SLOW_FOLLOWER], UNKNOWN, ""),
        # No client is at the follower.
        (4, [row(cell(MS, 0.4, target="follower")), row(cell(MS, 0.1))], UNKNOWN, ""),
        (4, [SLOW_FOLLOWER, row(cell(MS, 0.39, at="all"))], DOES_NOT, ""),
        (4, [SLOW_FOLLOWER, row(cell(MS, 0.1, at="all"))], HOLDS, "40 %; leader: 10 %"),
        (5, [row(cell(MS, 0.6, costs=50))], UNKNOWN, ""),
        (5, [row(cell(MS, 0.6, costs=50)), row(cell(MS, 0.2, costs=200))], HOLDS, ""),
        (5, [row(cell(MS, 0.2, costs=50)), row(cell(MS, 0.6, costs=200))], DOES_NOT, ""),
        (6, [NET], UNKNOWN, ""),
        (6, [NET, row(cell(MS, 0.1, mix="read"))], HOLDS, ""),
        (6, [NET, row(cell(MS, 0.3, mix="read"))], DOES_NOT, ""),
        (6, [NET, row(cell(MS, 0.1, mix="mixed"))], HOLDS, ""),
        (6, [NET, row(cell(MS, 0.3, mix="mixed"))], DOES_NOT, ""),
        (6, [NET, row(cell(MS, 0.1, value_bytes=16384))], HOLDS, ""),
        (6, [NET, row(cell(MS, 0.3, value_bytes=16384))], DOES_NOT, ""),
        (7, [NET], UNKNOWN, ""),
        (7, [row(cell(MS, 0.1), cell(2 * MS, 0.4))], DOES_NOT, ""),
        (9, [NET], UNKNOWN, ""),
        (9, [row(cell(MS, 0.9, p99=0.5))], DOES_NOT, ""),
        (9, [row(cell(MS, 0.9, p99=0.01), cell(2 * MS, 0.6))], HOLDS, "1 of 2 costly cells"),
        (11, [row(cell(MS, 0.6, target="follower"))], UNKNOWN, ""),
        (11, [row(NEW_LEADER)], DOES_NOT, ""),
        (11, [row(cell(MS, 0.6), NEW_LEADER)], HOLDS, "under 1 of 2 faults"),
        (12, [AT_FOLLOWER], UNKNOWN, ""),
        (12, [AT_FOLLOWER, row(cell(MS, 0.0, target="follower"))], HOLDS, ""),
        # All clients are slow.
        (12, [AT_FOLLOWER, row(cell(MS, 0.5, target="follower"))], DOES_NOT, ""),
        (13, [NET], UNKNOWN, ""),
        # That is 100 a minute.
        (13, [row(cell(MS, 0.9, late=5))], DOES_NOT, ""),
        (13, [row(cell(MS, 0.9, late=4), cell(2 * MS, 0.9))], HOLDS, "under 1 of 2 faults"),
        (14, [row(cell(MS, 0.9))], UNKNOWN, ""),
        (14, [row(cell(MS, 0.9), cell(2 * MS, 0.1)), CRASHED], DOES_NOT, "would pay in 1"),
        (14, [row(cell(MS, 0.9, trouble="it died")), CRASHED], HOLDS, ""),
    ],
)
def test_a_finding_holds_or_not(number: int, rows: list[Row], verdict: str, seen: str) -> None:
    found = judged(number, *rows)
    assert (found[0], seen in found[1]) == (verdict, True)


def test_a_finding_is_told_with_its_figures() -> None:
    found = judged(3, row(cell(MS, 0.4), cell(2 * MS, 0.6)), CPU)
    assert found == (HOLDS, "net-slow costs 50 % on average, cpu-slow 10 %")
    _, seen = judged(11, row(cell(MS, 0.6), NEW_LEADER))
    assert seen.endswith("with a new leader net-slow 2 ms on a leader: 20 %")
    wide = row(cell(MS, 0.1, at="all"), cell(9 * MS, 0.6, at="all"))
    verdict, seen = judged(7, wide, row(cell(MS, 0.1), cell(2 * MS, 0.6)))
    assert (verdict, "leader: 10 %; net-slow 2 ms: 60 %; 2 of 2 rows" in seen) == (HOLDS, True)


def test_every_finding_has_a_line() -> None:
    found = findings.of([row(cell(MS, 0.4))])
    assert sorted(each.number for each in found) == list(range(1, 16))
    assert {each.number for each in found if each.verdict == READ} == {10, 15}


# ---- the command and the page ----


def test_a_kind_stands_for_all_its_strengths(known: Catalogue) -> None:
    def names(text: str | None, quick: bool = False) -> list[tuple[str, int]]:
        found = sweeps._faults(known, Options(fault=text, quick=quick), here=True)
        return [(kind.name, amount) for kind, amount in found]

    def strengths(kind: str) -> list[tuple[str, int]]:
        return [(kind, each.amount) for each in known.presets.values() if each.kind == kind]

    assert ("net-slow", MS) in strengths("net-slow")
    assert names("fs-delay,net-slow") == strengths("fs-delay") + strengths("net-slow")
    first, *others = names("fs-delay-10ms,fs-delay")
    assert first == ("fs-delay", 10 * MS)
    assert sorted([first, *others]) == sorted(strengths("fs-delay"))
    assert names(None, quick=True) == strengths("cpu-slow") + strengths("net-slow")
    assert ("crash", 0) not in names(None)
    assert names("crash") == [("crash", 0)]
    with pytest.raises(CannotDo, match="there is no fault 'net'"):
        names("net")


def test_strengths_may_be_any(known: Catalogue) -> None:
    def amounts(fault: str, texts: str) -> list[int]:
        found = sweeps._faults(known, Options(fault=fault, strength=texts), here=True)
        return [amount for _, amount in found]

    assert amounts("net-slow", "500us, 2ms,2ms") == [500_000, 2 * MS]
    with pytest.raises(CannotDo, match="'fast' is no strength of net-slow"):
        amounts("net-slow", "fast")
    with pytest.raises(CannotDo, match="name one fault"):
        amounts("net-slow,cpu-slow", "1ms")


def test_points_are_all_combinations(known: Catalogue) -> None:
    axes = Options(durations=(1.0, 2.0), loads=("8", OPEN), places=("one", "all"), mixes=("read",))
    points = replace(axes, targets=("leader",)).points("lab3", [(known.kinds["net-slow"], MS)])
    assert len(set(points)) == len(points) == 8
    assert {each.mix for each in points} == {"read"}


def test_any_axis_replaces_the_handbooks_plan() -> None:
    axes = {"fault": "cpu-slow", "strength": "5%", "targets": ["leader"], "durations": (1.0,)}
    axes |= {"value_bytes": (9,), "loads": ("8",), "mixes": ("read",), "places": ("all",)}
    axes |= {"costs": (50,), "lab": "lab5", "quick": True}
    assert all(Options(**{name: value}).has_axes for name, value in axes.items())
    assert not Options(simulated=True, replicas=5, seeds=3, out=Path("x")).has_axes
    assert {plan.lab for plan in sweeps.handbook()} == {None, "lab5", "lab6"}


def test_the_page_marks_what_is_dangerous() -> None:
    rows = [
        row(cell(MS, -0.001), cell(2 * MS, 0.8), cell(3 * MS, 0.5)),
        row(cell(5, 1.0, "cpu-slow", leader_changes=1, trouble="it is <dead>")),
    ]
    page = sweep_page.render([("<mine>", rows), ("etcd", rows[:1])])
    assert page.count('class="danger first"') == page.count('class="danger last edge"') == 1 + 1
    assert page.count("% ↓<") == 1 + 1
    assert page.count("% ⚑✕<") == 1
    assert "<h2>Slow leader of &lt;mine&gt;</h2>" in page
    assert "<h2>Findings of document 004 for etcd</h2>" in page
    assert "<mine>" not in page
    assert "<dead>" not in page
    assert "-0 %" not in page, "noise is no gain"


def test_a_danger_zone_is_outlined_as_a_whole() -> None:
    losses = (0.0, 0.1, 0.2, 0.9, 0.4, 0.6, 0.9)
    cells = [cell(at * MS, loss) for at, loss in enumerate(losses, start=1)]
    cells[3] = replace(cells[3], trouble=f"{sweep.VOID}no byte came late")
    page = sweep_page.heat("mine", [row(*cells)])
    classes = re.findall(r'<td(?: class="([a-z ]+)")? style', page)
    assert classes == [
        "",
        "danger first",
        "danger edge",
        "danger",
        "danger",
        "danger last edge",
        "",
    ]
    assert row(*cells).zone == tuple(cells[1:6])
    assert row(*cells[:3]).zone == ()


def test_a_finding_that_a_foreign_system_cannot_show_has_one_line() -> None:
    def of(name: str, **axes: object) -> list[Row]:
        return [row(cell(MS, 0.0, system=name, **axes), cell(2 * MS, 0.9, system=name, **axes))]

    maps = [("lab3", of("lab3")), *((name, of(name, foreign=True)) for name in ("etcd", "redis"))]
    page = sweep_page.render(maps)
    *judged, left = page.split("<h2>Findings ")[1:]
    numbers = [re.findall(r"<tr><td>(\d+)</td>", part) for part in (*judged, left)]
    foreign = ["1", "2", "7", "9", "11"]
    assert numbers[:3] == [[*foreign, "13"], foreign, foreign]
    assert numbers[3] == ["3", "4", "5", "6", "8", "10", "12", "13", "14", "15"]
    assert (
        left.count("etcd, redis: not measured: thresholds are in the system&#x27;s settings<") == 1
    )
    assert "<td>not measured: one fault alone, or no cost<" in left, "one reason for all systems"


def test_systems_stand_beside_each_other() -> None:
    slow = [cell(MS, 0.1, recovery_s=0.4), cell(3 * MS, 0.6, recovery_s=1.2, residue=0.9)]
    mine = [row(*slow), row(cell(MS, 0.9, mix="read")), row(cell(0, 0.2, "crash"))]
    other = [row(cell(MS, 0.2, at="all", recovery_s=None))]
    other += [row(cell(5, -0.3, "cpu-slow", at="all"))]
    heads, lines = sweep_page.in_short([("mine", mine), ("<etcd>", other)])
    assert heads == ["slow", "fault", "mine", "<etcd>"]
    assert lines == [
        [
            "leader",
            "net-slow",
            "danger from 1 ms to 3 ms; back in 1.2 s; then 90 %",
            "costs 20 % at most; not back in the run; then 100 %",
        ],
        ["leader", "cpu-slow", "-", "costs 0 % at most; back in 0.0 s; then 100 %"],
    ]
    page = sweep_page.render([("mine", mine), ("<etcd>", other)])
    maps = page[page.index('class="beside"') : page.index("</div>\n<h3>")]
    assert maps.index("<h2>Slow leader of mine") < maps.index("<h2>Slow leader of &lt;etcd&gt;")
    assert "<etcd>" not in page


def test_results_of_several_sweeps_make_one_page(kit: Kit, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in ("mine", "etcd", "others")]
    for path, names in zip(paths, (("mine",), ("etcd",), ("lab3", "etcd")), strict=True):
        cells = [sweep.as_json(cell(MS, 0.4, system=name)) for name in names]
        path.write_text(json.dumps({"cells": cells}))
    out = tmp_path / "out"
    assert sweeps.run(kit, Options(results=paths[:2], out=out)) == 0
    heads = '<th scope="col">mine</th><th scope="col">etcd</th>'
    assert heads in (out / sweeps.PAGE).read_text()
    assert [each.point.system for each in sweep.results(out / sweeps.RESULTS)] == ["mine", "etcd"]
    with pytest.raises(CannotDo, match=r"--results: .*others\.json has etcd, too"):
        sweeps.run(kit, Options(results=paths, out=out))
    with pytest.raises(CannotDo, match="--results: nothing is measured"):
        sweeps.run(kit, Options(results=paths, fault="net-slow", out=out))
    paths[0].write_text("[]")
    with pytest.raises(CannotDo, match="has no results of a sweep"):
        sweeps.run(kit, Options(results=paths, out=out))


def test_a_fault_without_an_effect_is_no_result() -> None:
    void = cell(2 * MS, 0.9, trouble=f"{sweep.VOID}no byte came late")
    zone = row(cell(MS, 0.0), void, cell(3 * MS, 0.3))
    assert zone.danger_zone is None
    assert row(void, cell(3 * MS, 0.1)).milder == []
    assert judged(2, row(void, cell(3 * MS, 0.1)))[0] == UNKNOWN
    page = sweep_page.render([("mine", [zone, row(void)])])
    assert page.count(">void<small>2 ms</small>") == 2
    assert page.count('title="void: no byte came late"') == 2
    assert ">90 %" not in page


def test_the_page_draws_the_costliest_faults_with_a_band() -> None:
    kinds = ("net-slow", "cpu-slow", "fs-delay", "disk-slow")
    rows = [row(cell(5, 0.1 * at, kind)) for at, kind in enumerate(kinds, start=1)]
    rows += [row(cell(7, 0.9, "fs-delay", at="all")), row(cell(7, 0.05, leader_changes=1))]
    page = sweep_page.over_time("mine", rows)
    assert page.count("<h3>") == sweep_page.PLOTS + 1
    first, second, changed = (page.index(f"<h3>{each}") for each in ("fs-d", "disk", "net"))
    assert first < second < changed
    assert page.count('class="band"') == 2 * (sweep_page.PLOTS + 1)
    assert "clients at all replicas" in page
    kept = sweep_page.with_few_series(rows)
    assert sum(bool(each.series) for each in kept) == sweep_page.PLOTS + 1


def test_a_sweep_strikes_every_role_of_the_lab() -> None:
    def targets(lab: str, wanted: list[str] | None = None) -> Sequence[str] | None:
        return sweeps._plan_of_lab(this_kit(), Options(lab=lab, targets=wanted)).targets

    assert targets("lab2") == ("follower", "leader")
    assert targets("lab5") == ("follower", "pilot", "copilot")
    assert targets("lab5", ["pilot"]) == ["pilot"]
    with pytest.raises(CannotDo, match="lab5 has no leader, but follower, pilot, copilot"):
        targets("lab5", ["pilot", "leader"])
    with pytest.raises(CannotDo, match="lab1 has no cluster"):
        targets("lab1")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--duration", "0"], "'0' is no time from 0.5 to 60 s"),
        (["--duration", "1,soon"], "'soon' is no time from 0.5 to 60 s"),
        (["--load", "many"], "'many' is no number from 1 to 1000000"),
        (["--load", "8,x/s"], "'x' is no number from 1 to 1000000"),
        (["--value-bytes", "-1"], "'-1' is no number from 1 to 1000000"),
        (["--workload", "write,scan"], "'scan' is none of read, mixed, write"),
        (["--clients", "home"], "'home' is none of leader, one, all"),
    ],
)
def test_an_axis_that_makes_no_sense_gets_one_line(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    sweeps.add_to(parser)
    with pytest.raises(SystemExit):
        parser.parse_args([f"{words[0]}={words[1]}"])
    assert capsys.readouterr().err.splitlines()[-1].endswith(why)


def test_a_cell_that_cannot_be_made_is_named_until_it_is(
    known: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [cell(MS, 0.0, mix=mix).point for mix in ("read", "write")]
    busy, done, missing = {points[0]}, list[Point](), dict[Point, str]()

    def made(_: Bench, __: FaultKind, point: Point) -> Cell:
        if point in busy:
            raise CannotDo("too busy")
        return replace(cell(MS, 0.0), point=point)

    def measure(left: Sequence[Point]) -> None:
        bench = cast(Bench, SimpleNamespace(program="mine"))
        sweeps._measure_all(bench, known, missing, left, lambda point, _: done.append(point))

    monkeypatch.setattr(sweeps, "_cell", made)
    measure(points)
    assert missing == {points[0]: "mine, net-slow 1 ms, leader, reads: too busy"}
    busy.clear()
    measure(points[:1])
    assert (missing, done) == ({}, [points[1], points[0]])


# ---- in virtual time ----

MEASURE = """#!/bin/sh
echo "$@" >>"$0.log"
case "$*" in *net-slow:8*) echo '000]]}}'; exit;; esac
case "$*" in *net-slow:7*) echo warned >&2; echo the reason >&2; exit 2;; esac
echo '{"onset": {"slices_us": SLICES, "new_proposers": [3]}, "violation": null, "error": "it died"}'
"""


def system_of(tmp_path: Path, lab: str, seeds: tuple[int, ...] = (1,)) -> System:
    """A measuring program that always says the same, and fails for one strength."""
    binary = tmp_path / "measure"
    told = [[1000] * 10] * 20 + [[2000] * 5] * 10 + [[1000] * 10] * 30
    binary.write_text(MEASURE.replace("SLICES", json.dumps(told)))
    binary.chmod(0o755)
    return System(load_labs(this_kit()).get(lab), binary, 3, seeds, lab == "lab3")


def asked(of: System) -> list[str]:
    return Path(f"{of.binary}.log").read_text().splitlines()


def test_a_cell_is_a_run_of_the_measuring_program(known: Catalogue, tmp_path: Path) -> None:
    of = system_of(tmp_path, "lab3", seeds=(1, 2))
    point = Point("lab3", "leader", "net-slow", MS, 1.0, "read", 512, "4", "one", 50)
    (made,) = simulated.made(of, known, [replace(cell(MS, 0.0), point=point)])
    assert (made.point, made.loss, made.trouble) == (point, Cost(0.5, 0.5, 0.5), "it died")
    assert (made.leader_changes, made.recovery_s, made.fault) == (1, 0.0, "net-slow 1 ms")
    first, second = sorted(asked(of))
    wanted = "--mix=get --clients=4 --clients-at=one --value-bytes=512 --costs-percent=50"
    wanted += " --fault=net-slow:1000000 --shape=stages:2000,1000,5000 --victim=leader --seed=1"
    assert set(wanted.split()) <= set(first.split())
    assert second.split() == [word.replace("--seed=1", "--seed=2") for word in first.split()]


def test_a_load_is_clients_or_a_rate(known: Catalogue, tmp_path: Path) -> None:
    of = system_of(tmp_path, "lab3")
    loads = {"08": "--clients=8", "500/s": "--rate=500", OPEN: f"--rate={simulated.OPEN_RATE}"}
    cells = [cell(MS, 0.0, load=sweeps._load(each)) for each in loads]
    simulated.made(of, known, cells)
    words = " ".join(asked(of)).split()
    assert {each for each in words if each.startswith(("--rate=", "--clients="))} == {
        *loads.values()
    }
    unusual = [each.point.unusual for each in cells]
    assert unusual == [[], ["open loop at 500/s"], ["open loop"]]


def test_a_log_has_one_mix_and_a_dead_replica_is_a_fault(known: Catalogue, tmp_path: Path) -> None:
    of = system_of(tmp_path, "lab2")
    point = Point("lab2", "follower", "crash", 0, 1.0, load=OPEN)
    simulated.made(of, known, [replace(cell(0, 0.0), point=point)])
    (words,) = asked(of)
    assert {"--slow=1", "--fault=dead", f"--rate={simulated.OPEN_RATE}"} <= set(words.split())
    assert "--mix" not in words


def test_a_run_without_a_result_has_a_reason(known: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(CouldNotGrade, match=r"^lab2, net-slow: the reason$"):
        simulated.made(system_of(tmp_path, "lab2"), known, [cell(7, 0.0)])
    with pytest.raises(CouldNotGrade, match="too many commands ended in a run"):
        simulated.made(system_of(tmp_path, "lab2"), known, [cell(8, 0.0)])


def test_axes_that_a_system_lacks_are_refused(known: Catalogue, tmp_path: Path) -> None:
    log = system_of(tmp_path, "lab2")
    with pytest.raises(CannotDo, match="are for a store"):
        sweeps._points(log, Options(places=("all",)), known)
    with pytest.raises(CannotDo, match="lab2 has no pilot, but leader, follower"):
        sweeps._points(log, Options(targets=("pilot",)), known)


# ---- the handbook's page ----


def test_the_handbooks_results_answer_every_finding() -> None:
    rows = sweep.results(this_kit().site / swept.RESULTS)
    mine = [each for each in rows if each.point.system == "lab3"]
    others = [each for each in rows if each.point.system != "lab3"]
    unknown = [each.number for each in findings.of(mine, others) if each.verdict == UNKNOWN]
    assert unknown == [8], "no threshold of ours is tuned"


def test_the_handbooks_results_are_in_the_order_of_strengths() -> None:
    rows = sweep.results(this_kit().site / swept.RESULTS)
    assert rows
    for row in rows:
        # The smaller amount is the stronger fault of some kinds.
        amounts = [each.point.amount for each in row.cells]
        assert amounts in (sorted(amounts), sorted(amounts, reverse=True)), row


def test_the_handbooks_page_has_its_parts(tmp_path: Path) -> None:
    (tmp_path / swept.RESULTS).parent.mkdir(parents=True)
    cells = [cell(MS, 0.0, system="lab3"), cell(2 * MS, 0.8, system="lab3")]
    content = {"cells": [sweep.as_json(each) for each in cells]}
    (tmp_path / swept.RESULTS).write_text(json.dumps(content))
    parts = ("style", "map.lab3", "runs.lab3", "short.lab3", "findings.lab3")
    page = swept.fill(tmp_path, "\n".join(f"{{{{ swept.{each} }}}}" for each in parts))
    assert "{{" not in page
    assert page.count('class="danger ') == 2
    with pytest.raises(KeyError):
        swept.fill(tmp_path, "{{ swept.weather.lab3 }}")
