"""The names that the kit of one lab may import: see lab_kits.py. It imports nothing else of ours.

Such a kit is no part of the package, so a change below reaches it through these names alone.
"""

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import figures, load, pairs, programs, samples, servers
from failslow.extras.faults import slow_runs
from failslow.extras.oral import kinds, runs
from failslow.extras.replay import explanation
from failslow.extras.reproduction import reproduction

__all__ = [
    "CannotDo",
    "Kit",
    "explanation",
    "figures",
    "kinds",
    "load",
    "pairs",
    "programs",
    "reproduction",
    "runs",
    "samples",
    "servers",
    "slow_runs",
]
