"""`kit cluster build`: a solution as files for a machine, or a container, without the kit."""

import json
from dataclasses import asdict
from pathlib import Path

from failslow.base import atomic
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.cluster import up
from failslow.lab.labs import ClusterView, load_labs

REPLICA, LOAD, DESCRIPTION = "replica", "put_load", "lab.json"


def write(kit: Kit, directory: Path | None, lab_id: str | None, out: Path) -> None:
    """Writes the replica program, the load generator, and what the lab says of both.

    CannotDo when the solution does not compile, or `out` cannot be written.
    """
    labs = load_labs(kit)
    tree = directory or up.default_tree(kit)
    lab = up.lab_of(labs, tree, lab_id)
    assert lab.cluster is not None, "lab_of says so"
    program = up.build(kit, labs, tree, lab)
    cmake.build(kit, targets=[LOAD])
    try:
        out.mkdir(parents=True, exist_ok=True)
        for source, name in ((program, REPLICA), (kit.binary(LOAD), LOAD)):
            atomic.copy(source, out / name)
            (out / name).chmod(0o755)
    except OSError as error:
        raise CannotDo(f"cannot write in {out}: {error.strerror}") from error
    text = json.dumps(_description(lab.id, _name(kit, tree), lab.cluster), indent=1) + "\n"
    atomic.write_text(out / DESCRIPTION, text)


def _name(kit: Kit, tree: Path) -> str:
    path = tree.resolve()
    return str(path.relative_to(kit.root) if path.is_relative_to(kit.root) else path)


def _description(lab_id: str, solution: str, view: ClusterView) -> dict[str, object]:
    return {
        "lab": lab_id,
        "solution": solution,
        "load": view.load,
        "redis": view.redis,
        "shows": [asdict(each) for each in view.shows],
    }
