"""The walls around a submission: those that this machine builds around its replicas, and those
around the compiler.

The kit's own programs build them (framework/hosts/sealed/sandbox).
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit

WALLS = "sealed_walls"
COMPILER_WALLS = "compiler_walls"
LANDLOCK = "Landlock"
"""The name of the wall that the compiler's walls are made of."""

CANNOT = 125
"""The exit code of compiler_walls when it is not the compiler's."""

SYSTEM = (
    "/usr/include",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/bin",
    "/usr/local/include",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/bin",
    "/etc/alternatives",
    "/etc/ld.so.cache",
)
"""The places of compilers, their libraries and headers."""

OWN_USER = "user of its own"
"""The name of a wall."""

FIND_S = 20.0


def of_this_machine(kit: Kit) -> dict[str, bool]:
    """Whether each wall stands, by name. CannotDo if the kit is not built."""
    program = _program(kit, WALLS)
    done = process.run([program], timeout_s=FIND_S)
    try:
        if done.exit_code != 0:
            raise ValueError(done.how_it_ended())
        return {str(name): bool(stands) for name, stands in json.loads(done.output).items()}
    except (ValueError, AttributeError) as error:
        raise CannotDo(f"cannot find this machine's walls: {error}", done.errors) from error


def remark(walls: dict[str, bool]) -> str:
    """A sentence about the walls that are missing; "" if all stand."""
    missing = [name for name, stands in walls.items() if not stands]
    if not missing:
        return ""
    runs_as = " It runs as your user." if not walls.get(OWN_USER, True) else ""
    return (
        f"Walls around a submission that this machine lacks: {', '.join(missing)}.{runs_as}"
        " Grade a course as root, on Linux 5.13 or later, in a container for example."
    )


@dataclass(frozen=True)
class CompilerWalls:
    """The compiler reads the system's files and its inputs, and writes its own directory.
    `program`: builds them."""

    program: Path

    def command(self, argv: Sequence[str], readable: Sequence[Path], own: Path) -> list[str]:
        """The command that runs a compiler. `own`: its directory, which becomes its user's."""
        compiler = Path(shutil.which(argv[0]) or argv[0]).resolve().parent
        read = [*SYSTEM, compiler, *readable]
        words = [self.program, "--read", *read, "--write", own, "/dev/null", "--", *argv]
        return [str(word) for word in words]


def of_compiler(kit: Kit) -> CompilerWalls:
    """CannotDo if the kit is not built."""
    return CompilerWalls(_program(kit, COMPILER_WALLS))


def _program(kit: Kit, name: str) -> Path:
    program = kit.binary(name)
    if not program.is_file():
        raise CannotDo(f"{name} is missing from the kit's build")
    return program
