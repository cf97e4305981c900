"""`kit bench calibrate`: what this machine costs, and whether the simulator then predicts it.

Runs the reference Raft on real sockets and disks under several loads, explains the processor time
it took by what it did (steps, frames, bytes, disk batches), measures disk and wake-ups by
themselves, and makes of all that a profile for the simulator. Then other loads are run for real
and in the simulator, and compared: no number of those goes into the profile.
"""

from failslow.calibration.command import run

__all__ = ["run"]
