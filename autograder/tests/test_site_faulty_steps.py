"""The handbook's table of the steps that replays of mutants show."""

from pathlib import Path

from failslow.extras.site import faulty_steps
from failslow.lab.mutants import Mutant


def mutant(name: str, caught_by: str, shows: str | None) -> Mutant:
    return Mutant(Path(f"lab2-raft/mutants/{name}.patch"), "lab2", "d", (caught_by,), shows=shows)


def test_only_mutants_with_a_replay_are_in_the_table() -> None:
    mutants = [
        mutant("forgets", "A.Test", "x | y"),
        mutant("waits", "measurement/3/cpu-slow", "x"),
        mutant("silent", "A.Test", None),
    ]
    assert faulty_steps.table(mutants).splitlines()[2:] == [r"| lab2/forgets<br>A.Test | x \| y |"]
