"""Runs the simulator's prediction for the reference Raft on the calibrated machine."""

import json
from dataclasses import dataclass
from pathlib import Path

from failslow import process
from failslow.bench.servers import REPLICAS
from failslow.calibration.workloads import Workload
from failslow.errors import CannotDo
from failslow.kit import Kit

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Prediction:
    """Times in microseconds."""

    puts_per_second: float
    mean: float
    p50: float
    p99: float


def predict(kit: Kit, profile: Path, workload: Workload) -> Prediction:
    """The replicas share a core and a disk, as those that were measured."""
    argv = [kit.binary("predict_raft"), "--profile", profile, "--replicas", str(REPLICAS)]
    argv += ["--shared-core", "--shared-disk", *workload.flags()]
    done = process.run(argv, timeout_s=TIMEOUT_S)
    if done.exit_code != 0:
        detail = done.errors
        raise CannotDo(f"no prediction of {workload.describe()}: {done.how_it_ended()}", detail)
    try:
        told = json.loads(done.output)
        return Prediction(*(float(told[name]) for name in NAMES))
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"predict_raft's output is malformed ({error!r})") from error


NAMES = ("puts_per_second", "mean_us", "p50_us", "p99_us")
"""Of predict_raft's line, in the order of Prediction's members."""
