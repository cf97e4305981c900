"""The determinism matrix: one trace hash per scenario, whatever the build and the machine do."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from failslow import cmake, console, parallel, process
from failslow.check.step import Context, Counts
from failslow.errors import CannotDo
from failslow.kit import Kit

PROGRAM = "trace_hash"
TIMEOUT_S = 600.0
BUSY_S = 600
BUSY_LOOP = f"import time\nend = time.monotonic() + {BUSY_S}\nwhile time.monotonic() < end: pass"


@dataclass(frozen=True)
class Variant:
    """One way to run the same scenarios. `busy` keeps every core occupied meanwhile."""

    name: str
    preset: str = "release"
    arguments: tuple[str, ...] = ()
    malloc_perturb: int | None = None
    fixed_addresses: bool = False
    busy: bool = False


VARIANTS = (
    Variant("release"),
    Variant("release, again"),
    Variant("sealed", arguments=("--sealed",)),
    Variant("debug", preset="debug"),
    Variant("clang", preset="clang"),
    Variant("malloc fill 85", malloc_perturb=85),
    Variant("malloc fill 170", malloc_perturb=170),
    Variant("sealed, malloc fill 85", arguments=("--sealed",), malloc_perturb=85),
    Variant("fixed addresses", fixed_addresses=True),
    Variant("busy machine", busy=True),
    Variant("sealed, busy machine", arguments=("--sealed",), busy=True),
)


def run(context: Context) -> Counts:
    for preset in ("debug", "clang"):
        cmake.build(context.kit, preset, [PROGRAM])
    counts = Counts()
    expected: dict[str, str] = {}
    with console.progress("Comparing trace hashes") as advance:
        for index, variant in enumerate(VARIANTS):
            advance(index, len(VARIANTS), variant.name)
            if variant.fixed_addresses and not _can_fix_addresses():
                counts.remarks.append("setarch -R is not permitted here: that variant was not run")
                continue
            found = parse(_output(context.kit, variant))
            expected = expected or found
            counts.add(compare(variant.name, expected, found))
        advance(len(VARIANTS), len(VARIANTS), "")
    return counts


def compare(variant: str, expected: dict[str, str], found: dict[str, str]) -> Counts:
    """One check for each scenario of either side."""
    counts = Counts()
    for scenario in sorted(expected.keys() | found.keys()):
        ours, theirs = expected.get(scenario, "none"), found.get(scenario, "none")
        counts.expect(
            ours == theirs, f"{scenario}: trace hash {theirs} ({variant}), {ours} in release"
        )
    return counts


def parse(text: str) -> dict[str, str]:
    """Lines 'scenario hash'; CannotDo when there is none or one is malformed."""
    pairs = [line.split() for line in text.splitlines() if line.strip()]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise CannotDo(f"{PROGRAM} did not print lines of scenario and hash", text[-2000:])
    return {pair[0]: pair[1] for pair in pairs}


def _output(kit: Kit, variant: Variant) -> str:
    argv: list[str] = ["setarch", "-R"] if variant.fixed_addresses else []
    argv += [str(kit.binary(PROGRAM, variant.preset)), *variant.arguments]
    fill = variant.malloc_perturb
    env = {} if fill is None else {"MALLOC_PERTURB_": str(fill)}
    with ExitStack() as busy:
        for _ in range(parallel.workers() if variant.busy else 0):
            busy.enter_context(process.background([sys.executable, "-c", BUSY_LOOP]))
        return _checked(argv, env, variant.name)


def _checked(argv: Sequence[str], env: dict[str, str], name: str) -> str:
    try:
        done = process.run(argv, env=env, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise CannotDo(f"cannot start {argv[0]}: {error.strerror}") from error
    if done.timed_out or done.exit_code != 0:
        raise CannotDo(f"{PROGRAM} ({name}): {done.how_it_ended()}", done.errors[-2000:])
    return done.output


def _can_fix_addresses() -> bool:
    try:
        return process.run(["setarch", "-R", sys.executable, "-c", ""]).exit_code == 0
    except OSError:
        return False
