"""The check that replays show the faulty steps of mutants."""

from pathlib import Path

import pytest

from failslow.base.kit import this_kit
from failslow.extras import lab_kits
from failslow.extras.check import replays
from failslow.extras.site import browser
from failslow.lab.mutants import Mutant, load_mutants
from recordings import read, two_votes
from replay_pages import write_page


def mutant(lab: str = "lab2", caught_by: str = "A.B", **rest: str) -> Mutant:
    return Mutant(Path(f"mutants/{lab}/m.patch"), lab, "d", (caught_by,), **rest)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (mutant(trips="log matching"), "VIOLATION of log matching"),
        (mutant(trips="log matching", shows="a lost entry"), "a lost entry"),
        (mutant(), None),
        (mutant(caught_by="measurement/3/cpu-slow", shows="x"), None),
        (mutant(caught_by="determinism", trips="x"), None),
    ],
)
def test_a_faulty_step_is_named_by_what_it_shows_or_trips(given: Mutant, words: str | None) -> None:
    assert given.faulty_step == words


def test_every_mutant_with_a_replay_names_its_faulty_step() -> None:
    """By a line 'Shows: TEXT', the words of the step that its replay shows by v."""
    labs = lab_kits.names_faulty_steps(this_kit())
    mutants = [each for each in load_mutants(this_kit()) if each.lab in labs]
    replayable = [each for each in mutants if each.has_replay]
    assert [each.name for each in replayable if each.faulty_step is None] == []


def test_the_sample_has_mutants_of_every_lab() -> None:
    named = [each for each in load_mutants(this_kit()) if each.faulty_step is not None]
    found = replays.of_each_lab(named, replays.FEW)
    labs = {each.lab for each in found}
    assert labs == {each.lab for each in named} >= lab_kits.names_faulty_steps(this_kit())
    assert len({each.name for each in found}) == len(found)


@pytest.fixture
def drawing(tmp_path: Path) -> Path:
    return write_page(tmp_path, [read(two_votes(), tmp_path / "record")])


def test_a_replay_that_shows_the_step_passes(tab: browser.Tab, drawing: Path) -> None:
    counts = replays._shown(tab, mutant(trips="one vote per term"), drawing)
    assert (counts.passed, counts.problems) == (3, [])


def test_a_replay_that_shows_another_step_fails(tab: browser.Tab, drawing: Path) -> None:
    (problem,) = replays._shown(tab, mutant(trips="log matching"), drawing).problems
    assert problem.startswith("mutant lab2/m: the replay shows 'violation")
    assert problem.endswith("not 'VIOLATION of log matching'")


def test_a_replay_that_shows_nothing_fails(tab: browser.Tab, tmp_path: Path) -> None:
    made = two_votes()
    del made.lines[-1]
    drawing = write_page(tmp_path, [read(made, tmp_path / "record")])
    (problem,) = replays._shown(tab, mutant(trips="log matching"), drawing).problems
    assert "shows 'nothing'" in problem


def test_a_mutant_that_cannot_be_drawn_fails(tab: browser.Tab) -> None:
    (problem,) = replays._shown(tab, mutant(trips="x"), "A.B passes").problems
    assert problem == "mutant lab2/m: the replay cannot be drawn: A.B passes"
