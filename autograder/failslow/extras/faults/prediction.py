"""The simulator's prediction of an experiment: the same fault and solution in virtual time.

The grader's measurement makes it. A student's kit has no such measurement, and no prediction: the
functions import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from failslow.base.kit import Kit
from failslow.lab.labs import load_labs
from failslow.lab.mutants import patched_in


@dataclass(frozen=True)
class Predicted:
    """Shares that the fault costs."""

    latency: float
    throughput: float


def can_predict() -> bool:
    """Whether this package has the measurement."""
    return find_spec("failslow.extras.bench.slow") is not None


def roles(kit: Kit, lab: str) -> tuple[str, ...]:
    """The victims that can be predicted; none for a lab that has no log of its own, and none in a
    student's kit."""
    if not can_predict():
        return ()
    from failslow.extras.bench import slow

    found = load_labs(kit).get(lab)
    return found.measurement.roles if found.measurement and slow.has_log(kit, found) else ()


def predict(
    kit: Kit, lab: str, tree: Path | None, presets: Sequence[str], replicas: int, victim: str
) -> dict[str, Predicted]:
    """By preset. CannotDo as `./kit bench slow`. Requires: the victim is one of `roles`."""
    from failslow.extras.bench import slow

    options = slow.Options(lab, (_name(tree),), 1, (replicas,), tuple(presets), victim)
    (measured,) = slow.measure(kit, options).measured
    return {
        cell.fault: Predicted(cell.latency.median, cell.throughput.median)
        for cell in measured.cells
        if cell.misbehaved is None
    }


def _name(tree: Path | None) -> str:
    """A solution as `./kit bench slow` names it."""
    from failslow.extras.bench import slow

    if tree is None:
        return slow.REFERENCE
    patched = patched_in(tree)
    return patched.name if patched else str(tree)
