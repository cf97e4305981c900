"""The reference of the labs that later labs are built on, for a students' kit: headers, and objects
in place of sources.

An instructor decides it in lab.yaml: a lab with `base: reference` is built on our earlier labs.
"""

from failslow.base import process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.build.compile import build_submission, object_of
from failslow.build.recipe import given, load_recipe
from failslow.lab.labs import Lab, load_labs
from failslow.lab.submission import SOURCES, collect, object_for, place


def needed(kit: Kit) -> dict[str, tuple[Lab, Lab]]:
    """By directory: the lab that is given, and one that is built on it."""
    labs = load_labs(kit)
    return {
        each.directory: (each, lab)
        for lab in labs.by_id.values()
        if lab.base == "reference"
        for each in labs.closure(lab)
        if each is not lab
    }


def headers(kit: Kit) -> set[str]:
    """Their paths in the checkout: an instructor has allowed their lines."""
    return {
        f"{kit.reference.relative_to(kit.root)}/{lab.directory}/{name}"
        for lab, _ in needed(kit).values()
        for name in lab.files
        if not name.endswith(SOURCES)
    }


def files(kit: Kit) -> dict[str, bytes]:
    """The contents by their paths in the students' kit, for processors like this one. CannotDo when
    they do not compile. Requires: the kit is configured."""
    found = {}
    for lab, on_top in needed(kit).values():
        labs, recipe = load_labs(kit), load_recipe(kit)
        submission = collect(kit, labs, kit.reference, on_top.id)
        targets = [recipe.replica(on_top)]
        cmake.build(kit, targets=given(kit, targets))
        programs = build_submission(kit, labs, submission, recipe, targets)
        to = kit.catch_up(lab.directory).relative_to(kit.root)
        for name in lab.files:
            content = submission.files[f"{place(on_top, lab)}/{name}"]
            if name.endswith(SOURCES):
                path = object_of(programs, on_top, lab, name)
                stripped = path.with_suffix(".stripped")
                done = process.run(["strip", "--strip-debug", "-o", stripped, path])
                if done.exit_code != 0:
                    raise CannotDo(f"strip: {path}: {done.how_it_ended()}", done.errors)
                content = stripped.read_bytes()
            found[f"{to}/{object_for(name)}"] = content
    return found
