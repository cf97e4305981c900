"""The reference of the labs that later labs are built on, for a students' kit: headers, and objects
in place of sources. Files that a later lab begins with as a copy are given whole.

An instructor decides it in lab.yaml: a lab with `base: reference` is built on our earlier labs.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from failslow.base import machine, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import Options, build_submission, object_of
from failslow.build.recipe import given, load_recipe
from failslow.extras.release import processors
from failslow.lab.labs import Lab, Labs, load_labs
from failslow.lab.reference import starting_files
from failslow.lab.submission import SOURCES, collect, object_for, place


def needed(kit: Kit, left_out: Collection[str] = ()) -> dict[str, tuple[Lab, Lab]]:
    """By directory: the lab that is given, and one that is built on it. `left_out`: ids of labs
    that students do not get, here and below."""
    labs = load_labs(kit)
    return {
        each.directory: (each, lab)
        for lab in _on_reference(labs, left_out)
        for each in labs.closure(lab)[:-1]
    }


def headers(kit: Kit, left_out: Collection[str] = ()) -> set[str]:
    """Their paths in the checkout: an instructor has allowed their lines."""
    return {
        f"{kit.reference.relative_to(kit.root)}/{lab.directory}/{name}"
        for lab, _ in needed(kit, left_out).values()
        for name in lab.files
        if not name.endswith(SOURCES)
    }


def starts(kit: Kit, left_out: Collection[str] = ()) -> dict[str, bytes]:
    """The contents of the files that labs begin with as a copy, by their paths in the kit. They are
    answers to an earlier lab."""
    labs = load_labs(kit)
    return {
        f"labs/{lab.directory}/src/{name}": content
        for lab in _on_reference(labs, left_out)
        for name, content in starting_files(kit, labs, lab).items()
    }


def files(kit: Kit, left_out: Collection[str] = ()) -> dict[str, bytes]:
    """The contents by their paths in the students' kit, for each processor. CannotDo when they do
    not compile. Requires: the kit is configured."""
    return {
        path.relative_to(kit.root).as_posix(): content
        for lab, on_top in needed(kit, left_out).values()
        for path, content in _compiled(kit, lab, on_top)
    }


def _on_reference(labs: Labs, left_out: Collection[str]) -> list[Lab]:
    every = labs.by_id.values()
    return [lab for lab in every if lab.base == "reference" and lab.id not in left_out]


def _compiled(kit: Kit, lab: Lab, on_top: Lab) -> Iterator[tuple[Path, bytes]]:
    labs, recipe = load_labs(kit), load_recipe(kit)
    submission = collect(kit, labs, kit.reference, on_top.id)
    targets = [recipe.replica(on_top)]
    cmake.build(kit, targets=given(kit, targets))
    tools = {each.name: (each.tool("g++"), each.tool("strip")) for each in processors.others()}
    tools[machine.platform_name()] = (recipe.compiler, "strip")
    for processor, (compiler, strip) in tools.items():
        there = replace(recipe, compiler=compiler)
        programs = build_submission(kit, labs, submission, there, targets, Options(links=False))
        to = kit.catch_up(lab.directory, processor)
        for name in lab.files:
            content = submission.files[f"{place(on_top, lab)}/{name}"]
            if name.endswith(SOURCES):
                content = _stripped(object_of(programs, on_top, lab, name), strip)
            yield to / object_for(name), content


def _stripped(path: Path, strip: str) -> bytes:
    """An object without lines and names of the source."""
    stripped = path.with_suffix(".stripped")
    done = process.run([strip, "--strip-debug", "-o", stripped, path])
    if done.exit_code != 0:
        raise CannotDo(f"{strip}: {path}: {done.how_it_ended()}", done.errors)
    return stripped.read_bytes()
