"""The names that the kit of one lab may import: see lab_kits.py. It imports nothing else of ours.

Such a kit is no part of the package, so a change below reaches it through these ten names alone.
"""

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.bench import figures, load, pairs, programs, samples, servers
from failslow.extras.faults import slow_runs
from failslow.extras.reproduction import reproduction

__all__ = [
    "CannotDo",
    "Kit",
    "figures",
    "load",
    "pairs",
    "programs",
    "reproduction",
    "samples",
    "servers",
    "slow_runs",
]
