"""The table of mutants and the step that their replay shows as the guilty one."""

from collections.abc import Sequence

from failslow.mutants import Mutant


def table(mutants: Sequence[Mutant]) -> str:
    """In Markdown, one line for each mutant that names its step, by lab and name."""
    lines = ["| mutant, and its replay | guilty step |", "| --- | --- |"]
    lines += [
        f"| {each.name}<br>{each.caught_by[0]} | {step} |"
        for each in mutants
        if (step := (each.guilty_step or "").replace("|", r"\|"))
    ]
    return "\n".join(lines)
