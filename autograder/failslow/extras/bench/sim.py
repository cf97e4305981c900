"""`kit bench sim`: the simulator as a measuring instrument must be quick."""

import json

from failslow.base.errors import CannotDo
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.bench import programs
from failslow.extras.bench.figures import Figure, Plot, Section

TEXT = (
    "How much the simulator does in a second of real time: events of an echo service, replicas'"
    " steps in processes of their own (sealed), and commands that the reference Raft commits."
)


def run(kit: Kit) -> Section:
    cmake.build(kit, targets=["bench_sim"])
    figures = parse(programs.run(kit, "bench_sim"))
    plot = Plot(
        "Simulated in a second",
        "per second",
        [figure.name for figure in figures],
        {
            "measured": [figure.value for figure in figures],
            "bar": [figure.bar or 0.0 for figure in figures],
        },
    )
    return Section("sim", "The simulator", TEXT, figures, [plot])


def parse(text: str) -> list[Figure]:
    """bench_sim's JSON lines; CannotDo when there is none or one is malformed."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        figures = [
            Figure(line["name"], float(line["value"]), line["unit"], float(line["at_least"]))
            for line in lines
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CannotDo(f"bench_sim's output is malformed ({error!r})") from error
    if not figures:
        raise CannotDo("bench_sim printed no figure")
    return figures
