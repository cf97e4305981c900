"""`kit build`: builds the kit's own C++ and nothing else; for images and before going offline."""

from failslow import cmake
from failslow.kit import Kit


def run(kit: Kit, preset: str) -> int:
    cmake.build(kit, preset)
    return 0
