"""The program that makes the syncs of another program slow (tools/slow_syncs)."""

import tempfile
from pathlib import Path

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.cluster import replica_processes

PROGRAM = replica_processes.LAUNCHER


def before(kit: Kit, faults: Path, counts: Path | None = None) -> list[str]:
    """The words before those of the program; `faults` is the file of its faults, `counts` that of
    its syncs (effect_counts.py)."""
    written = [] if counts is None else ["--counts", str(counts)]
    return [str(kit.binary(PROGRAM)), "--faults", str(faults), *written, "--"]


def missing(kit: Kit) -> str | None:
    """The sentence about what this machine lacks for it. Requires: it is built."""
    with tempfile.TemporaryDirectory() as directory:
        done = process.run([*before(kit, Path(directory) / "faults"), "true"])
    if done.exit_code == 0:
        return None
    return done.errors.strip() or f"{PROGRAM}: {done.how_it_ended()}"
