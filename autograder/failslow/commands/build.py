"""`kit build`: builds the kit's own C++ and nothing else; for images and before going offline."""

from collections.abc import Sequence

from failslow import cmake
from failslow.kit import Kit


def run(kit: Kit, preset: str, targets: Sequence[str]) -> int:
    """All targets, if none is named."""
    cmake.build(kit, preset, targets)
    return 0
