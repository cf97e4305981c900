"""`kit faults run`, `sweep` and `check`: experiments with faults, and a test of each fault."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from failslow.base import console
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands import experiments, sweeps, systems
from failslow.extras.commands.parsers import Commands, add
from failslow.extras.faults import catalogue, injection, probe
from failslow.extras.faults.catalogue import Catalogue
from failslow.extras.faults.injectors import INJECTORS, Injector, in_containers
from failslow.extras.faults.verdict import OTHERS_CORES_MAX


def add_to(actions: Commands) -> None:
    text = "make experiments with faults, on a cluster of its own"
    experiments.add_run(add(actions, "run", text, experiments.run, experiments.Options))
    text = "make experiments over strengths, roles and workloads, and map what they cost"
    sweeps.add_to(add(actions, "sweep", text, sweeps.run, sweeps.Options))
    systems.add_to(actions)
    checked = add(actions, "check", "try each fault on this machine", _check)
    text = "with the mechanisms that containers get"
    checked.add_argument("--docker", action="store_true", help=text)
    checked.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no table")


def _check(kit: Kit, docker: bool, as_json: bool) -> int:
    """0 when all that was measured is faithful, else 1."""
    known = catalogue.built(kit)
    cmake.build(kit, targets=[probe.PROGRAM])
    effects = {}
    for resource in dict.fromkeys(trial.resource for trial in probe.TRIALS):
        for effect in probe.measure(kit, known, resource, docker):
            effects[effect.trial.kind] = effect
            if not as_json:
                console.note(f"{effect.trial.kind}: {_measured(known, effect)}")
    injectors = in_containers(Path(tempfile.gettempdir())) if docker else INJECTORS
    rows = [
        _supported(known, name, injectors[name], effects.get(name))
        for name in known.kinds
        if name in injectors
    ]
    if as_json:
        print(json.dumps(rows))
    else:
        _print_check(rows)
    return 0 if all(effect.is_faithful for effect in effects.values()) else 1


def _supported(
    known: Catalogue, name: str, injector: Injector, effect: probe.Effect | None
) -> dict[str, object]:
    missing = injector.missing()
    return {
        "fault": name,
        "mechanism": injector.mechanism,
        "works": missing is None,
        "measured": _measured(known, effect) if effect else missing or "",
        "faithful": effect.is_faithful if effect else None,
        "loses": injector.loses,
    }


def _measured(known: Catalogue, effect: probe.Effect) -> str:
    amount = injection.in_words(known.kinds[effect.trial.kind], effect.trial.amount)
    times = [effect.healthy, effect.slow, effect.expected, effect.recovered]
    before, slow, expected, after = (f"{time / 1e6:.3g} ms" for time in times)
    verdict = "faithful" if effect.is_faithful else f"NOT FAITHFUL{_because(effect)}"
    return f"{amount}: {before} became {slow} (expected {expected}), then {after}: {verdict}"


def _because(effect: probe.Effect) -> str:
    """Other programs, if they used enough of the processors to be the reason."""
    if effect.others_cores <= OTHERS_CORES_MAX:
        return ""
    return f" (the machine is busy: others used {100 * effect.others_cores:.0f} % of a processor)"


def _print_check(rows: Sequence[Mapping[str, object]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("fault", no_wrap=True)
    for name in ("mechanism", "measured here", "what is lost"):
        table.add_column(name)
    for row in rows:
        table.add_row(*(str(row[name]) for name in ("fault", "mechanism", "measured", "loses")))
    console.stdout().print(table)
