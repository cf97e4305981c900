"""`kit replay`: runs one public test in simulation and prints its numbered history."""

from pathlib import Path

from failslow import console
from failslow.commands.sims import build_sims
from failslow.errors import CannotDo
from failslow.kit import Kit


def run(kit: Kit, lab_id: str, name: str, seed: int | None, directory: Path | None) -> int:
    """0 when the test passes, 1 when it fails; CannotDo for an unknown test."""
    sims = build_sims(kit, lab_id, directory or kit.labs)
    found = [test for test in sims.tests() if test.name == name]
    if not found:
        raise CannotDo(f"{lab_id} has no public test '{name}' (./kit test {lab_id} names them)")
    outcome = sims.run(found[0], seed)
    print(outcome.history, end="")
    seed_text = f" with seed {outcome.seed}" if outcome.seed else ""
    if outcome.passed:
        console.note(f"{name} passed{seed_text}")
        return 0
    for failure in outcome.failures:
        console.note(failure)
    console.note(f"{name} failed{seed_text}")
    return 1
