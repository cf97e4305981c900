"""The sandboxes of a submission: the one that this machine builds around its replicas, and the one
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

LAYERS = "sandbox_layers"
COMPILER_SANDBOX = "compiler_sandbox"
LANDLOCK = "Landlock"
"""The name of the layer that the compiler's sandbox consists of."""

CANNOT = 125
"""The exit code of compiler_sandbox when it is not the compiler's."""

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
"""The name of a layer."""

FIND_S = 20.0


def of_this_machine(kit: Kit) -> dict[str, bool]:
    """Whether each layer stands, by name. CannotDo if the kit is not built."""
    program = _program(kit, LAYERS)
    done = process.run([program], timeout_s=FIND_S)
    try:
        if done.exit_code != 0:
            raise ValueError(done.how_it_ended())
        return {str(name): bool(stands) for name, stands in json.loads(done.output).items()}
    except (ValueError, AttributeError) as error:
        raise CannotDo(f"cannot find this machine's sandbox: {error}", done.errors) from error


def remark(sandbox: dict[str, bool]) -> str:
    """A sentence about the layers that are missing; "" if all stand."""
    missing = [name for name, stands in sandbox.items() if not stands]
    if not missing:
        return ""
    runs_as = " It runs as your user." if not sandbox.get(OWN_USER, True) else ""
    return (
        f"Layers of the sandbox that this machine lacks: {', '.join(missing)}.{runs_as}"
        " Grade a course as root, on Linux 5.13 or later, in a container for example."
    )


@dataclass(frozen=True)
class CompilerSandbox:
    """The compiler reads the system's files and its inputs, and writes its own directory.
    `program`: builds them."""

    program: Path

    def command(self, argv: Sequence[str], readable: Sequence[Path], own: Path) -> list[str]:
        """The command that runs a compiler. `own`: its directory, which becomes its user's."""
        compiler = Path(shutil.which(argv[0]) or argv[0]).resolve().parent
        read = [*SYSTEM, compiler, *readable]
        words = [self.program, "--read", *read, "--write", own, "/dev/null", "--", *argv]
        return [str(word) for word in words]


def of_compiler(kit: Kit) -> CompilerSandbox:
    """CannotDo if the kit is not built."""
    return CompilerSandbox(_program(kit, COMPILER_SANDBOX))


def _program(kit: Kit, name: str) -> Path:
    program = kit.binary(name)
    if not program.is_file():
        raise CannotDo(f"{name} is missing from the kit's build")
    return program
