"""The modules of the package that a program needs, read from the sources.

Only imports at the top of a module count. An import inside a function is of a module that a
student's kit does not have; the function says so.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path


def closure(base: Path, programs: Sequence[str]) -> list[Path]:
    """The files of the programs, of all modules that they import, and of the packages around them.

    `base`: the directory that holds the package. Other packages' modules are left out.
    """
    found: set[Path] = set()
    names = list(programs)
    while names:
        name = names.pop()
        file = _file(base, name)
        package = name.rpartition(".")[0]
        if package:
            names.append(package)
        if file is None or file in found:
            continue
        found.add(file)
        names += _imported(file)
    return sorted(found)


def _file(base: Path, name: str) -> Path | None:
    path = base.joinpath(*name.split("."))
    for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def _imported(file: Path) -> Iterator[str]:
    """Names of modules, and of what is in them, which may be a module, too."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
