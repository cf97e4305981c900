"""`kit bench core`: the costs of coroutines, events, quorums and frames."""

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import programs
from failslow.extras.bench.figures import Figure, Plot, Section

SWITCH_RATIO_MAX = 2.0
"""A coroutine switch may cost this many bare Boost.Coroutine2 switches."""

PROGRAMS = ("bench_core", "bench_quorum")
TEXT = (
    "CPU time of the runtime's own work: a coroutine resumed and suspended again (beside a bare"
    " Boost.Coroutine2 coroutine), an event waited for and triggered, a quorum of five, a message"
    " encoded and decoded."
)


def run(kit: Kit) -> Section:
    cmake.build(kit, targets=PROGRAMS)
    times: dict[str, float] = {}
    for program in PROGRAMS:
        text = programs.run(kit, program, "--benchmark_format=json")
        times |= programs.google_times(program, text, "cpu_time")
    plot = Plot("CPU time of one iteration", "ns", list(times), {"ns": list(times.values())})
    return Section("core", "The runtime", TEXT, figures(times), [plot])


def figures(times: dict[str, float]) -> list[Figure]:
    """All times, and the ratio of our coroutine switch to Boost's."""
    try:
        ratio = times["coroutine_switch"] / times["boost_switch"]
    except (KeyError, ZeroDivisionError) as error:
        raise CannotDo(f"bench_core does not tell of both switches ({error!r})") from error
    each = [Figure(name, value, "ns") for name, value in times.items()]
    return [*each, Figure("switch, ours to Boost's", ratio, "x", SWITCH_RATIO_MAX, at_most=True)]
