"""Parts of the command line that the commands share."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import this_kit

Command = Callable[..., int]
"""Takes the kit, and its options by name or as one dataclass."""


class Parser(argparse.ArgumentParser):
    _is_mixing = False

    def parse_known_args(
        self,
        args: Iterable[str] | None = None,
        namespace: Any = None,  # noqa: ANN401 - as argparse has it
    ) -> tuple[Any, list[str]]:
        """Options may stand anywhere, also before a word that may be left out."""
        if self._is_mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Suggests what was meant."""
        words = [word for word in action.choices or () if isinstance(word, str)]
        near = get_close_matches(value, words) if isinstance(value, str) else []
        if near and value not in words:
            complaint = f"invalid choice: '{value}' (did you mean '{near[0]}'?)"
            raise argparse.ArgumentError(action, complaint)
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """One line like every other error message, instead of argparse's usage text."""
        raise CannotDo(f"{message} (see ./{self.prog} --help)")


class Version(argparse.Action):
    """Prints the commit that is this version of the kit, and ends."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, 0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        words = ("show", "-s", "--format=%h of %cs")
        try:
            commit = process.run(["git", "-C", this_kit().root, *words]).output.strip()
        except OSError:
            commit = ""
        version = f"commit {commit}" if commit else "without its history"
        console.stdout().print(f"Failslow Labs, {version}", highlight=False)
        parser.exit()


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add(
    commands: Commands, name: str, text: str, command: Command, options: type | None = None
) -> Parser:
    """`options`: the dataclass that the command takes; None if it takes them by name."""
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=command if options is None else taking(command, options))
    return parser


def taking(command: Command, options: type) -> Command:
    """The command with its options by name, which it takes as one dataclass."""
    return lambda kit, **words: command(kit, options(**words))


def add_group(commands: Commands, name: str, text: str) -> Commands:
    """A command that consists of others: the second word says which."""
    parser = commands.add_parser(name, help=text, description=text)
    return parser.add_subparsers(metavar="WHAT", required=True, parser_class=Parser)


def port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port number")
    return int(text)


def positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return int(text)


def whole(least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers within these bounds."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} to {most}")
        return int(text)

    return parse


def minutes(text: str) -> float:
    """At most a day."""
    least, most = 0.0001, 1440
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not least <= found <= most:  # nor is "nan"
        raise argparse.ArgumentTypeError(f"'{text}' is no number of minutes ({least} to {most})")
    return found


def seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: a number below 2^64")
    return int(text)
