"""Processors of students' laptops: what a release holds compiled, it holds for each of them."""

import shutil
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from failslow.base import machine, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake, recipe


@dataclass(frozen=True)
class Processor:
    """`name`: as `uname -m` says it. `tools`: begins the names of its compiler's programs.
    `package`: of the distribution, with that compiler for other processors. `platform`: as
    container engines say it."""

    name: str
    tools: str
    package: str
    platform: str

    def tool(self, name: str) -> str:
        return f"{self.tools}-{name}"


SERVED = (
    Processor("x86_64", "x86_64-linux-gnu", "g++-x86-64-linux-gnu", "linux/amd64"),
    Processor("aarch64", "aarch64-linux-gnu", "g++-aarch64-linux-gnu", "linux/arm64"),
)


def others() -> list[Processor]:
    """Those that are not this machine's."""
    return [each for each in SERVED if each.name != machine.platform_name()]


def check_compilers() -> None:
    """CannotDo unless the compilers for the other processors are installed."""
    for each in others():
        if not shutil.which(each.tool("g++")):
            raise CannotDo(
                f"students with {each.name} processors need {each.tool('g++')},"
                f" which is missing; type: apt-get install {each.package}"
            )


def build_library(kit: Kit, target: str) -> dict[str, Path]:
    """A library of the kit, packed, by the name of its processor. CannotDo when it does not
    compile, or names a directory of this machine."""
    cmake.build(kit, targets=[target])
    found = {machine.platform_name(): kit.preset("release") / "lib" / f"lib{target}.a"}
    library = recipe.load_library(kit, target)
    for each in others():
        found[each.name] = kit.build / "answers" / target / each.name / f"lib{target}.a"
        _compile(kit, each, library, found[each.name])
    for path in found.values():
        check_names_no_place(kit, path)
    return {
        name: _packed(path, kit.build / "answers" / name / f"{target}.tar.xz")
        for name, path in found.items()
    }


def _packed(library: Path, to: Path) -> Path:
    """A sixth of the bytes. The member has no time and no owner."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(to, "w:xz") as archive, library.open("rb") as content:
        member = tarfile.TarInfo(library.name)
        member.size = library.stat().st_size
        archive.addfile(member, content)
    return to


def check_names_no_place(kit: Kit, library: Path) -> None:
    """CannotDo when a debugger would show students a directory of this machine."""
    if str(kit.root).encode() in library.read_bytes():
        raise CannotDo(f"{library.name} names {kit.root}, and students would get it")


def _compile(kit: Kit, processor: Processor, library: recipe.Library, output: Path) -> None:
    """Few sources: they are compiled anew each time."""
    shutil.rmtree(output.parent, ignore_errors=True)
    output.parent.mkdir(parents=True)
    objects = []
    for source in library.sources:
        objects.append(output.parent / f"{Path(source).stem}.o")
        compiler: list[str | Path] = [processor.tool("g++"), *library.flags]
        _run(kit, [*compiler, "-c", source, "-o", objects[-1]], processor)
    _run(kit, [processor.tool("ar"), "rcs", output, *objects], processor)


def _run(kit: Kit, argv: Sequence[str | Path], processor: Processor) -> None:
    done = process.run(argv, cwd=kit.root, merge_errors=True)
    if done.exit_code != 0:
        raise CannotDo(f"cannot compile for {processor.name} processors", done.output)
