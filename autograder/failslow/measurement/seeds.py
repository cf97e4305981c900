"""The seeds of the measurement's runs, from the purpose of a run."""

import hashlib

SEED_BASE = "development"


def seed_of(purpose: str, index: int) -> int:
    """From 1 to 2^63: the same on every machine, and different for every purpose and index."""
    digest = hashlib.sha256(f"{SEED_BASE}/{purpose}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") // 2 + 1
