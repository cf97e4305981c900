"""`kit faults run`: experiments on real processes, each with a verdict."""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from failslow.base import atomic, console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras import lab_kits
from failslow.extras.cluster import containers, data_directory, up, verification
from failslow.extras.faults import (
    catalogue,
    experiment,
    experiment_page,
    injection,
    slow_runs,
    verdict,
    waits,
)
from failslow.extras.faults.bench import Bench, LabBench
from failslow.extras.faults.catalogue import Catalogue, FaultKind, Preset
from failslow.extras.faults.experiment import (
    DEAD,
    HEALTHY,
    SLOW,
    Disturbed,
    Experiment,
    HeldFault,
)
from failslow.extras.faults.experiment_page import Shown
from failslow.extras.faults.injectors import INJECTORS
from failslow.extras.faults.targets import Place
from failslow.extras.faults.verdict import FAIL, INCONCLUSIVE, PASS, REPEATS, Verdict
from failslow.extras.shared.solution import check_out
from failslow.lab.labs import load_labs

HOLD_S, QUICK_HOLD_S = 3.0, 2.0
PAGE, RESULTS = "experiments.html", "experiments.json"
FOLLOWER = "follower"
LAB, REPLICAS = "lab2", 3

Fault = tuple[str, FaultKind, int]
"""Its preset (or kind), its kind, its amount."""

Unmade = dict[str, Verdict]
"""Verdicts of the experiments that could not be made, by fault."""


