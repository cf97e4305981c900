"""The command line: parses arguments, runs a command, turns its exceptions into an exit code.

Exit codes: 0 done, 1 tests failed or points lost, 2 cannot do it (with a one-line reason on
stderr), 130 interrupted.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from failslow import cmake, console, course_key, process, rebase
from failslow.check import command as check
from failslow.commands import (
    bench,
    cluster,
    demo,
    diagnose,
    doctor,
    explore,
    explore_rules,
    faults,
    grade,
    release,
    replay,
    reproduce,
    site,
    test,
)
from failslow.course_key import CourseKey
from failslow.errors import CannotDo
from failslow.kit import Kit, this_kit

EXIT_CANNOT = 2
EXIT_INTERRUPTED = 130

Command = Callable[..., int]
"""Takes the kit, and its options by name."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line like every other error message, instead of argparse's usage text."""
        raise CannotDo(f"{message} (see ./{self.prog} --help)")


def main(argv: Sequence[str], kit: Kit | None = None) -> int:
    """Runs one command. Tests pass a kit of their own."""
    for number in process.interrupts():
        signal.signal(number, _interrupt)
    try:
        options = vars(_parser().parse_args(argv))
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="kit", description="Failslow Labs: build, test, grade and check.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _add_grade(commands)
    _add_test(commands)
    _add_replay(commands)
    _add_explore(commands)
    _add_diagnose(commands)
    _add_check(commands)
    _add_mutants(commands)
    bench.add_to(_add(commands, "bench", "measure speed on this machine", bench.run))
    _add_reproduce(commands)
    text = "run a solution's replicas here"
    cluster.add_to(commands.add_parser("cluster", help=text, description=text))
    text = "make replicas of a running cluster slow"
    faults.add_to(commands.add_parser("faults", help=text, description=text))
    shown = _add(commands, "demo", "show in three minutes what a slow replica costs", demo.run)
    shown.add_argument("--out", type=Path, default=Path("out/demo"), help="(out/demo)")
    _add_site(commands)
    _add_release(commands)
    text = "install the packages that commands need, and nothing else"
    _add(commands, "install", text, _install)
    _add(commands, "doctor", "list installed and missing packages", doctor.run)
    built = _add(commands, "build", "build the kit itself and nothing else", _build)
    built.add_argument("targets", nargs="*", metavar="TARGET", help="of CMake: grading, say (all)")
    built.add_argument("--preset", default="release", help="a CMake preset (release)")
    return parser


def _install(kit: Kit) -> int:
    """The script `kit` has done it: no command runs before that."""
    return 0


def _add(
    commands: "argparse._SubParsersAction[_Parser]", name: str, text: str, command: Command
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=command)
    return parser


def _add_grade(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _add(commands, "grade", "grade a submission", grade.run)
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="a submission, or the patch of a mutant or alternative",
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="for results.json (out)")
    parser.add_argument("--lab", help="grade this lab only")
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="print results.json, no tables"
    )
    parser.add_argument("--seeds", type=_positive, help="seeds of most measured runs (2 or 3)")
    _add_key(parser)


def _add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--key",
        type=_course_key,
        metavar="FILE",
        help=f"the course key (${course_key.ENVIRONMENT}, then course.key)",
    )


