"""The results of `kit reproduce`, a JSON document: it is printed, and the handbook draws it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median, median_low
from typing import Any

from failslow.base import records
from failslow.base.kit import Kit
from failslow.build import cmake
from failslow.extras.reproduction import followers, variants
from failslow.extras.reproduction.followers import Cost
from failslow.extras.reproduction.published import NO_FINALIZE, REFERENCE, SECONDS, VARIANTS
from failslow.extras.reproduction.variants import Run

WINDOW_S = 5
"""One check of runtime verification."""

TRANSIENT = "transient-performance"
NOT_FINALIZED = "not-finalized"

Json = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """`seconds`: of virtual time, of a variant's run. `runs`: of each variant, with and without a
    slow follower. `seeds`: of the measurement with slow followers."""

    seconds: int
    runs: int
    seeds: int

    def command(self) -> str:
        """The command line that gives these results."""
        return "./kit reproduce --quick --json" if self == QUICK else "./kit reproduce --json"


QUICK = Scale(seconds=SECONDS, runs=1, seeds=2)
FULL = Scale(seconds=SECONDS, runs=3, seeds=6)


def measure(kit: Kit, scale: Scale) -> Json:
    """CannotDo if something does not build or run."""
    cmake.configure(kit)
    cmake.build(kit, targets=[*variants.targets(kit), *followers.programs(kit)])
    runs = variants.plan(scale.runs)
    observed = dict(zip(runs, variants.perform(kit, runs, scale.seconds), strict=True))
    return document(scale, observed, followers.costs(kit, scale.seeds))


def document(scale: Scale, observed: Mapping[Run, Json], costs: Sequence[Cost]) -> Json:
    return {
        "scale": asdict(scale),
        "windows": scale.seconds // WINDOW_S,
        "variants": [
            {"variant": variant, "slow": slow} | _summary(_of(observed, variant, slow))
            for variant in VARIANTS
            for slow in (False, True)
        ],
        "backlog": {
            name: _backlog(_of(observed, name, slow=True)) for name in (REFERENCE, NO_FINALIZE)
        },
        "graphs": {
            name: observed[variants.with_graph(name)]["graph"]
            for name in (REFERENCE, variants.WAITS_IN_TURN)
        },
        "followers": [asdict(cost) for cost in costs],
    }


def as_text(results: Json) -> str:
    return records.text(results)


def _of(observed: Mapping[Run, Json], variant: str, slow: bool) -> list[Json]:
    return [seen for run, seen in observed.items() if (run.variant, run.slow) == (variant, slow)]


def _summary(runs: Sequence[Json]) -> Json:
    """Medians over the runs. `coroutines`: those that the warnings of fan-outs count."""
    kinds = [Counter(warning["kind"] for warning in run["warnings"]) for run in runs]
    names = sorted({kind for counts in kinds for kind in counts})
    return {
        "warnings": {name: median_low(counts[name] for counts in kinds) for name in names},
        "coroutines": median_low(
            sum(each["count"] for each in run["warnings"] if each["kind"] == NOT_FINALIZED)
            for run in runs
        ),
        "quorum": _quorum([each for run in runs for each in run["warnings"]]),
        "p99_ns": median_low(run["clients"]["p99_ns"] for run in runs),
        "unanswered": median(
            run["clients"]["unanswered"] / run["clients"]["offered"] for run in runs
        ),
        "held_bytes_most": median_low(max(run["backlog"]["held_bytes"]) for run in runs),
    }


def _quorum(warnings: Sequence[Json]) -> Json | None:
    """The latencies in the warnings of transient performance; None without one."""
    shown = [peer for each in warnings if each["kind"] == TRANSIENT for peer in each["active"]]
    if not shown:
        return None
    return {
        name: median(peer[name] for peer in shown) for name in ("median_ns", "p99_ns", "p999_ns")
    }


def _backlog(runs: Sequence[Json]) -> Json:
    """The backlog of the run with the median of the largest ones (document 000, section 5.2.4)."""
    series = [run["backlog"] for run in runs]
    most = median_low(max(each["calls"]) for each in series)
    return next(each for each in series if max(each["calls"]) == most)
