"""`kit bench calibrate`: measures the costs of this machine, and tests the simulator's predictions.

It runs the reference Raft on real sockets and disks under several loads. A fit divides the
processor time among the counted work: steps, frames, bytes, disk batches. Disk and wake-ups are
measured by themselves. All these costs make a profile for the simulator. Then other loads are run
for real and in the simulator, and compared: no number of those goes into the profile.
"""

from failslow.calibration.command import run

__all__ = ["run"]
