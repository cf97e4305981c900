"""The command line: parses arguments, runs a command, turns its exceptions into an exit code.

Exit codes: 0 done, 1 tests failed or points lost, 2 cannot do it (with a one-line reason on
stderr), 130 interrupted.
"""

import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from failslow.base import console, machine, process
from failslow.base.errors import EXIT_INTERRUPTED, CannotDo
from failslow.base.kit import Kit, this_kit
from failslow.extras.commands.parsers import Command, Parser, Version

EXIT_CANNOT = 2

SIMULATED = ("test", "replay", "explore", "submit", "journal", "install", "doctor")
"""Commands that need the simulator alone. All others run on Linux."""


def main(argv: Sequence[str], kit: Kit | None = None) -> int:
    """Runs one command, or shows them all. Tests pass a kit of their own."""
    for number in process.interrupts():
        signal.signal(number, _interrupt)
    try:
        words = [*argv] or ["--help"]
        options = vars(_parser(words[:1]).parse_args(words))
        if words[0] not in SIMULATED:
            machine.check_linux(words[0])
        command: Command = options.pop("command")
        return command(kit or this_kit(), **options)
    except CannotDo as error:
        console.error(str(error), error.detail)
        return EXIT_CANNOT
    except KeyboardInterrupt as interrupt:
        process.stop_all()
        console.error(str(interrupt) or "interrupted; nothing was written")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has gone (`kit replay ... | head`).
        sys.stderr.close()
        return EXIT_CANNOT


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _parser(words: Sequence[str]) -> Parser:
    """Knows all commands, or `test` alone: the modules of all take longer than its own work."""
    parser = Parser(prog="kit", description="Failslow Labs: build, test, grade and check.")
    parser.add_argument("--version", action=Version, help="name the kit's commit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    if [*words] == ["test"]:
        from failslow.extras.commands import test

        test.add_to(commands)
        return parser
    from failslow.extras.commands import for_students

    for_students.add_to(commands)
    if find_spec("failslow.extras.commands.for_instructors"):
        from failslow.extras.commands import for_instructors

        for_instructors.add_to(commands)
    return parser
