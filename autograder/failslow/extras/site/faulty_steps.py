"""The table of mutants and the faulty step that their replay shows."""

from collections.abc import Sequence

from failslow.base.kit import Kit
from failslow.extras import lab_kits
from failslow.lab.mutants import Mutant, load_mutants


def of_kit(kit: Kit) -> list[Mutant]:
    """Those of the labs whose mutants name their steps."""
    labs = lab_kits.names_faulty_steps(kit)
    return [each for each in load_mutants(kit) if each.lab in labs]


def table(mutants: Sequence[Mutant]) -> str:
    """In Markdown, one line for each mutant that names its step, by lab and name."""
    lines = ["| mutant, and its replay | faulty step |", "| --- | --- |"]
    lines += [
        f"| {each.name}<br>{each.caught_by[0]} | {step} |"
        for each in mutants
        if (step := (each.faulty_step or "").replace("|", r"\|"))
    ]
    return "\n".join(lines)
