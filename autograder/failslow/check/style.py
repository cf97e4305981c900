"""Formatting and lint, with the formatters pinned in requirements.txt."""

import sys
from pathlib import Path

from failslow import process
from failslow.check.step import Context, Counts
from failslow.kit import Kit

PYTHON_DIRECTORIES = ("autograder", "fault-scripts", "site")
CPP_DIRECTORIES = (
    "framework",
    "labs",
    "reference-solutions",
    "tools",
    "autograder",
    "fault-scripts",
)
CPP_SUFFIXES = (".h", ".cc", ".cpp")


def python_format(context: Context) -> Counts:
    return _ruff(context, "format", "--check", "--quiet")


def python_lint(context: Context) -> Counts:
    return _ruff(context, "check", "--quiet", "--no-cache")


def cpp_format(context: Context) -> Counts:
    files = sources(context.kit, CPP_DIRECTORIES, CPP_SUFFIXES)
    counts = Counts()
    for file in files:
        shown = file.relative_to(context.kit.root)
        done = process.run(
            [_tool("clang-format"), "--dry-run", "--Werror", file], merge_errors=True
        )
        first = next(iter(done.output.splitlines()), "").removeprefix(f"{context.kit.root}/")
        counts.expect(done.exit_code == 0, f"{shown} is not formatted: {first}")
    return counts


def sources(kit: Kit, directories: tuple[str, ...], suffixes: tuple[str, ...]) -> list[Path]:
    """Source files below the given directories, in path order."""
    found = []
    for directory in directories:
        for path in (kit.root / directory).rglob("*"):
            if path.suffix in suffixes and path.is_file() and "build" not in path.parts:
                found.append(path)
    return sorted(found)


def _ruff(context: Context, *arguments: str) -> Counts:
    """Counts a file as failed when ruff reports a problem in it."""
    counts = Counts()
    config = context.kit.root / "autograder" / "pyproject.toml"
    for file in sources(context.kit, PYTHON_DIRECTORIES, (".py",)):
        done = process.run([_tool("ruff"), *arguments, "--config", config, file], merge_errors=True)
        shown = file.relative_to(context.kit.root)
        counts.expect(done.exit_code == 0, f"{shown}: ruff {arguments[0]}\n{done.output}".rstrip())
    return counts


def _tool(name: str) -> Path:
    """A tool of the kit's own environment: other versions of a formatter format differently."""
    return Path(sys.executable).parent / name
