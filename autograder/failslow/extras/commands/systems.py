"""`kit faults system check`: tries each line of a foreign system's file."""

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from failslow.base import console
from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.commands.parsers import Commands, add, add_group
from failslow.extras.faults import catalogue, injection, slow_syncs
from failslow.extras.faults.effect_counts import LINKS, STOPS, SYNCS
from failslow.extras.faults.experiment import prepare
from failslow.extras.faults.injectors import SYNC_KINDS, Injection
from failslow.extras.systems import description, running
from failslow.extras.systems.description import ANY
from failslow.extras.systems.running import SystemBench

PROGRAMS = (catalogue.PROGRAM, slow_syncs.PROGRAM)
CLIENTS, WINDOW_MS = 4, 1000
STOP = "cpu-slow"
STOP_PERCENT, STOP_S = 50, 1.0


@dataclass(frozen=True)
class Found:
    """`line`: of the file. `is_good`: a system that lacks it can still be tested, but says less."""

    line: str
    text: str
    is_good: bool = True


def add_to(actions: Commands) -> None:
    checks = add_group(actions, "system", "a system of your own, in one file")
    checked = add(checks, "check", "try each line of a system's file", check)
    checked.add_argument("file", type=Path, metavar="FILE.yaml")
    checked.add_argument("--out", type=Path, default=Path("out/faults"), help="(out/faults)")


def check(kit: Kit, file: Path, out: Path) -> int:
    """0 when all lines work, 1 when a fault cannot bite. CannotDo when the system does not run."""
    systems = description.load(file)
    cmake.build(kit, targets=list(PROGRAMS))
    known = catalogue.load(kit)
    good = True
    for system in systems:
        console.note(f"{system.name}: the file is as it must be")
        with running.running(kit, known, system, out) as bench:
            prepare(bench)
            for found in _tried(bench):
                good = good and found.is_good
                mark = "  " if found.is_good else "! "
                print(f"{mark}{found.line}: {found.text}", flush=True)
    print(
        f"All lines work: ./kit faults sweep --system {file} --quick"
        if good
        else "Lines with ! work in part; the text says which faults would have no effect."
    )
    return 0 if good else 1


def _tried(bench: SystemBench) -> Iterator[Found]:
    numbers = bench.place.replicas
    yield Found("ready", f"{len(numbers)} replicas are")
    if bench.system.role is None:
        yield Found("role", f"none: --target {ANY} alone")
    else:
        words = ", ".join(f"{each}: {bench.role(each) or 'says nothing'}" for each in numbers)
        yield Found("role", words, all(bench.role(each) for each in numbers))
    before = [bench.applied(each) for each in numbers]
    syncs, sent = _all(bench, SYNCS), _all(bench, LINKS)
    for name in bench.system.works:
        yield _load(bench, name)
    yield _progress(bench, before)
    moved = [after - then for after, then in zip(_all(bench, LINKS), sent, strict=True)]
    shown = ", ".join(f"{number}: {count}" for number, count in enumerate(moved))
    yield Found(
        "seen",
        f"bytes that replicas sent to each other through the proxy: {shown}"
        if all(moved)
        else f"not all send to others through the proxy ({shown}): do they use {{PORT.seen}}?",
        all(moved),
    )
    yield _syncs(bench, syncs)
    yield _stop(bench)


def _all(bench: SystemBench, what: str) -> list[int]:
    return [bench.count(number, what).all for number in bench.place.replicas]


def _load(bench: SystemBench, name: str) -> Found:
    warm_up = ("--warm-up-ms", round(bench.warm_up_s * 1000))
    words = ("--clients", CLIENTS, *warm_up, "--window-ms", WINDOW_MS)
    argv = replace(bench, mix=name).put_load(*words)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotDo(f"{bench.system.path}: load/{name}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    if not report["committed"]:
        raise CannotDo(
            f"{bench.system.path}: load/{name}: none of {report['failed']} tries was answered well;"
            f" the last reason: {report['last_failure'] or 'no answer'}"
        )
    text = f"{report['committed']} operations a second by {CLIENTS} clients"
    return Found(f"load/{name}", f"{text}, {report['failed']} tries failed")


def _progress(bench: SystemBench, before: list[int | None]) -> Found:
    if bench.system.progress is None:
        return Found("progress", "none: the time to catch up is not measured")
    prepare(bench)
    after = [bench.applied(each) for each in bench.place.replicas]
    grew = all(
        then is not None and now is not None and now > then
        for then, now in zip(before, after, strict=True)
    )
    words = ", ".join(f"{then} to {now}" for then, now in zip(before, after, strict=True))
    return Found("progress", words if grew else f"does not grow under load ({words})", grew)


def _syncs(bench: SystemBench, before: list[int]) -> Found:
    if not bench.kinds.issuperset(SYNC_KINDS):
        return Found("disk", "this machine cannot hold syncs")
    made = [now - then for now, then in zip(_all(bench, SYNCS), before, strict=True)]
    if any(made):
        return Found("disk", f"syncs under load: {', '.join(map(str, made))}")
    return Found("disk", "no fsync and no fdatasync under load: faults of the disk are void", False)


def _stop(bench: SystemBench) -> Found:
    """Under a load, a replica is stopped for half of the time."""
    number = bench.place.replicas[-1]
    kind = bench.place.catalogue.kinds[STOP]
    words = ("--clients", CLIENTS, "--window-ms", round((bench.warm_up_s + 2 * STOP_S) * 1000))
    with subprocess.Popen(bench.put_load(*words), stdout=subprocess.DEVNULL) as load:
        time.sleep(bench.warm_up_s)
        before = bench.count(number, STOPS)
        injection.inject(
            bench.place, Injection(kind, STOP_PERCENT, number, (), STOP_S), lambda: None
        )
        load.terminate()
    counted = bench.count(number, STOPS) - before
    text = f"replica {number} was stopped at work at {counted.slowed} of {counted.all} looks"
    return Found("processor", text, counted.slowed > 0)
