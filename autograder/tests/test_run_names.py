"""The names of measured runs in commands."""

import pytest

from demands import some
from failslow.base.errors import CannotDo
from failslow.measurement.run_names import name_of, parse
from failslow.measurement.runs import FLAPPING, LATENCY, NORMAL, UNDER
from test_scoring import PILOTS, PLAN, SETTINGS, seed_of


def test_each_run_of_a_measurement_has_a_name() -> None:
    for row in some(SETTINGS.rows):
        for run in some(PLAN.slow(row)):
            for one in (run, run.with_fault(NORMAL)):
                named = parse(name_of(row, one, 900.5), SETTINGS, seed_of, run.seed)
                assert (named.row, named.run, named.rate) == (row, one, 900.5)


def test_a_row_alone_is_its_first_run() -> None:
    row = SETTINGS.rows[0]
    named = parse(f"slow:{row.replicas}/{row.fault}", SETTINGS, seed_of, None)
    assert named.run == PLAN.slow(row)[0]
    assert named.rate is None


def test_words_come_in_any_order() -> None:
    row = SETTINGS.rows[0]
    run = parse(f"slow:{row.replicas}/{row.fault},2,latency,under", SETTINGS, seed_of, 7).run
    assert (run.places, run.load, run.shape, run.seed) == ((2,), LATENCY, UNDER, 7)


def test_a_victim_is_a_part_of_the_row() -> None:
    row = next(row for row in PILOTS.rows if row.victim == "pilot")
    named = parse(f"slow:pilot/{row.replicas}/{row.fault},{FLAPPING}", PILOTS, seed_of, None)
    assert (named.run.victim, named.run.shape) == ("pilot", FLAPPING)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("3/moon", "there is no measured row '3/moon': 3/cpu-slow"),
        ("", "there is no measured row '': 3/cpu-slow"),
        ("3/cpu-slow,quickly", "'quickly' says nothing of a measured run: before, "),
        ("3/cpu-slow,net-slow", "'net-slow' says nothing of a measured run"),
        ("3/cpu-slow,1+7", "3 replicas have no such followers"),
        ("3/cpu-slow,-5/s", "'-5/s' says nothing"),
    ],
)
def test_a_name_of_no_run_is_one_line(words: str, says: str) -> None:
    with pytest.raises(CannotDo, match=says.replace("+", r"\+")):
        parse(f"slow:{words}", SETTINGS, seed_of, None)