def _add_test(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _add(commands, "test", "run a lab's public tests", test.run)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")


def _add_replay(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _add(commands, "replay", "print every step of one test, and draw it", replay.run)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("test", metavar="TEST", help="SUITE.NAME, or the file of a schedule")
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    parser.add_argument("--seed", type=_seed, help="the seed a failure named")
    text = "look for the shortest schedule of faults that fails so"
    parser.add_argument("--shrink", action="store_true", help=text)
    parser.add_argument("--out", type=Path, default=Path("out"), help="for replay.html (out)")


def _add_explore(commands: "argparse._SubParsersAction[_Parser]") -> None:
    text = "run a small world under every schedule with a few deviations"
    parser = _add(commands, "explore", text, explore.run)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    parser.add_argument(
        "--bound",
        type=explore.parse_bound,
        metavar="N[,KIND=N...]",
        help=f"deviations in all, and of a kind: {', '.join(explore.KINDS)} (1)",
    )
    text = f"of a lab's rules: the most states of each scope ({explore_rules.STATES:,})"
    parser.add_argument("--states", type=_positive, metavar="N", help=text)
    parser.add_argument("--out", type=Path, default=Path("out"), help="for the schedule (out)")


def _add_diagnose(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _add(commands, "diagnose", "make the material of lab 4's diagnosis", diagnose.run)
    default = Path("out/diagnosis")
    parser.add_argument("--out", type=Path, default=default, metavar="DIR", help=f"({default})")
    _add_key(parser)
    text = "check the form of a file of answers, nothing else"
    parser.add_argument("--check", type=Path, metavar="FILE", help=text)


def _add_check(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = _add(commands, "check", "check the kit itself", check.run)
    parser.add_argument("--full", action="store_true", help="more seeds; takes longer")
    parser.add_argument("--mutants", action="store_true", help="grade the mutants, nothing else")
    text = "change the reference of this lab by machine, nothing else"
    parser.add_argument("--mutate", metavar="LAB", help=text)
    parser.add_argument("--sample", type=_positive, help="with --mutate: so many changes (all)")
    parser.add_argument("--seed", type=int, help="with --mutate: which ones (1)")
    text = "with --mutants or --mutate: print JSON"
    parser.add_argument("--json", action="store_true", dest="as_json", help=text)


def _add_mutants(commands: "argparse._SubParsersAction[_Parser]") -> None:
    text = "keep mutants and alternatives of the reference"
    parser = commands.add_parser("mutants", help=text, description=text)
    what = parser.add_subparsers(metavar="WHAT", required=True, parser_class=_Parser)
    text = "carry them over a change of the reference"
    parser = _add(what, "rebase", text, rebase.run)
    parser.add_argument(
        "--from",
        default="HEAD",
        metavar="REV",
        dest="revision",
        help="whose reference they fit (HEAD)",
    )


def _add_reproduce(commands: "argparse._SubParsersAction[_Parser]") -> None:
    text = "repeat the documents' experiments in the simulator"
    parser = _add(commands, "reproduce", text, reproduce.run)
    parser.add_argument("--quick", action="store_true", help="one run of each, and one seed")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, no tables")


def _add_site(commands: "argparse._SubParsersAction[_Parser]") -> None:
    parser = commands.add_parser("site", help="build the handbook", description="the handbook")
    what = parser.add_subparsers(metavar="WHAT", required=True, parser_class=_Parser)
    _add(what, "build", "build the handbook's pages", site.build)
    served = _add(what, "serve", "serve the handbook to its authors, on this machine", site.serve)
    served.add_argument("--port", type=_port, default=site.PORT, help=f"({site.PORT})")


def _add_release(commands: "argparse._SubParsersAction[_Parser]") -> None:
    text = "make what a course needs of its own"
    parser = commands.add_parser("release", help=text, description=text)
    what = parser.add_subparsers(metavar="WHAT", required=True, parser_class=_Parser)
    made = _add(what, "key", "make the secret from which hidden seeds derive", release.key)
    made.add_argument("--out", type=Path, metavar="FILE", help="must not exist (course.key)")
    text = "write the right answers of lab 4's diagnosis, for instructors"
    right = _add(what, "answers", text, diagnose.answers_of)
    right.add_argument("--out", type=Path, metavar="FILE", required=True, help="must not exist")
    _add_key(right)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port number")
    return int(text)


def _course_key(text: str) -> CourseKey:
    return course_key.read(Path(text))


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: a number below 2^64")
    return int(text)


def _build(kit: Kit, preset: str, targets: Sequence[str]) -> int:
    """All targets, if none is named."""
    cmake.build(kit, preset, targets)
    return 0
