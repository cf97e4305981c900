"""The data of a replica that has lost its own, from those of the others."""

import json
import shutil
from pathlib import Path

from failslow.base import console, process
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.cluster import replica_processes, restart
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.state import State
from failslow.lab.labs import load_labs


def prepare(kit: Kit, layout: Layout, current: State, number: int) -> str:
    """Makes the replica's data directory anew. The lost one stays beside it.

    Each other replica that runs is ended and started again first: so none remembers, outside of its
    files, what the lost replica has answered. The handbook's decisions on the real host say why
    this is safe.

    Returns what was done, for people. CannotDo when the lab's replicas cannot rejoin, this one
    runs, or no majority of the others does. Requires: the directory is locked (place.locked).
    """
    current.check_comes_back()
    view = load_labs(kit).get(current.lab).cluster
    if view is None or not view.rejoin:
        raise CannotDo(f"a replica of {current.lab} cannot rejoin: start a new cluster")
    if current.containers:
        raise CannotDo("a container cannot rejoin: docker compose down --volumes, then up")
    if len(current.members) > 1:
        raise CannotDo("a replica of a cluster of several groups cannot rejoin")
    running = replica_processes.find(layout.data)
    others = [each.number for each in running if each.number != number]
    if len(others) != len(running):
        raise CannotDo(f"replica {number} runs: it has lost nothing")
    majority = len(current.replicas) // 2 + 1
    if len(others) < majority:
        raise CannotDo(
            f"replica {number} needs {majority} others that run to rejoin, and has {len(others)}"
        )
    cmake.build(kit, targets=[view.rejoin])
    with console.progress("Starting the others again"):
        for each in running:
            replica_processes.end([each])
            restart.restart(layout, current, each.number)
    said = _made(kit.binary(view.rejoin), layout, current, number, others)
    lost = _put_aside(layout.replica(number))
    _new(layout, number).rename(layout.replica(number))
    source = Path(str(said["from"])).name
    text = f"replica {number}: has the log of {source}, up to index {said['index']}"
    return f"{text}; what was left of its own data is in {lost}" if lost else text


def _new(layout: Layout, number: int) -> Path:
    return layout.data / f"replica-{number}.new"


def _made(
    program: Path, layout: Layout, current: State, number: int, others: list[int]
) -> dict[str, object]:
    """The tool's words about the directory that it has made."""
    new = _new(layout, number)
    shutil.rmtree(new, ignore_errors=True)  # of an attempt that was interrupted
    argv: list[str | Path] = [program, "--id", str(number), "--cluster", current.cluster]
    argv += ["--replicas", str(len(current.replicas)), "--data", new, "--from"]
    argv += [layout.replica(each) for each in others]
    done = process.run(argv)
    if done.exit_code != 0:
        reason = done.errors.strip().removeprefix(f"{program.name}: ")
        raise CannotDo(f"replica {number} cannot rejoin: {reason or done.how_it_ended()}")
    said: dict[str, object] = json.loads(done.output)
    return said


def _put_aside(directory: Path) -> Path | None:
    """The new name of the directory; None if there is none."""
    if not directory.exists():
        return None
    names = (directory.with_name(f"{directory.name}.lost-{count}") for count in range(1, 1000))
    aside = next(name for name in names if not name.exists())
    return directory.rename(aside)