def add_run(parser: argparse.ArgumentParser) -> None:
    """The options of `kit faults run`."""
    parser.add_argument(
        "directory",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="a solution (the reference; without one, labs)",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--fault", metavar="NAME[,NAME...]", help="faults, or presets of them")
    which.add_argument(
        "--all", action="store_true", dest="every", help="one strength of each that slows"
    )
    parser.add_argument("--target", default=FOLLOWER, metavar="WHICH", help="(follower)")
    parser.add_argument("--strength", metavar="AMOUNT", help="such as 5%% or 40ms (the preset's)")
    parser.add_argument("--lab", help="whose cluster is loaded (lab2)")
    parser.add_argument("--replicas", type=int, choices=(3, 5), help="(3)")
    text = "on the containers of docker-compose.yml, instead of a cluster of its own"
    parser.add_argument("--docker", action="store_true", help=text)
    parser.add_argument("--quick", action="store_true", help="each fault holds for 2 s, not 3 s")
    parser.add_argument("--out", type=Path, default=Path("out/faults"), help="(out/faults)")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no table")


@dataclass(frozen=True)
class Options:
    """`every`: all faults that slow, in place of `fault`. With `docker` the containers have a
    solution, a lab and replicas: none may be named here."""

    directory: Path | None
    fault: str | None
    every: bool
    target: str
    strength: str | None
    lab: str | None
    replicas: int | None
    docker: bool
    quick: bool
    out: Path
    as_json: bool


def run(kit: Kit, options: Options) -> int:
    """0 when no fault fails, 1 when one does. A role may have runs of its own (slow_runs.py). An
    experiment that an election or a busy machine prevents is INCONCLUSIVE. CannotDo when another
    one cannot be made; those before it are shown."""
    check_out(options.out)
    if options.docker and (options.directory or options.lab or options.replicas):
        raise CannotDo("--docker: docker-compose.yml says which solution, lab and replicas run")
    cmake.build(kit, targets=["put_load", catalogue.PROGRAM])
    known = catalogue.load(kit)
    faults = (
        _every(known) if options.every else _named(known, options.fault or "", options.strength)
    )
    with (
        _containers(kit, known)
        if options.docker
        else cluster_of(
            kit,
            known,
            options.directory,
            options.lab or LAB,
            options.replicas or REPLICAS,
            options.out,
        )
    ) as bench:
        if own := lab_kits.slow_runs_of(kit, bench.lab).get(options.target):
            return slow_runs.run(bench, own, faults, options.target, options.quick, options.as_json)
        name = _name(kit, bench)
        hold_s = QUICK_HOLD_S if options.quick else HOLD_S
        done: list[Experiment] = []
        shown: list[Shown] = []
        unmade: Unmade = {}
        try:
            for (_, kind, amount), each in _experiments(
                bench, faults, options.target, hold_s, options.as_json
            ):
                if isinstance(each, Verdict):
                    unmade[injection.in_words(kind, amount)] = each
                    continue
                done.append(each)
                shown = with_waits(bench, done)
                # After each one: what ends the next one early loses none before it.
                _write(options.out, name, shown)
        finally:
            _print(options, shown, unmade)
    return 1 if any(each.experiment.verdict.word == FAIL for each in shown) else 0


def _print(options: Options, shown: Sequence[Shown], unmade: Unmade) -> None:
    if options.as_json:
        print(_document(shown, unmade), end="")
    elif shown or unmade:
        console.stdout().print(_table(shown, unmade))
    if shown and not options.as_json:
        console.note(f"Wrote {options.out / PAGE}")


def _write(out: Path, name: str, shown: Sequence[Shown]) -> None:
    atomic.write_text(out / PAGE, experiment_page.render(name, shown))
    atomic.write_text(out / RESULTS, _document(shown, {}))


def _document(shown: Sequence[Shown], unmade: Unmade) -> str:
    made = [_as_json(each) for each in shown]
    others = [{"fault": fault, "verdict": asdict(each)} for fault, each in unmade.items()]
    return json.dumps(made + others, indent=1) + "\n"


@contextmanager
def cluster_of(
    kit: Kit, known: Catalogue, directory: Path | None, lab: str, replicas: int, out: Path
) -> Iterator[LabBench]:
    """A new cluster of a solution, with runtime verification, while the body runs. Its data are in
    a new directory below `out`, which is removed with it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotDo(f"--out: cannot make {out}: {error.strerror}") from error
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=out) as data:
        request = up.Request(directory, lab, replicas, Path(data), None, verify=True, durable=True)
        layout, serves = up.up(kit, request)
        try:
            if not serves:
                raise CannotDo("the cluster elects no leader")
            place = Place(layout, data_directory.loaded(layout), known)
            yield LabBench(kit=kit, place=place, lab=load_labs(kit).get(lab))
        finally:
            experiment.end(layout)


@contextmanager
def _containers(kit: Kit, known: Catalogue) -> Iterator[LabBench]:
    """The running containers, without their own load while the body runs."""
    layout = containers.adopted(kit)
    current = data_directory.loaded(layout)
    with containers.without_load(kit):
        place = Place(layout, current, known)
        yield LabBench(kit=kit, place=place, lab=load_labs(kit).get(current.lab))


def _name(kit: Kit, bench: Bench) -> str:
    """The name of the solution that runs."""
    tree = kit.root / bench.place.current.solution
    return "the reference" if tree == kit.reference else str(tree)


def with_waits(bench: Bench, done: Sequence[Experiment]) -> list[Shown]:
    """With the waits that the replicas' verification has seen. Requires: the cluster runs."""
    windows = []
    with suppress(CannotDo):  # a short experiment may be over before the first window
        windows = verification.read(bench.layout, len(bench.place.replicas))
    return [_shown(each, windows) for each in done]


def _every(known: Catalogue) -> list[Fault]:
    """One preset of each kind that slows and works here: that of the kind's name, or the first."""
    kinds = [kind for kind in known.kinds.values() if kind.slows]
    of_kinds = [presets_of(known, kind.name, here=True) for kind in kinds]
    found = [min(each, key=lambda preset: preset.name != preset.kind) for each in of_kinds if each]
    return [(each.name, known.kinds[each.kind], each.amount) for each in found]


def presets_of(known: Catalogue, kind: str, here: bool) -> list[Preset]:
    """All strengths of a kind. `here`: none, and a note, if it does not work on this machine."""
    presets = [each for each in known.presets.values() if each.kind == kind]
    if here and presets and (missing := INJECTORS[kind].missing()):
        console.note(f"{kind}: not on this machine ({missing})")
        return []
    return presets


def _named(known: Catalogue, names: str, strength: str | None) -> list[Fault]:
    return [
        (name, *injection.strength_of(known, name, strength))
        for name in dict.fromkeys(names.split(","))
    ]


def _experiments(
    bench: Bench, faults: Sequence[Fault], target: str, hold_s: float, quiet: bool
) -> Iterator[tuple[Fault, Experiment | Verdict]]:
    """A verdict alone for an experiment that was disturbed, and so could not be made."""
    for fault in faults:
        name, kind, amount = fault

        def advance(text: str, name: str = name) -> None:
            if not quiet:
                console.note(f"{name}: {text}")

        held = HeldFault(kind=kind, amount=amount, target=target, hold_s=hold_s)
        each = _experiment(bench, held, advance)
        found, took = (
            (each, "")
            if isinstance(each, Verdict)
            else (each.verdict, f" after {each.seconds:.0f} s")
        )
        because = f": {found.reason}" if found.reason else ""
        console.note(f"{name}: {found.word}{took}{because}")
        yield fault, each


def _experiment(
    bench: Bench, fault: HeldFault, advance: experiment.Advance
) -> Experiment | Verdict:
    reason = ""
    for _ in range(1 + REPEATS):
        try:
            return experiment.run(bench, fault, advance)
        except Disturbed as error:
            reason = str(error)
            advance(f"again: {reason}")
    return Verdict(INCONCLUSIVE, f"{reason}, {1 + REPEATS} times")


def _shown(done: Experiment, windows: Sequence[dict[str, Any]]) -> Shown:
    first = min(run.span[0] for run in done.runs)
    last = max(run.span[1] for run in done.runs)
    mine = [each for each in windows if first <= each["end_ns"] and each["begin_ns"] <= last]
    slow = [run.span for run in done.runs if run.condition == SLOW]
    dead = [run.span for run in done.runs if run.condition == DEAD]
    return Shown(done, waits.slow_graph(mine, slow), waits.grown(mine, slow, dead))


def _as_json(shown: Shown) -> dict[str, object]:
    done = shown.experiment
    return {
        "fault": done.fault,
        "target": done.target,
        "verdict": asdict(done.verdict),
        "costs": asdict(done.costs),
        "limits": asdict(done.limits),
        "rate": done.rate,
        "seconds": round(done.seconds, 1),
        "held_bytes": max(run.held_bytes for run in done.runs),
        "runs": {condition: _figures(done, condition) for condition in (HEALTHY, SLOW, DEAD)},
    }


def _figures(done: Experiment, condition: str) -> dict[str, float]:
    slices = done.held(condition)
    return {
        "mean_us": round(verdict.mean_latency(slices), 1),
        "puts_per_slice": round(verdict.throughput(slices), 2),
        "others_cores": round(done.others_cores(condition), 3),
    }


def _table(shown: Sequence[Shown], unmade: Unmade) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("fault", "verdict", "latency", "throughput"):
        table.add_column(head, justify="left" if head in ("fault", "verdict") else "right")
    for each in shown:
        done = each.experiment
        style = {PASS: "green", FAIL: "red"}.get(done.verdict.word, "yellow")
        table.add_row(
            done.fault,
            f"[{style}]{done.verdict.word}[/]",
            experiment_page.cost(done.costs.latency),
            experiment_page.cost(done.costs.throughput),
        )
    for fault, found in unmade.items():
        table.add_row(fault, f"[yellow]{found.word}[/]", *"--")
    return table
