"""Injects one fault, lists those that are on, and heals them all."""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from difflib import get_close_matches
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.extras.cluster import replica_processes
from failslow.extras.cluster.layout import Layout
from failslow.extras.faults import claim, control_group, fault_file, strength
from failslow.extras.faults.catalogue import POWER_CUT, Catalogue, FaultKind
from failslow.extras.faults.claim import Claim
from failslow.extras.faults.injectors import Injection, injector_of, touched
from failslow.extras.faults.targets import Place
from failslow.extras.shared import waiting

HEALED_S = 60.0
"""A replica that must be started again needs the most."""
_CONTROLLERS = {
    "cpu-": control_group.CPU,
    "memory-": control_group.MEMORY,
    "disk-": control_group.DISK,
}
"""By the kinds of faults that may have made a control group."""


def strength_of(catalogue: Catalogue, fault: str, text: str | None) -> tuple[FaultKind, int]:
    """A fault is a kind, or a preset of the catalogue; `text` is a strength of one's own."""
    preset = catalogue.presets.get(fault)
    kind = catalogue.kinds.get(preset.kind if preset else fault)
    if kind is None and fault == POWER_CUT.name:
        raise CannotDo(f"{fault} is for ./kit faults inject alone")
    if kind is None:
        near = get_close_matches(fault, [*catalogue.kinds, *catalogue.presets], 1)
        hint = f"; is it {near[0]}?" if near else ""
        raise CannotDo(f"there is no fault '{fault}'{hint} (see ./kit faults list)")
    if text is not None:
        return kind, strength.parse(kind, text)
    if preset is not None:
        return kind, preset.amount
    if kind.unit == "none":
        return kind, 0
    names = [each.name for each in catalogue.presets.values() if each.kind == kind.name]
    raise CannotDo(
        f"{kind.name} needs a --strength" + (f" (or say {', '.join(names)})" if names else "")
    )


def in_words(kind: FaultKind, amount: int) -> str:
    return f"{kind.name} {strength.describe(kind, amount)}".rstrip()


def inject(place: Place, injection: Injection, begun: Callable[[], None]) -> bool:
    """Holds the fault for its time, and heals it. Calls `begun` when it is on.

    Returns whether the replica outlived it. CannotDo when it cannot be injected.
    """
    injector = injector_of(place, injection.kind)
    fault = in_words(injection.kind, injection.amount)
    if injector.restarts:
        place.current.check_comes_back()
    if injection.kind.name != "bit-flip":
        place.process(injection.replica)
    with ExitStack() as stack:
        for number in touched(place, injection):
            mine = claim.of_this_process(
                number, injection.kind.name, fault, injector.mechanism, injection.seconds
            )
            stack.enter_context(claim.claimed(place.layout, mine))
        return injector.hold(place, injection, begun)


def heal(layout: Layout, catalogue: Catalogue) -> list[str]:
    """Ends all injections of a cluster, and what killed injectors have left. Returns a line for
    each. CannotDo when one does not end."""
    done = []
    for path in layout.injections():
        known = claim.read(path)
        if claim.is_held(path):
            if known is not None:
                _ask_to_end(known)
            _await_end(path)
        elif known is not None:
            _heal_leftover(layout, known)
        if known is not None:
            done.append(f"replica {known.replica}: {known.fault} is healed")
        path.unlink(missing_ok=True)
    for kind in catalogue.kinds.values():
        for path in layout.data.glob("replica-*.faults"):
            if fault_file.is_on(path, kind):
                fault_file.heal(path, catalogue, kind)
                done.append(f"{path.name}: {kind.name} is healed")
    return done


def _await_end(path: Path) -> None:
    """CannotDo when the injector does not end."""
    if not waiting.until(lambda: not claim.is_held(path), HEALED_S):
        raise CannotDo(f"the injector of {path.name} does not end")


def _ask_to_end(injector: Claim) -> None:
    """SIGTERM, unless the process id belongs to somebody else by now."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(injector.pid)
        try:
            if replica_processes.start_ticks(injector.pid) == injector.start_ticks:
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        finally:
            os.close(handle)


def _heal_leftover(layout: Layout, known: Claim) -> None:
    """Injector and guard were both killed: a signal or a control group may be left."""
    for process in replica_processes.find(layout.data):
        if process.number != known.replica:
            continue
        for prefix, controller in _CONTROLLERS.items():
            if known.kind.startswith(prefix):
                control_group.remove_of(process.pid, controller)
        if known.kind.startswith("cpu-"):
            replica_processes.send(process, signal.SIGCONT)
