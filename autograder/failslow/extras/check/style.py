"""Formatting, lint, types and imports, with the tools pinned in requirements*.txt."""

import sys
from collections.abc import Sequence
from pathlib import Path

from failslow.base import process
from failslow.base.kit import Kit
from failslow.extras.check.step import Context, Counts

PYTHON_DIRECTORIES = ("autograder", "fault-scripts", "framework", "labs", "site", "tools")
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


def python_types(context: Context) -> Counts:
    """Checks the types of the package and of each lab's kit.py, strictly: see pyproject.toml."""
    options = ("--config-file", "pyproject.toml", f"--cache-dir={context.kit.build / 'mypy'}")
    counts = _whole(context, "mypy", *options)
    for module in sorted(context.kit.labs.glob("*/kit*")):
        # One at a time: all have the same name.
        counts.add(_whole(context, "mypy", *options, str(module)))
    return counts


def python_imports(context: Context) -> Counts:
    """The contracts of pyproject.toml: the core imports no extras, and no room imports upwards."""
    return _whole(context, "lint-imports", "--no-cache", "pyproject.toml")


def cpp_format(context: Context) -> Counts:
    files = sources(context.kit, CPP_DIRECTORIES, CPP_SUFFIXES)
    return _each(context, files, "clang-format", "--dry-run", "--Werror")


def sources(kit: Kit, directories: tuple[str, ...], suffixes: tuple[str, ...]) -> list[Path]:
    """Source files below the given directories, in path order."""
    found = []
    for directory in directories:
        for path in (kit.root / directory).rglob("*"):
            made = path.relative_to(kit.root / directory).parts[0] == "build"
            if path.suffix in suffixes and path.is_file() and not made:
                found.append(path)
    return sorted(found)


def _ruff(context: Context, *arguments: str) -> Counts:
    config = context.kit.root / "autograder" / "pyproject.toml"
    files = sources(context.kit, PYTHON_DIRECTORIES, (".py",))
    return _each(context, files, "ruff", *arguments, "--config", str(config))


def _each(context: Context, files: Sequence[Path], tool: str, *arguments: str) -> Counts:
    """Counts a file as failed when the tool reports a problem in it.

    The first run is of all files, because it takes much less time than one for each.
    """
    counts = Counts()
    if process.run([_tool(tool), *arguments, *files], merge_errors=True).exit_code == 0:
        counts.passed = len(files)
        return counts
    for file in files:
        done = process.run([_tool(tool), *arguments, file], merge_errors=True)
        shown = file.relative_to(context.kit.root)
        counts.expect(done.exit_code == 0, f"{shown}: {tool}\n{done.output}".rstrip())
    return counts


def _whole(context: Context, tool: str, *arguments: str) -> Counts:
    """Counts one check of a tool that reads more than one file."""
    here = context.kit.root / "autograder"
    done = process.run([_tool(tool), *arguments], cwd=here, merge_errors=True)
    counts = Counts()
    counts.expect(done.exit_code == 0, f"{tool}\n{done.output}".rstrip())
    return counts


def _tool(name: str) -> Path:
    """A tool of the kit's own environment: other versions of a formatter format differently."""
    return Path(sys.executable).parent / name
