"""The commands of students. A student's kit has no others."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.extras.commands import (
    debug,
    doctor,
    explore,
    journal,
    parsers,
    replay,
    replay_measured,
    submit,
    test,
    tour,
)
from failslow.extras.commands.parsers import Commands, add


def add_to(commands: Commands) -> None:
    _add_tour(commands)
    test.add_to(commands)
    _add_replay(commands)
    _add_debug(commands)
    _add_explore(commands)
    _add_submit(commands)
    _add_journal(commands)
    if find_spec("failslow.extras.commands.diagnose"):
        _add_diagnose(commands)
    for name, text, topic in (
        ("cluster", "run a solution's replicas here", "clusters of processes"),
        ("faults", "make replicas of a running cluster slow", "faults of processes"),
    ):
        _add_of_processes(commands, name, text, topic)
    text = "install the packages that commands need, and nothing else"
    add(commands, "install", text, _install)
    add(commands, "doctor", "list installed and missing packages", doctor.run)


def _add_tour(commands: Commands) -> None:
    parser = add(commands, "tour", "run the handbook's example, and draw it: lab 0", tour.run)
    parser.add_argument("test", metavar="TEST", nargs="?", help="prints and draws this one")
    parser.add_argument("--out", type=Path, default=Path("out"), help="for replay.html (out)")


def _add_replay(commands: Commands) -> None:
    parser = add(
        commands,
        "replay",
        "print every step of one test, and draw it",
        replay_measured.run,
        replay.Request,
    )
    parser.add_argument("lab", metavar="LAB")
    text = "SUITE.NAME, the file of a schedule, or a measured run: slow:3/net-slow"
    parser.add_argument("test", metavar="TEST", help=text)
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    parser.add_argument("--seed", type=parsers.seed, help="the seed a failure named")
    text = "look for the shortest schedule of faults that fails so"
    parser.add_argument("--shrink", action="store_true", help=text)
    parser.add_argument("--out", type=Path, default=Path("out"), help="for replay.html (out)")


def _add_debug(commands: Commands) -> None:
    parser = add(
        commands, "debug", "run one test in gdb, or under the sanitizers", debug.run, debug.Options
    )
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("test", metavar="TEST", help="SUITE.NAME")
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    text = "look for misuse of memory and undefined behaviour, without gdb"
    parser.add_argument("--asan", action="store_true", help=text)
    text = "stop here, a function or FILE:LINE; may be repeated (where the test begins)"
    parser.add_argument(
        "--break", dest="breaks", action="append", default=[], metavar="PLACE", help=text
    )
    parser.add_argument("--seed", type=parsers.seed, help="the seed a failure named")


def _add_explore(commands: Commands) -> None:
    text = "run a small world under every schedule with a few deviations"
    parser = add(commands, "explore", text, explore.run)
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR", help="(labs)")
    parser.add_argument(
        "--bound",
        type=explore.parse_bound,
        metavar="N[,KIND=N...]",
        help=f"deviations in all, and of a kind: {', '.join(explore.KINDS)} (1)",
    )
    text = f"of a lab's rules: the most states of each scope ({explore.STATES:,})"
    parser.add_argument("--states", type=parsers.positive, metavar="N", help=text)
    parser.add_argument("--out", type=Path, default=Path("out"), help="for the schedule (out)")


def _add_submit(commands: Commands) -> None:
    parser = add(commands, "submit", "make the file that you hand in", submit.run)
    text = "this lab, and the labs that it needs (all)"
    parser.add_argument("lab", nargs="?", metavar="LAB", help=text)
    parser.add_argument(
        "--out", type=Path, default=submit.OUT, metavar="FILE.zip", help=f"({submit.OUT})"
    )


def _add_journal(commands: Commands) -> None:
    text = "keep a journal of your work, if you agree, and draw it"
    parser = add(commands, "journal", text, journal.run)
    text = "look at this journal, or at that of a submission's zip file (your own)"
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=text)
    yes = "agree without being asked"
    parser.add_argument("--yes", action="store_true", dest="agrees", help=yes)
    parser.add_argument("--stop", action="store_true", dest="stops", help="keep none any more")
    parser.add_argument("--out", type=Path, default=journal.PAGE, help=f"({journal.PAGE})")


def _add_diagnose(commands: Commands) -> None:
    """A students' kit without the lab of the diagnosis has no such module."""
    from failslow.extras.commands import diagnose

    parser = add(commands, "diagnose", "check answers to lab 4's diagnosis", diagnose.run)
    text = "check the form of a file of answers, nothing else"
    parser.add_argument("--check", type=Path, metavar="FILE", help=text)


def _add_of_processes(commands: Commands, name: str, text: str, topic: str) -> None:
    """A students' kit may lack the module. Pages name the command: it says why it does nothing, and
    is not listed."""
    module = f"failslow.extras.commands.{name}"
    if find_spec(module):
        parser = commands.add_parser(name, help=text, description=text)
        import_module(module).add_to(parser)
    else:
        parser = commands.add_parser(name, add_help=False, prefix_chars="+")
        parser.add_argument("words", nargs="*")
        parser.set_defaults(command=partial(_left_out, topic=topic))


def _left_out(kit: Kit, words: Sequence[str], topic: str) -> int:
    raise CannotDo(f"your course has left {topic} out of this kit")


def _install(kit: Kit) -> int:
    """The script `kit` has done it: no command runs before that."""
    return 0
