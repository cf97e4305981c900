"""Figures of document 003, with their places."""

from dataclasses import dataclass

FAULTS = (
    "cpu-slow",
    "cpu-contention",
    "disk-slow",
    "disk-contention",
    "memory-contention",
    "net-slow",
)
"""Those of document 001, Table 1, as presets of the catalogue."""

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
