"""The knowledge of lab 6 alone: see failslow/extras/lab_kits.py."""

from failslow.extras.for_labs import Kit, reproduction

from . import performance, real_processes, sequences, table2

MANY_SEEDS = ("Chaos.SurvivesAnything", "Partitions.RandomCuts")
"""Chaos: a rule that is broken may break rarely."""

DEEP_SCOPES = {"SaucrScope.EverySchedule": 2}
BENCHMARKS = {"saucr": real_processes.run}


def _measure(kit: Kit, quick: bool) -> reproduction.Results:
    return sequences.measure(kit, sequences.QUICK if quick else sequences.FULL)


def _missed(results: reproduction.Results) -> list[str]:
    return [*table2.missed(results), *performance.missed(results["figures"])]


def _failures(results: reproduction.Results) -> reproduction.Lines:
    """Figure 9 of document 003."""
    slots = results["figures"]["slots"]
    points = [(10.0 * number, 100.0 * count) for number, count in enumerate(slots)]
    return reproduction.Lines({"SAUCR": points}, "ms", "Commands in a second, by 10 ms")


REPRODUCTIONS = {
    "saucr": reproduction.Reproduction(
        measure=_measure,
        is_quick=lambda results: sequences.Scale(**results["scale"]) == sequences.QUICK,
        missed=_missed,
        section=lambda results: performance.section(results["figures"]),
        tables={"table-2": table2.table},
        lines={"failures": _failures},
    )
}
