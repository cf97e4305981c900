"""`kit demo`: a story of three minutes for a lecture. One slow follower, and two Rafts."""

import sys
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands import experiments
from failslow.extras.faults import catalogue, experiment, experiment_page, verdict
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.faults.experiment import CONDITIONS, HeldFault
from failslow.extras.faults.experiment_page import Shown
from failslow.extras.shared.solution import check_out
from failslow.extras.slowness.graph import FIRST_CLIENT, what_waits
from failslow.lab.mutants import MUTANTS, path_of

LAB = "lab2"
FAULT = "net-slow-40ms"
MUTANT = f"{LAB}/waits-for-all"
HOLD_S = 3.0
CAUSES = 2
BAR, BAR_US = 50, 50_000
"""The length of a bar in characters, and the latency that fills it."""


@dataclass(frozen=True)
class Act:
    """`file`: of its page."""

    title: str
    tree: Path | None
    file: str


def run(kit: Kit, out: Path) -> int:
    """0. CannotDo when an act cannot be played."""
    check_out(out)
    mutant = path_of(kit, MUTANTS, MUTANT)
    if not mutant.is_file():
        raise CannotDo("the demo needs the reference solutions: a student's kit has none")
    cmake.build(kit, targets=["put_load", catalogue.PROGRAM])
    known = catalogue.load(kit)
    _say(
        "Three replicas of a log, on this machine. A command is safe when two of them have it on"
        " disk. So one slow replica should cost nothing. Let us see."
    )
    acts = (
        Act("Act 1. The reference Raft: waits for a majority", None, "majority.html"),
        Act("Act 2. One change: it waits for every follower", mutant, "everybody.html"),
    )
    shown = [_play(kit, known, act, out) for act in acts]
    _say(_moral(shown))
    for act in acts:
        console.note(f"Wrote {out / act.file}")
    return 0


def _play(kit: Kit, known: Catalogue, act: Act, out: Path) -> Shown:
    _pause()
    console.stdout().rule(f"[bold]{act.title}")
    preset = known.presets[FAULT]
    with experiments.cluster_of(kit, known, act.tree, LAB, 3, out) as bench:
        _say(
            f"A load of up to {experiment.RATE:,} puts a second begins. For {HOLD_S:.0f} seconds"
            " one follower's network gets 40 ms slower, then it is healed; then the same follower"
            " is dead for as long."
        )
        kind = known.kinds[preset.kind]
        fault = HeldFault(kind=kind, amount=preset.amount, target="follower", hold_s=HOLD_S)
        done = experiment.run(bench, fault, _advance)
        (shown,) = experiments.with_waits(bench, [done])
    for condition in CONDITIONS:
        mean_us = verdict.mean_latency(done.held(condition))
        bar = "█" * max(1, min(BAR, round(BAR * mean_us / BAR_US)))
        console.stdout().print(f"{condition:>8}  {mean_us / 1000:6.1f} ms  {bar}")
    _say(f"Verdict: {done.verdict.word}. {done.verdict.reason.capitalize()}".rstrip(". ") + ".")
    atomic.write_text(out / act.file, experiment_page.render(act.title, [shown]))
    return shown


def _moral(shown: list[Shown]) -> str:
    good, bad = (each.experiment for each in shown)
    factor = verdict.mean_latency(bad.held("slow")) / verdict.mean_latency(good.held("slow"))
    waits = shown[-1].grown
    causes = [
        f"{experiment_page.who_waits(shown[-1], each.edge)}: {what_waits(each.edge)}, at worst"
        f" {each.healthy.worst_ns / 1e6 if each.healthy else 0:.0f} ms before,"
        f" {each.edge.worst_ns / 1e6:.0f} ms with the fault"
        for each in sorted(waits, key=lambda each: each.edge.sender >= FIRST_CLIENT)[:CAUSES]
    ]
    return (
        f"Why: the slow follower made every command {factor:.0f} times as slow, although two"
        " replicas were fast. The waits that grew most:\n- "
        + "\n- ".join(causes or ["none was seen"])
        + "\nA majority does not wait for the slowest. That is what you build in this course."
    )


def _advance(text: str) -> None:
    console.note(f"  {text}")


def _say(text: str) -> None:
    console.stdout().print(f"\n{escape(text)}\n")


def _pause() -> None:
    """A lecturer goes on with Enter. Without a terminal nobody is waited for."""
    if sys.stdin.isatty():
        console.note("(Enter)")
        sys.stdin.readline()
