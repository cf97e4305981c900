"""The disk's own pace, beside which figures of durable writes are read."""

import os
import time

from failslow.base.kit import Kit
from failslow.extras.bench.figures import Figure

SECONDS = 1.0
BLOCK = bytes(4096)


def syncs(kit: Kit) -> Figure:
    """The syncs of one process that appends a block and syncs, alone, in the build's directory."""
    path = kit.build / "bench-sync"
    count = 0
    with path.open("wb", buffering=0) as file:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            file.write(BLOCK)
            os.fdatasync(file.fileno())
            count += 1
    path.unlink()
    return Figure("fdatasync after 4 KiB, one process alone", count / SECONDS, "/s")
