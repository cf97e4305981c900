"""Figures of documents 000, 001, 002 and 003, with their places."""

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

MEMORY = "memory-durable"
VR = "vr"
DISK = "disk-durable"
SAUCR = "saucr"

SYSTEMS = {MEMORY: "ZK-mem", VR: "VR-ideal", DISK: "ZK-disk", SAUCR: "SAUCR"}
"""Ours and a model, and the names of their like in document 003, Table 2."""

SEQUENCES = {5: 498, 7: 766}
"""By the number of replicas. Document 003, section 5.1."""

GAPS = "gaps"
AT_ONCE = "at once"
OTHERS = "at once, other"
NO_MINORITY = "at once, !min-rec"
"""Crashes with gaps of 50 ms, and in one instant. Of the latter SAUCR's row is two: in those
called !min-rec fewer replicas than a bare minority can recover their LLEs."""


@dataclass(frozen=True)
class Outcomes:
    """Numbers of sequences."""

    total: int
    correct: int
    unavailable: int = 0
    lost: int = 0


TABLE_2 = {
    **{(MEMORY, 5, each): Outcomes(498, 248, lost=250) for each in (GAPS, AT_ONCE)},
    **{(MEMORY, 7, each): Outcomes(766, 455, lost=311) for each in (GAPS, AT_ONCE)},
    **{(VR, 5, each): Outcomes(498, 28, unavailable=470) for each in (GAPS, AT_ONCE)},
    **{(VR, 7, each): Outcomes(766, 189, unavailable=577) for each in (GAPS, AT_ONCE)},
    **{(DISK, 5, each): Outcomes(498, 498) for each in (GAPS, AT_ONCE)},
    **{(DISK, 7, each): Outcomes(766, 766) for each in (GAPS, AT_ONCE)},
    (SAUCR, 5, GAPS): Outcomes(498, 498),
    (SAUCR, 5, OTHERS): Outcomes(475, 475),
    (SAUCR, 5, NO_MINORITY): Outcomes(23, 0, unavailable=23),
    (SAUCR, 7, GAPS): Outcomes(766, 766),
    (SAUCR, 7, OTHERS): Outcomes(725, 725),
    (SAUCR, 7, NO_MINORITY): Outcomes(41, 0, unavailable=41),
}
"""By system, number of replicas, and scenario. Document 003, Table 2."""
