"""Puts that end while a snapshot is taken, apart from the others."""

import pytest

from failslow.base.errors import CannotDo
from failslow.extras.bench import snapshot
from failslow.extras.bench.snapshot import Snapshots

BEGAN = 100.0
"""Slice number n ends 0.1 (n + 1) s later."""


def test_slices_around_a_snapshot_count_as_its_own() -> None:
    found = Snapshots([(101.0, 101.2)])
    assert not found.overlap(100.4, 100.5)
    assert found.overlap(100.45, 100.55)
    assert found.overlap(101.05, 101.15)
    assert found.overlap(101.65, 101.75)
    assert not found.overlap(101.7, 101.8)


def test_percentiles_are_those_of_each_kind_of_slice() -> None:
    slices = [[1000] * 100] * 10 + [[3000] * 98 + [9000] * 2] * 12
    figures = snapshot.figures_of("some", BEGAN, slices, Snapshots([(101.5, 101.7)]), 5.0)
    by_name = {figure.name: figure for figure in figures}
    ratio = by_name["some: p99 during snapshots to p99"]
    assert ratio.value == pytest.approx(9)
    assert not ratio.passed
    assert by_name["some: p99 otherwise"].value == pytest.approx(1)
    assert by_name["some: longest during snapshots"].value == pytest.approx(9)
    assert by_name["some: puts that ended during snapshots"].value == pytest.approx(1200 / 22)
    assert by_name["some: snapshots"].value == 1
    assert by_name["some: the longest took"].value == pytest.approx(0.2)


def test_a_snapshot_before_the_window_is_not_counted() -> None:
    slices = [[1000]] * 10
    seen = Snapshots([(90.0, 91.0), (100.9, 101.1)])
    figures = snapshot.figures_of("some", BEGAN, slices, seen, 5.0)
    assert {figure.name: figure.value for figure in figures}["some: snapshots"] == 1


@pytest.mark.parametrize(
    ("times", "lacks"), [([], "with a snapshot"), ([(100.0, 101.0)], "without a snapshot")]
)
def test_without_both_kinds_there_is_nothing_to_compare(
    times: list[tuple[float, float]], lacks: str
) -> None:
    with pytest.raises(CannotDo, match=f"no put ended at a time {lacks}"):
        snapshot.figures_of("some", BEGAN, [[1000]] * 5, Snapshots(times), 5.0)
