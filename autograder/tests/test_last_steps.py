"""The steps that a failure shows."""

from failslow.grade import last_steps

HISTORY = "".join(f"#{n}  {n}.000000 s  step {n}\n  of two lines\n" for n in range(1, 31))
DIES = "#31  31.000000 s  replica 2 dies: it crashed (Aborted): why\n#32  32.000000 s  more\n"


def test_the_last_steps_have_their_lines() -> None:
    assert last_steps.of(HISTORY, 1) == "#30  30.000000 s  step 30\n  of two lines\n"


def test_a_death_is_the_last_step_that_it_shows() -> None:
    failure = "x.cc:1\nreplica 2 died: it crashed (Aborted): why\n  at a.cc:3 in F"
    shown = last_steps.before_death(failure, HISTORY + DIES)
    title, *lines = shown.splitlines()
    assert title == "The last steps up to its death:"
    assert lines[0].startswith("#22 ")
    assert lines[-1].endswith("replica 2 dies: it crashed (Aborted): why")


def test_the_words_of_a_death_are_no_pattern() -> None:
    dies = "#31  31.000000 s  replica 2 dies: (a+)+$ [\\"
    shown = last_steps.before_death("replica 2 died: (a+)+$ [\\\n", HISTORY + dies)
    assert shown.endswith(f"{dies}\n")


def test_a_failure_without_a_death_shows_none() -> None:
    assert last_steps.before_death("no leader", HISTORY + DIES) == ""
    assert last_steps.before_death("replica 1 died: it crashed (Aborted): why", HISTORY) == ""
