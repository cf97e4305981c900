"""Figures of documents 000, 001 and 002, with their places."""

from dataclasses import dataclass

REFERENCE = "reference"
BACKGROUND = "background-catch-up"
TRANSIENT = "transient-performance"
NO_FINALIZE = "no-finalize"

VARIANTS = {
    REFERENCE: "DepFastRaft",
    BACKGROUND: "BG-Raft",
    TRANSIENT: "TP-Raft",
    NO_FINALIZE: "NF-Raft",
}
"""Our variants of lab 4's Raft, and their names in document 000."""

SECONDS = 180
"""The length of a run in document 000: 36 checks, one in 5 s (section 5.2.3)."""


@dataclass(frozen=True)
class Printed:
    """Lines in Table 5.1 of document 000. `warnings`: without the lines of latencies, of which each
    warning of transient performance has two (section 5.2.5)."""

    lines: int
    warnings: int


WARNINGS = {
    (REFERENCE, False): Printed(0, 0),
    (REFERENCE, True): Printed(108, 36),
    (BACKGROUND, False): Printed(0, 0),
    (BACKGROUND, True): Printed(143, 35 + 36),
    (TRANSIENT, False): Printed(0, 0),
    (TRANSIENT, True): Printed(105, 35),
    (NO_FINALIZE, False): Printed(21_155, 21_155),
    (NO_FINALIZE, True): Printed(21_288, 21_150 + 46),
}
"""By variant, and whether a follower is slow."""

QUORUM_MS = {REFERENCE: (14.8, 36.2, 46.2), TRANSIENT: (18.7, 84.0, 95.5)}
"""Median, 99th and 99.9th percentile. Document 000, Table 5.2."""

P99_GROWN = {REFERENCE: 0.0285, BACKGROUND: 0.0642, TRANSIENT: 0.0778}
"""The clients' 99th percentile with a slow follower. Document 000, section 5.2.2."""

BACKLOG = {
    REFERENCE: "up to about 400,000 elements, then 0",
    NO_FINALIZE: "nearly linear growth until the end",
}
"""The leader's buffer with a slow follower. Document 000, section 5.2.4."""

FAULTS = (
    "cpu-slow",
    "cpu-contention",
    "disk-slow",
    "disk-contention",
    "memory-contention",
    "net-slow",
)
"""Those of document 001, Table 1, as presets of the catalogue."""

FAULT_002 = "net-slow-40ms"
"""Its delay of the network. Its other faults are those of document 001."""

FAULTS_002 = (*FAULTS[:-1], FAULT_002)
"""Those of document 002, Table 2."""

REPLICAS = (3, 5)
