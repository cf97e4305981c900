"""`kit faults`: faults of the catalogue on the replicas of a running cluster."""

import argparse
import json
import re
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from rich import box
from rich.table import Table

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.cluster import data_directory
from failslow.extras.cluster.layout import Layout
from failslow.extras.commands import cluster_options
from failslow.extras.commands.parsers import Command, Commands, Parser, add
from failslow.extras.faults import catalogue, claim, injection, targets
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.faults.injectors import Injection, injector_of
from failslow.extras.faults.targets import Place
from failslow.lab.labs import Lab, load_labs

SECONDS_MAX = 3600.0
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def add_to(parser: Parser) -> None:
    """Adds the actions of `kit faults`. A student's kit has no experiments."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, parser_class=Parser)
    _add_inject(actions)
    _add(actions, "heal", "end all faults of a cluster", _heal)
    shown = _add(actions, "list", "list the faults that there are, and those that are on", _list)
    shown.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no tables")
    if find_spec("failslow.extras.commands.fault_experiments"):
        from failslow.extras.commands import fault_experiments

        fault_experiments.add_to(actions)


def _add_inject(actions: Commands) -> None:
    parser = _add(actions, "inject", "make a replica slow for a while", _inject)
    parser.add_argument("fault", metavar="FAULT", help="its name, or that of a preset")
    parser.add_argument(
        "--target",
        required=True,
        metavar="WHICH",
        help="follower, a proposer's role (leader), or a number",
    )
    parser.add_argument(
        "--for", type=_seconds, default=10.0, metavar="TIME", dest="seconds", help="(10s)"
    )
    parser.add_argument("--strength", metavar="AMOUNT", help="such as 5%% or 40ms (the preset's)")
    parser.add_argument(
        "--to", metavar="N,...", dest="ends", help="of a fault on links: their other ends (all)"
    )


def _add(actions: Commands, name: str, text: str, action: Command) -> Parser:
    parser = add(actions, name, text, action)
    cluster_options.add_to(parser, docker=True)
    return parser


def _inject(
    kit: Kit,
    fault: str,
    target: str,
    seconds: float,
    strength: str | None,
    ends: str | None,
    data: Path | None,
) -> int:
    """0 when the replica has outlived the fault, 1 when it has not."""
    known = catalogue.built(kit)
    kind, amount = injection.strength_of(known.of_processes, fault, strength)
    place, lab = _place(kit, known, data)
    number, role = targets.target(place, lab, target)
    if ends is not None and not kind.to_receivers:
        raise CannotDo(f"--to: {kind.name} is not on links")
    receivers = targets.receivers(place, number, ends) if kind.to_receivers else ()
    wanted = Injection(kind, amount, number, receivers, seconds)
    words = f"{injection.in_words(kind, amount)} on replica {number} ({role})"
    injector = injector_of(place, kind)

    def begun() -> None:
        time = "" if injector.leaves else f" for {seconds:g} s"
        console.note(f"{words}{time}, by {injector.mechanism}")

    try:
        survives = injection.inject(place, wanted, begun)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {words} is healed") from None
    if not survives:
        console.note(f"replica {number} has ended, and the fault with it")
        return 1
    console.note(f"{words}: {injector.leaves or 'healed'}")
    return 0


def _heal(kit: Kit, data: Path | None) -> int:
    """0, even when there is nothing to heal."""
    layout = data_directory.named_or_only(kit, data)
    done = [] if layout is None else injection.heal(layout, catalogue.built(kit))
    for line in done or ["no fault is on"]:
        print(line)
    return 0


def _list(kit: Kit, data: Path | None, as_json: bool) -> int:
    known = catalogue.built(kit).of_processes
    layout = data_directory.named_or_only(kit, data)
    active = [] if layout is None else claim.active(layout)
    if as_json:
        faults = {name: asdict(kind) for name, kind in known.kinds.items()}
        presets = {name: asdict(preset) for name, preset in known.presets.items()}
        print(json.dumps({"faults": faults, "presets": presets, "on": [*map(asdict, active)]}))
        return 0
    _print_catalogue(known)
    for each in active:
        print(each.line)
    if not active:
        print("no fault is on")
    return 0


def _print_catalogue(known: Catalogue) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("fault", no_wrap=True)
    table.add_column("presets")
    table.add_column("effect")
    for name, kind in known.kinds.items():
        presets = [
            f"{preset.name} ({preset.text.removeprefix(name).strip()})".replace(" ()", "")
            for preset in known.presets.values()
            if preset.kind == name
        ]
        table.add_row(name, "\n".join(presets), kind.effect)
    console.stdout().print(table)


def _place(kit: Kit, known: Catalogue, data: Path | None) -> tuple[Place, Lab]:
    layout: Layout = data_directory.of_command(kit, data)
    current = data_directory.loaded(layout)
    return Place(layout, current, known), load_labs(kit).get(current.lab)


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0 < seconds <= SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no time from 1ms to 60m (such as 10s)")
    return seconds
