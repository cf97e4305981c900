"""The program that makes the syncs of another program slow (tools/slow_syncs)."""

import tempfile
from pathlib import Path

from failslow import process
from failslow.cluster import replica_processes
from failslow.kit import Kit

PROGRAM = replica_processes.LAUNCHER


def before(kit: Kit, faults: Path) -> list[str]:
    """The words before those of the program; `faults` is the file of its faults."""
    return [str(kit.binary(PROGRAM)), "--faults", str(faults), "--"]


def missing(kit: Kit) -> str | None:
    """What this machine lacks for it. Requires: it is built."""
    with tempfile.TemporaryDirectory() as directory:
        done = process.run([*before(kit, Path(directory) / "faults"), "true"])
    if done.exit_code == 0:
        return None
    return done.errors.strip() or f"{PROGRAM}: {done.how_it_ended()}"
