"""The knowledge of lab 7 alone: see failslow/extras/lab_kits.py."""

from . import cost, detectors, handovers

MANY_SEEDS = ("HandOverChaos.LosesNothing",)
LONG_BENCHMARKS = {"adr": detectors.run, "detector": cost.run}
SLOW_RUNS = {"leader": handovers.LEADER}
made_again = detectors.made_again
